"""Each compiled pass over a matrix against its twin."""

import os
import subprocess
import sys

import numpy as np
import pytest
from helpers import naive

from unmingle.core.objective import projection_gap
from unmingle.kernels.matrix import clipped_norm, huber_sums, huber_sweep, multiplier_sweep
from unmingle.kernels.samples import alternation_pass
from unmingle.kernels.stream import cleaning_pass

CASES = pytest.mark.parametrize(("n", "m", "dtype"), [(1, 1, np.float64), (7, 5, np.float32), (130, 33, np.float64)])


def setting(n, m, dtype, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m)).astype(dtype)
    X[rng.random((n, m)) < 0.2] = np.nan
    factors = [rng.standard_normal(shape).astype(dtype) for shape in ((n, 3), (3, m), (n, 2), (2, m))]
    lam = rng.uniform(0.1, 1, m).astype(dtype)
    basis = rng.standard_normal((m, 4)).astype(dtype)
    return X, factors, lam, basis


def close(dtype):
    return {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-12}


@CASES
@pytest.mark.parametrize("momentum", [0.0, 0.6])
def test_huber_sweep(n, m, dtype, momentum):
    X, (left, right, behind_left, behind_right), lam, basis = setting(n, m, dtype)
    if momentum == 0:
        behind_left, behind_right = behind_left[:, :0].copy(), behind_right[:0].copy()
    cleaned, product = np.empty_like(X), np.empty((n, 4), dtype)
    value = huber_sweep(X, left, right, behind_left, behind_right, dtype(momentum), lam, cleaned, basis, product)
    expected = naive.huber_sweep(X, left, right, behind_left, behind_right, momentum, lam, basis)
    for found, wanted in zip((value, cleaned, product), expected, strict=True):
        assert np.allclose(found, wanted, **close(dtype))


@CASES
def test_huber_sums(n, m, dtype):
    X, (left, right, *_), lam, _ = setting(n, m, dtype)
    residual = np.empty_like(X)
    sums = huber_sums(X, left, right, lam, residual)
    expected, clipped = naive.huber_sums(X, left, right, lam)
    assert np.allclose(residual, clipped, **close(dtype))
    assert np.allclose(sums, expected, **close(dtype))


@CASES
@pytest.mark.parametrize(("reach", "shrink"), [(0.5, 1.0), (0.8, 0.625)])
def test_multiplier_sweep(n, m, dtype, reach, shrink):
    X, (left, right, *_), lam, basis = setting(n, m, dtype)
    rng = np.random.default_rng(5)
    Y, C = rng.standard_normal((2, n, m)).astype(dtype)
    Y[np.isnan(X)] = 0
    multiplier, cleaned, product = Y.copy(), C.copy(), np.empty((n, 4), dtype)
    mu, next_mu = 2.0, 3.0
    squares = multiplier_sweep(
        X, left, right, multiplier, cleaned, mu, next_mu, dtype(reach), shrink, lam, basis, product
    )
    expected = naive.multiplier_sweep(X, left, right, Y, C, mu, next_mu, reach, shrink, lam, basis)
    for found, wanted in zip((squares, multiplier, cleaned), expected[:3], strict=True):
        assert np.allclose(found, wanted, **close(dtype))
    assert np.allclose(product, cleaned @ basis, **close(dtype))


@CASES
def test_clipped_norm_and_its_slope(n, m, dtype):
    X, (left, right, *_), lam, _ = setting(n, m, dtype)
    Y = np.random.default_rng(5).standard_normal((n, m)).astype(dtype)
    mu, reach = 2.0, 0.7
    value, slope = clipped_norm(X, left, right, Y, mu, dtype(reach), lam)
    expected = naive.clipped_norm(X, left, right, Y, mu, reach, lam)
    assert np.isclose(value, expected[0], **close(dtype))
    assert np.isclose(slope, expected[1], rtol=1e-2, atol=1e-3)


