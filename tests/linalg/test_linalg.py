import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

from unmingle.core.linalg.low_rank import LowRank, ridge_encoder
from unmingle.core.linalg.memory import empty_unaliased
from unmingle.core.linalg.norms import _lanczos_bound, spectral_norm_bound
from unmingle.core.linalg.systems import solve_positive
from unmingle.core.linalg.thresholding import WarmSubspace, thin_svd
from unmingle.core.linalg.units import Units


def full_threshold(M, t):
    u, s, vt = np.linalg.svd(M, full_matrices=False)
    return (u * np.maximum(s - t, 0)) @ vt


@pytest.mark.parametrize("kind", ["orthogonal", "graded", "dependent", "zero"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_thin_svd_factors_any_tall_matrix(kind, dtype, rng):
    B = np.linalg.qr(rng.standard_normal((50, 6)))[0]
    if kind == "graded":
        B = B * 10.0 ** -np.arange(0, 12, 2)
    if kind == "dependent":
        B[:, 3] = B[:, 2] + B[:, 1]
    if kind == "zero":
        B[:, 4] = 0
    B = B.astype(dtype)
    Q, s, Z = thin_svd(B)
    close = 20 * np.finfo(dtype).eps
    assert Q.dtype == s.dtype == Z.dtype == dtype
    assert np.allclose((Q * s) @ Z.T, B, atol=close)
    assert np.allclose(Q.T @ Q, np.eye(6), atol=close)
    assert np.allclose(s, np.linalg.svd(B.astype(float), compute_uv=False), atol=close)


@pytest.mark.parametrize("shape", [(5, 3), (70, 90), (90, 70), (200, 200)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_norm_bound_is_never_below_and_hardly_above(shape, dtype, rng):
    R = np.clip(rng.standard_normal(shape), -0.8, 0.8).astype(dtype)
    true = np.linalg.norm(R.astype(np.float64), 2)
    assert true <= spectral_norm_bound(R) <= true * (1 + 1e-8)


def test_norm_bound_holds_for_a_cluster_at_the_top(rng):
    u, v = np.linalg.qr(rng.standard_normal((150, 150)))[0], np.linalg.qr(rng.standard_normal((150, 150)))[0]
    s = np.r_[np.full(40, 1.0), 1 - 1e-9, 1 - 1e-7, np.linspace(0.999, 0, 108)]
    R = (u * s) @ v
    assert np.linalg.norm(R, 2) <= spectral_norm_bound(R) <= 1 + 1e-8


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(120, 80), (80, 120)])
def test_lanczos_bound_covers_the_norm(shape, dtype, rng):
    R = rng.standard_normal(shape).astype(dtype)
    true = np.linalg.norm(R.astype(np.float64), 2)
    assert true <= _lanczos_bound(R) <= true * (1 + 1e-5)


@given(st.integers(-150, 150))
@settings(max_examples=20)
def test_norm_bound_at_any_scale(exponent):
    R = np.random.default_rng(1).standard_normal((6, 4)) * 10.0**exponent
    true = np.linalg.norm(R, 2)
    assert true <= spectral_norm_bound(R) <= true * (1 + 1e-8)


def test_norm_of_nothing_is_zero():
    assert spectral_norm_bound(np.zeros((3, 4))) == 0.0


@pytest.mark.parametrize("shape", [(60, 40), (40, 60)])
def test_warm_subspace_comes_to_the_full_threshold(shape, rng):
    M = rng.standard_normal((shape[0], 4)) @ rng.standard_normal((4, shape[1])) + 0.1 * rng.standard_normal(shape)
    t = 1.3
    subspace = WarmSubspace(M, 4, 8, rng)
    for _ in range(40):
        low_rank = subspace.threshold(M, M @ subspace.basis, t, degree=3)
    assert np.allclose(low_rank.scaled_left @ low_rank.right, full_threshold(M, t), atol=1e-8)


def test_filter_needs_fewer_rounds_where_the_spectrum_is_dense(rng):
    M = rng.standard_normal((150, 150))
    t = float(np.linalg.svd(M, compute_uv=False)[11] - 1e-3)
    exact = full_threshold(M, t)

    def error(degree):
        subspace = WarmSubspace(M, 12, 8, np.random.default_rng(0))
        for _ in range(15):
            low_rank = subspace.threshold(M, M @ subspace.basis, t, degree=degree)
        return np.linalg.norm(low_rank.scaled_left @ low_rank.right - exact)

    assert error(3) < 0.05 * error(0)


def test_subspace_grows_to_the_rank_that_is_there(rng):
    M = rng.standard_normal((80, 70))
    subspace = WarmSubspace(M, 2, 2, rng)
    for _ in range(20):
        low_rank = subspace.threshold(M, M @ subspace.basis, 1e-3)
    assert low_rank.rank == 70


def test_rank_can_be_capped(rng):
    M = rng.standard_normal((30, 20))
    subspace = WarmSubspace(M, 5, 5, rng)
    for _ in range(30):
        low_rank = subspace.threshold(M, M @ subspace.basis, 0.5, at_most=3)
    s = np.linalg.svd(M, compute_uv=False)
    assert np.allclose(low_rank.values, s[:3] - 0.5, rtol=1e-6)


def test_balanced_factors_reach_the_nuclear_norm(rng):
    u, v = np.linalg.qr(rng.standard_normal((9, 3)))[0], np.linalg.qr(rng.standard_normal((7, 3)))[0]
    L = LowRank(u, np.array([3.0, 2.0, 0.5]), v.T)
    codes, components = L.balanced()
    dense = L.scaled_left @ L.right
    assert np.allclose(codes @ components, dense)
    assert np.isclose(0.5 * (np.sum(codes**2) + np.sum(components**2)), np.linalg.norm(dense, "nuc"))


def test_distance_from_factors(rng):
    A, B = (LowRank(*(f(x) for f, x in zip((np.asarray,) * 3, svd, strict=True))) for svd in (
        _svd(rng, 8, 6, 2), _svd(rng, 8, 6, 3)))  # fmt: skip
    assert np.isclose(A.distance(B), np.linalg.norm(A.scaled_left @ A.right - B.scaled_left @ B.right))
    assert np.isclose(A.distance(LowRank.zero(8, 6, float)), np.linalg.norm(A.values))


def _svd(rng, n, m, rank):
    u, s, vt = np.linalg.svd(rng.standard_normal((n, m)), full_matrices=False)
    return u[:, :rank], s[:rank], vt[:rank]


def test_ridge_encoder_of_components_beside_which_the_penalty_is_lost():
    U = np.full((2, 1), 2.0**40)  # U U' + 1e-3 I is singular in float64: the penalty shares the code equally
    assert np.allclose(ridge_encoder(U, 1e-3) * 2.0**40, 0.5, rtol=1e-3)  # of a condition of 1e12


def test_ridge_encoder_solves_the_ridge_problem(rng):
    U, x, lam_star = rng.standard_normal((3, 8)), rng.standard_normal(8), 0.7
    s = x @ ridge_encoder(U, lam_star)
    assert np.allclose(U @ (x - s @ U), lam_star * s)


@pytest.mark.parametrize("shape", [(0, 3), (1, 7), (2, 3, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_written_lies_apart(shape, dtype):
    apart = empty_unaliased(shape, dtype)
    apart[...] = 1
    assert (apart.shape, apart.dtype) == (shape, dtype)
    assert apart.flags.carray
    assert apart.size == 0 or apart.ctypes.data - apart.base.ctypes.data >= 512


def test_lanczos_needs_few_products_where_leading_values_are_nearly_equal(monkeypatch):
    """As those of a residual are near the optimum of (2)."""
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((side, 10)))[0] for side in (300, 280))
    noise = rng.standard_normal((300, 280))
    noise -= left @ (left.T @ noise)
    noise -= (noise @ right) @ right.T
    R = 0.99 * noise / np.linalg.norm(noise, 2) + (left * (1 - 1e-5 * rng.random(10))) @ right.T
    products = []

    def counting(shape, matvec, dtype):
        return LinearOperator(shape, matvec=lambda v: (products.append(1), matvec(v))[1], dtype=dtype)

    monkeypatch.setattr("unmingle.core.linalg.norms.LinearOperator", counting)
    true = np.linalg.norm(R, 2)
    assert true <= _lanczos_bound(R) <= true * (1 + 1e-5)
    assert len(products) < 500


class TestUnits:
    """What is written out is exact: powers of two change no digit, unless numbers end."""

    @pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-10, 1.0, 1e10, 1e300, 1.7e308])
    def test_the_largest_entry_is_about_one_and_nothing_is_lost(self, scale):
        X = scale * np.array([[1.0, -0.3], [np.nan, 0.0]])
        units = Units.of(X)
        inside = units.to_units(X)
        assert 0.5 <= np.nanmax(np.abs(inside)) < 2
        assert np.array_equal(units.from_units(inside), X, equal_nan=True)
        assert np.log2(units.root) % 1 == 0

    @pytest.mark.parametrize("scale", [1e-42, 1e-30, 1e30, 3e38])
    def test_float32_stays_float32(self, scale):
        X = np.array([1.0, 0.25], np.float32) * np.float32(scale)
        units = Units.of(X)
        for numbers in (units.to_units(X), units.from_units(units.to_units(X)), units.factors_from_units(X[:0])):
            assert numbers.dtype == np.float32
        assert np.array_equal(units.from_units(units.to_units(X)), X)

    def test_kinds_of_numbers(self):
        units = Units(8.0)
        assert (units.to_units(128.0), units.from_units(2.0), units.to_units(None)) == (2.0, 128.0, None)
        assert units.cost_from_units(3.0) == 3 * 8.0**4
        factors = np.array([[24.0]])
        assert (units.factors_to_units(factors), units.factors_from_units(factors)) == (3.0, 192.0)
        assert type(units.to_units(1.0)) is float
        assert (Units.of(np.zeros((2, 2))), Units.of(np.full((2, 2), np.nan))) == (Units(), Units())

    @pytest.mark.parametrize("root", [2.0**-530, 0.25, 2.0**512])
    def test_in_place(self, root):
        X = np.array([0.75, -0.25]) * root * root
        answer = Units(root).to_units(X, out=X)
        assert answer is X
        assert X.tolist() == [0.75, -0.25]


def test_a_tiny_distance_does_not_drown_in_squares(rng):
    left, right = (np.linalg.qr(rng.standard_normal((size, 3)))[0] for size in (50, 40))
    values = np.array([3.0, 2.0, 1.0])
    A, B = LowRank(left, values, right.T), LowRank(left, values + np.array([1e-12, 0, 0]), right.T)
    assert np.isclose(A.distance(B), 1e-12, rtol=0.01, atol=0)


@pytest.mark.parametrize("system", [np.diag([1.0, -1.0]), np.full((2, 2), np.nan), np.full((2, 2), np.inf)], ids=str)
def test_systems_that_no_samples_have_are_refused(system):
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="too large to learn from"):
        solve_positive(system, np.ones((2, 1)))
