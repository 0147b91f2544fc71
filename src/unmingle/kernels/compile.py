"""How kernels are compiled.

Compiling is what a first call costs. Kernels keep to what compiles fast: plain loops, ``np.dot`` into an output, whole
arrays neither assigned (two to three seconds, for the sake of error messages) nor sliced in inner loops, no
``np.linalg``, no exceptions.

Compiled kernels are kept on disk, in a folder named after a digest of this whole package: kernels contain pieces of
other files, so after a change anywhere in it all of them are compiled again.
"""

import logging
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache

_log = logging.getLogger(__name__)
_FOLDER = "unmingle-kernels-"
"""Folders of compiled kernels begin with this; the digest follows."""


@cache
def _digest() -> str:
    """Of every source file of kernels/, and of the compiler; Numba itself looks at versions of Numba and Python."""
    sources = sorted((each for each in files(__package__).iterdir() if each.name.endswith(".py")), key=lambda x: x.name)
    found = sha256(llvmlite.__version__.encode())
    for source in sources:
        found.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return found.hexdigest()[:16]


@cache
def _fresh_folder(base: str) -> str:
    """The folder of the present kernels; those of former ones go, and files that Numba named itself."""
    folder = Path(base, _FOLDER + _digest())
    if not folder.exists():
        for old in Path(base).glob(f"{_FOLDER}*"):
            shutil.rmtree(old, ignore_errors=True)
        for old in Path(base).glob("*.nb[ic]"):
            with suppress(OSError):
                old.unlink()
    return str(folder)


class _OfAllKernels:
    """A place for compiled kernels that are fresh while no file of kernels/ changes, their own or another."""

    def get_cache_path(self) -> str:
        return _fresh_folder(super().get_cache_path())  # type: ignore[misc]

    def get_source_stamp(self) -> str:
        return _digest()


class _KernelCacheImpl(CompileResultCacheImpl):
    """Numba's places, one after the other: the user's choice, ``__pycache__``, the user's folder of caches."""

    _locator_classes: Any = tuple(
        type(one.__name__, (_OfAllKernels, one), {}) for one in CompileResultCacheImpl._locator_classes
    )


class _KernelCache(FunctionCache):
    _impl_class = _KernelCacheImpl


_njit: Any = numba.njit
_HOW = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}, "no_cfunc_wrapper": True}
"""Sums may be reordered, which vectorises them; NaN and infinity keep their meaning. The GIL is released."""


def compiled(function: Callable[..., Any]) -> Any:
    """A kernel that Python calls, kept on disk where there is a place to write."""
    kernel = _njit(**_HOW)(function)
    try:
        kernel._cache = _KernelCache(function)
    except RuntimeError:
        _log.info("No folder to keep compiled kernels in: %s compiles in each process.", function.__name__)
    return kernel


piece = _njit(forceinline=True, no_cpython_wrapper=True, **_HOW)
"""A loop of a kernel: compiled on its own, and inlined wherever it is used. Python cannot call it.

Were it not inlined, a kernel just compiled would share the code of its pieces with others, and one from the cache would
have its own, optimised once more: sums in another order, and a first run would differ from a second in the last bits.
"""
merged = _njit(inline="always", **_HOW)
"""A part of a kernel that only arranges pieces: its text takes the place of the call, before anything is compiled."""


def announced(kernel: Any) -> Any:
    """Say in the log when a kernel is called for the first time: it compiles then, or loads from its cache."""

    @wraps(kernel.py_func)
    def call(*arguments: Any) -> Any:
        if not kernel.overloads:
            _log.info("Compiling %s; the first call takes some seconds, later ones load it.", kernel.py_func.__name__)
        return kernel(*arguments)

    return call
