"""How many threads BLAS gets: as many as the work is worth.

Left alone, BLAS spreads every product over all processors. Our products are mostly small: a block of rows, a few dozen
columns. There its threads wait for each other longer than they work, and on a busy machine each wait takes a time slice
of the system. So one thread is the rule.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
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
_WORTH_THREADS = 30_000_000
"""Entries of a matrix from which on its products are worth more than one thread."""


@contextmanager
def suited_to(size: int) -> Iterator[None]:
    """Give BLAS one thread for work on ``size`` entries, unless that is much, or the environment names a number.

    A number of threads is a matter of the process. Who comes first saves it, who leaves last restores it, so that calls
    may be nested and come from several threads at once. Who wants more never gets more than was set before.
    """
    if size >= _WORTH_THREADS:
        yield
        return
    _single.enter()
    try:
        yield
    finally:
        _single.leave()


class _SingleThread:
    """The time in which at least one caller wants a single thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._callers = 0
        self._before: list[tuple[Any, int]] = []

    def enter(self) -> None:
        with self._lock:
            self._callers += 1
            if self._callers == 1:
                found = [(pool, pool.get_num_threads()) for pool in _pools()]
                self._before = [(pool, count) for pool, count in found if count and count > 1]
                for pool, _ in self._before:
                    pool.set_num_threads(1)

    def leave(self) -> None:
        with self._lock:
            self._callers -= 1
            if self._callers == 0:
                for pool, count in self._before:
                    pool.set_num_threads(count)


_single = _SingleThread()


@cache
def _pools() -> tuple[Any, ...]:
    """The BLAS libraries of NumPy and SciPy, loaded here; none if the environment has chosen their threads."""
    if any(os.environ.get(name) for name in _VARIABLES):
        return ()
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)
