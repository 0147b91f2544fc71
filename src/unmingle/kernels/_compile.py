"""How kernels are compiled.

Compiling is what a first call costs. Kernels keep to what compiles fast: plain loops, ``np.dot`` into an output, whole
arrays neither assigned (two to three seconds, for the sake of error messages) nor sliced in inner loops, no
``np.linalg``, no exceptions.
"""

import logging
from functools import wraps
from typing import Any

import numba

_njit: Any = numba.njit
_HOW = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}, "no_cfunc_wrapper": True}
compiled = _njit(cache=True, **_HOW)
"""A kernel that Python calls."""
piece = _njit(forceinline=True, no_cpython_wrapper=True, **_HOW)
"""A loop of a kernel: compiled on its own, and inlined wherever it is used. Python cannot call it.

Were it not inlined, a kernel just compiled would share the code of its pieces with others, and one from the cache would
have its own, optimised once more: sums in another order, and a first run would differ from a second in the last bits.
"""
merged = _njit(inline="always", **_HOW)
"""A part of a kernel that only arranges pieces: its text takes the place of the call, before anything is compiled."""
_log = logging.getLogger(__name__)


def announced(kernel: Any) -> Any:
    """Say in the log when a kernel is called for the first time: it compiles then, or loads from its cache."""

    @wraps(kernel.py_func)
    def call(*arguments: Any) -> Any:
        if not kernel.overloads:
            _log.info("Compiling %s; the first call takes some seconds, later ones load it.", kernel.py_func.__name__)
        return kernel(*arguments)

    return call
