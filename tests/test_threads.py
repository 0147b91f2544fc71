"""Threads of BLAS: one where more only wait, as many as before when done, and never against the user."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
import scipy.linalg  # noqa: F401, so that its BLAS is there from the start
from threadpoolctl import ThreadpoolController, threadpool_limits

import unmingle
from unmingle import _threads
from unmingle._threads import limit_blas_threads


@pytest.fixture(autouse=True)
def libraries_seen_anew(monkeypatch):
    """As in a process whose environment says nothing of threads."""
    for name in _threads._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    _threads._limits.cache_clear()
    yield
    _threads._limits.cache_clear()


def own_libraries():
    """The BLAS of NumPy's and SciPy's wheels; other packages may bring libraries that do as they like."""
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [
        one for one in found if any(part.startswith(("numpy", "scipy")) for part in Path(one.filepath).parts[-3:-1])
    ]


pytestmark = pytest.mark.skipif(not own_libraries(), reason="NumPy and SciPy have no BLAS whose threads can be set")


@pytest.fixture
def two_threads():
    """Two threads that nobody has chosen."""
    before = [library.get_num_threads() for library in own_libraries()]
    set_freely([2] * len(before))
    yield
    set_freely(before)


def set_freely(numbers):
    for library, number in zip(own_libraries(), numbers, strict=True):
        library.set_num_threads(number)
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


def counts():
    return {library.filepath: library.get_num_threads() for library in own_libraries()}


def test_small_work_gets_one_thread_and_then_all_is_as_before():
    with threadpool_limits(3, user_api="blas"):
        before = counts()
        with limit_blas_threads(1000):
            assert set(counts().values()) == {1}
            with limit_blas_threads(1000):
                assert set(counts().values()) == {1}
            assert set(counts().values()) == {1}
        assert counts() == before


def test_large_work_leaves_whole_products_their_threads():
    with threadpool_limits(3, user_api="blas"):
        with limit_blas_threads(_threads._LARGE):
            for path, count in counts().items():
                assert count == (3 if _threads._belongs_to_numpy(path) else 1)
        assert set(counts().values()) == {3}


def test_callers_in_several_threads_neither_raise_nor_forget_the_number(two_threads):
    together = Barrier(4)

    def call(turn):
        together.wait()
        for _ in range(50):
            with limit_blas_threads(_threads._LARGE if turn % 2 else 10):
                seen = counts()
        return max(count for path, count in seen.items() if not _threads._belongs_to_numpy(path))

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(call, range(4))) == {1}
    assert set(counts().values()) == {2}
    with threadpool_limits(1, user_api="blas"):  # nobody has kept the right to set it
        assert set(counts().values()) == {1}


def test_tiny_products_are_left_alone(two_threads):
    with limit_blas_threads(960, columns=2):
        assert set(counts().values()) == {2}
    with limit_blas_threads(960):
        assert set(counts().values()) == {1}


def test_an_error_gives_threads_back():
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ValueError, match="finite number"):
            unmingle.decompose(np.eye(4), tol=-1)
        with pytest.raises(RuntimeError), limit_blas_threads(10):
            raise RuntimeError
        assert set(counts().values()) == {2}


def test_what_the_user_has_chosen_stays():
    with threadpool_limits(1, user_api="blas"), limit_blas_threads(_threads._LARGE):
        assert set(counts().values()) == {1}
    code = """
from threadpoolctl import threadpool_info
from unmingle._threads import limit_blas_threads
import numpy.linalg, scipy.linalg
with limit_blas_threads(1):
    print({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
"""
    environment = os.environ | {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "{2}"


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("/usr/lib/python3/site-packages/numpy.libs/libscipy_openblas64_-32a4b2a6.so", True),
        ("/usr/lib/python3/site-packages/numpy/.dylibs/libscipy_openblas64_.dylib", True),
        ("/usr/lib/python3/site-packages/scipy.libs/libscipy_openblas-6cdc3b4a.so", False),
        ("/opt/conda/lib/libopenblas.so.0", False),
    ],
)
def test_libraries_are_told_apart_by_where_wheels_put_them(path, own):
    assert _threads._belongs_to_numpy(path) == own


def test_a_solve_runs_on_one_thread(monkeypatch):
    seen = []
    monkeypatch.setattr("unmingle.core.solvers.criteria.certify_unconstrained", watched(seen))
    with threadpool_limits(2, user_api="blas"):
        unmingle.decompose(np.random.default_rng(0).standard_normal((20, 10)))
    assert set(map(frozenset, seen)) == {frozenset({1})}


def watched(seen):
    from unmingle.core.objective import certify_unconstrained

    def certify(*arguments):
        seen.append(set(counts().values()))
        return certify_unconstrained(*arguments)

    return certify
