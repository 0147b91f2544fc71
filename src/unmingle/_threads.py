"""How many threads BLAS gets: as many as the work is worth.

Left alone, BLAS spreads every product over all processors. Most of our products are small: a block of rows in the
cache, times a few dozen columns. Threads then wait for each other longer than they work, and on a busy machine each
wait takes a time slice of the system.

The wheels of NumPy and SciPy bring a BLAS each. Kernels and factorisations use SciPy's, which gets one thread always.
NumPy's multiplies whole matrices, and gets all threads for large ones: at 3000 x 3000 two of them take 0.7 times as
long as one, and 1.3 times as long if other work keeps both processors busy (``python -m lab bench threads``).
Where both share a BLAS, it gets one.
"""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_LARGE = 4_000_000
"""Products of matrices with this many entries are worth all threads. At one and two million entries, two threads win a
fifth at most on an idle machine, and on a busy one lose more than half."""
_TINY = 2**16
"""A product of this many multiplications OpenBLAS makes on one thread anyway; it does so up to four times as many."""
_NO_LIMIT = nullcontext()
_lock = Lock()


def limit_blas_threads(size: int, columns: int | None = None) -> AbstractContextManager[None]:
    """Give BLAS the threads that work on ``size`` entries is worth, unless the environment names their number.

    Where all that is done are products with a few ``columns``, and those are tiny, there is nothing to be done: BLAS
    uses one thread by itself.
    """
    if columns is not None and size * columns < _TINY:
        return _NO_LIMIT
    with _lock:  # all must have the same limits, from the first call on
        return _limits()[size >= _LARGE]


class _Library:
    """A BLAS that has one thread for as long as somebody asks for it.

    The number of threads belongs to the process: the first caller saves it, the last one restores it, so that callers
    may be nested and come from several threads at once.
    """

    def __init__(self, controller: Any) -> None:
        self._controller = controller
        self._callers = 0
        self._before = 1

    def enter(self) -> None:
        """Set one thread, unless that is so already, or somebody else has the sole right to set it."""
        self._callers += 1
        if self._callers == 1:
            self._before = self._controller.get_num_threads() or 1
            if self._before > 1:
                self._set(1)

    def leave(self) -> None:
        """Restore what was before the first caller came."""
        self._callers -= 1
        if self._callers == 0 and self._before > 1 and self._controller.get_num_threads() == 1:
            self._set(self._before)

    def _set(self, count: int) -> None:
        """Set the number, and give up the right to do so, which threadpoolctl grants to one thread at a time."""
        self._controller.set_num_threads(count)
        if self._controller.get_num_threads() == count and hasattr(self._controller, "clear_controlling_thread"):
            self._controller.clear_controlling_thread(force=True)


class _Limit(AbstractContextManager[None]):
    """One thread for some libraries."""

    def __init__(self, libraries: Sequence[_Library]) -> None:
        self._libraries = libraries

    def __enter__(self) -> None:
        with _lock:
            for library in self._libraries:
                library.enter()

    def __exit__(self, *_: object) -> None:
        with _lock:
            for library in self._libraries:
                library.leave()


@cache
def _limits() -> tuple[_Limit, _Limit]:
    """For small work one thread in all libraries, for large work in all but NumPy's own; in none if the user chose."""
    if any(os.environ.get(name) for name in _VARIABLES):
        return _Limit(()), _Limit(())
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    libraries = {controller.filepath: _Library(controller) for controller in found}
    shared = [library for path, library in libraries.items() if not _belongs_to_numpy(path)]
    return _Limit(list(libraries.values())), _Limit(shared)


def _belongs_to_numpy(path: str) -> bool:
    """Whether a library lies in numpy.libs or numpy/.dylibs, where wheels put what they bring."""
    return any(part.startswith("numpy") for part in Path(path).parts[-3:-1])
