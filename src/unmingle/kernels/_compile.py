"""How kernels are compiled, and the one primitive they share."""

import logging
from functools import wraps
from typing import Any

from numba import njit

compiled = njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
_log = logging.getLogger(__name__)


def announced(kernel: Any) -> Any:
    """Say in the log when a kernel is called for the first time: it compiles then, or loads from its cache."""

    @wraps(kernel.py_func)
    def call(*arguments: Any) -> Any:
        if not kernel.overloads:
            _log.info("Compiling %s; the first call takes some seconds, later ones load it.", kernel.py_func.__name__)
        return kernel(*arguments)

    return call


@compiled
def clip(x, bound):  # type: ignore[no-untyped-def]
    """The point of [-bound, bound] nearest to x."""
    below = x if x < bound else bound
    return below if below > -bound else -bound