@CASES
def test_alternation_pass(n, m, dtype):
    X, _, lam, _ = setting(n, m, dtype)
    rng = np.random.default_rng(7)
    U, codes, lam_star = rng.standard_normal((2, m)).astype(dtype), rng.standard_normal((n, 2)).astype(dtype), 0.8
    inverse = np.linalg.inv((U @ U.T).astype(float) + lam_star * np.eye(2))
    following, gap = np.empty_like(codes), np.empty(n)
    alternation_pass(X, U.T.copy(), U, inverse, lam_star, lam, codes, following, gap)
    assert np.allclose(following, naive.alternation_pass(X, U, lam_star, lam, codes), **close(dtype))
    assert np.allclose(gap, projection_gap(X, U, codes, lam_star, lam), **close(dtype))


def test_kernels_run_in_several_threads_at_once():
    from concurrent.futures import ThreadPoolExecutor

    X, (left, right, *_), lam, _ = setting(130, 33, np.float64)

    def once(_):
        residual = np.empty_like(X)
        return huber_sums(X, left, right, lam, residual), residual

    sums, residual = once(0)
    with ThreadPoolExecutor(4) as pool:
        for other_sums, other in pool.map(once, range(32)):
            assert other_sums == sums
            assert (other == residual).all()


def test_a_first_run_gives_the_bits_of_a_second(tmp_path):
    """Code that was just compiled sums in the same order as code from the cache."""
    code = """
from hashlib import sha256
from unmingle import RobustPCA, synth
from unmingle.apps.video import Stream
X = synth.low_rank_plus_sparse(60, 40, 2, noise=0.05, random_state=0).X.astype("f4")
found = RobustPCA(random_state=0).fit(X).transform(X).tobytes()
stream = Stream(start_size=5)
for number, frame in enumerate(synth.shaking_scene(20, 24, 40, random_state=0).frames):
    found += stream.push(frame / 2 if number > 16 else frame).background.tobytes()
print(sha256(found).hexdigest())
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", code]
    first, second = (subprocess.run(command, env=environment, capture_output=True, check=True).stdout for _ in "ab")
    assert first == second
    assert list(tmp_path.rglob("*.nbc"))


@pytest.mark.parametrize("m", [6, 18, 27, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_do_not_depend_on_where_arrays_lie(m, dtype):
    """If what is written lies apart from what is read, as `linalg.memory.empty_unaliased` makes it."""
    X, (left, right, *_), lam, _ = setting(1, m, dtype)
    memory, answers = np.empty(10_000, dtype), set()
    x = memory[:m].reshape(1, m)
    x[:] = X
    for start in range(m + 512 // memory.itemsize, m + 1024 // memory.itemsize):
        residual = memory[start : start + m].reshape(1, m)
        answers.add((*huber_sums(x, left, right, lam, residual), residual.tobytes()))
    assert len(answers) == 1


@pytest.mark.parametrize("signed", [True, False])
def test_cleaning_pass_is_the_formula(signed):
    """Outliers of any sign are cut on both sides, nonnegative ones only above."""
    rng = np.random.default_rng(0)
    codes, components = rng.standard_normal((70, 3)), rng.standard_normal((3, 20))
    X = codes @ components + rng.standard_normal((70, 20))
    X[rng.random(X.shape) < 0.1] = np.nan
    bound, limit = np.linspace(0.5, 1.0, 20), np.linspace(0.6, 2.0, 20)
    below = bound if signed else np.full(20, np.inf)
    cleaned, beyond = np.empty_like(X), np.empty(20, np.int64)
    cleaning_pass(X, codes, components, bound, below, limit, cleaned, beyond)
    expected, left_model = naive.cleaning_pass(X, codes, components, bound, below, limit)
    assert np.allclose(cleaned, expected, atol=1e-12)
    assert np.array_equal(beyond, left_model)
    assert beyond.any()
