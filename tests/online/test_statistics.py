"""Sums of encoded samples and the dictionary steps, against sums and solutions written out plainly."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmingle.core import objective
from unmingle.core.online.statistics import Statistics, balance, block_coordinate_step, direct_step, recursive_step

Q, M = 4, 30


def block(seed, n, q=Q, m=M):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, q)) @ np.diag(np.arange(1.0, q + 1)), rng.standard_normal((n, m))


def plain_sums(codes, cleaned, forgetting):
    """Sample by sample: A <- beta A + s s', B <- beta B + s y', weight <- beta weight + 1."""
    A, B, weight = np.zeros((codes.shape[1],) * 2), np.zeros((codes.shape[1], cleaned.shape[1])), 0.0
    for s, y, beta in zip(codes, cleaned, np.broadcast_to(forgetting, len(codes)), strict=True):
        A, B, weight = beta * A + np.outer(s, s), beta * B + np.outer(s, y), beta * weight + 1
    return A, B, weight


@pytest.mark.parametrize("forgetting", [1.0, 0.9, np.linspace(0.5, 0.99, 25)])
def test_a_block_counts_like_its_samples_one_by_one(forgetting):
    codes, cleaned = block(0, 25)
    sums = Statistics.of(codes, cleaned, forgetting)
    A, B, weight = plain_sums(codes, cleaned, forgetting)
    assert np.allclose(sums.A, A, rtol=1e-12, atol=1e-12)
    assert np.allclose(sums.B, B, rtol=1e-12, atol=1e-12)
    assert sums.weight == pytest.approx(weight, rel=1e-12)
    assert sums.decay == pytest.approx(np.prod(np.broadcast_to(forgetting, 25)), rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=3, max_size=3), st.floats(0.5, 1.0), st.integers(0, 10**6))
def test_merge_is_associative_and_ordered(sizes, forgetting, seed):
    codes, cleaned = block(seed, sum(sizes))
    ends = np.cumsum([0, *sizes])
    one, two, three = (Statistics.of(codes[i:j], cleaned[i:j], forgetting) for i, j in pairwise(ends))
    whole = Statistics.of(codes, cleaned, forgetting)
    for grouped in (one.merge(two).merge(three), one.merge(two.merge(three)), Statistics.empty(Q, M).merge(whole)):
        for found, expected in zip(grouped, whole, strict=True):
            assert np.allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_update_is_merge_and_forget_scales():
    codes, cleaned = block(1, 20)
    sums = Statistics.of(codes[:12], cleaned[:12], 0.9)
    for found, expected in zip(
        sums.update(codes[12:], cleaned[12:], 0.9), Statistics.of(codes, cleaned, 0.9), strict=True
    ):
        assert np.allclose(found, expected, rtol=1e-12)
    assert np.array_equal(sums.forget(0.25).B, 0.25 * sums.B)
    assert sums.forget(0.25).weight == 0.25 * sums.weight


def test_direct_step_minimises_the_problem():
    """The gradient of 1/2 ||Y - S U||^2 + lam_*/2 ||U||^2 vanishes, and (4) is stationary in U."""
    codes, cleaned = block(2, 50)
    sums = Statistics.of(codes, cleaned)
    components = direct_step(sums, 0.7)
    assert np.abs(codes.T @ (codes @ components - cleaned) + 0.7 * components).max() < 1e-10
    assert sums.stationarity(components, 0.7) < 1e-12
    assert sums.stationarity(components * 1.01, 0.7) > 1e-3


@pytest.mark.parametrize("forgetting", [1.0, 0.95])
def test_three_steps_agree(forgetting):
    """Ten blocks, with the rank penalty moving as well: recursion and block coordinates against the direct solution."""
    sums = Statistics.of(*block(3, 30), forgetting)
    lam_star = 0.5
    recursive = in_blocks = direct_step(sums, lam_star)
    for k in range(1, 11):
        news, last = Statistics.of(*block(3 + k, 1 + k), forgetting), lam_star
        lam_star = 0.5 + 0.1 * k
        recursive = recursive_step(sums._replace(B=sums.B[:, :0]), news, recursive, lam_star, last)
        sums = sums.merge(news)
        in_blocks = block_coordinate_step(sums, in_blocks, lam_star, passes=300)
        direct = direct_step(sums, lam_star)
        assert np.abs(recursive - direct).max() <= 1e-8 * np.abs(direct).max()
        assert np.abs(in_blocks - direct).max() <= 1e-8 * np.abs(direct).max()


def test_regulariser_of_the_recursion_does_not_fade():
    """After 2000 samples with forgetting 0.9 nothing is left of a regulariser that fades with the samples."""
    rng = np.random.default_rng(0)
    codes, cleaned = 0.01 * rng.standard_normal((2000, 2)), rng.standard_normal((2000, 5))
    sums, components = Statistics.of(codes[:10], cleaned[:10], 0.9), None
    components = direct_step(sums, 1.0)
    for k in range(10, 2000):
        news = Statistics.of(codes[k : k + 1], cleaned[k : k + 1], 0.9)
        components = recursive_step(sums, news, components, 1.0)
        sums = sums.merge(news)
    assert np.abs(components - direct_step(sums, 1.0)).max() <= 1e-8 * np.abs(components).max()
    assert np.abs(components).max() < 0.1 * np.abs(np.linalg.solve(sums.A, sums.B)).max()


def test_one_pass_over_balanced_components_nearly_is_the_direct_step():
    codes, cleaned = block(4, 400)
    sums = Statistics.of(codes, cleaned)
    balanced = balance(sums, direct_step(sums, 1.0))
    later_codes, later = block(5, 20)
    sums = balanced.statistics.update(later_codes @ balanced.change, later)
    direct = direct_step(sums, 1.0)
    once = block_coordinate_step(sums, balanced.components, 1.0)
    assert np.linalg.norm(once - direct) < 0.2 * np.linalg.norm(balanced.components - direct)


def test_balance_keeps_the_low_rank_part_and_finds_its_singular_values():
    codes, _ = block(6, 50)
    components = np.random.default_rng(7).standard_normal((Q, M))
    balanced = balance(Statistics.of(codes, codes @ components), components)
    low_rank = codes @ components
    turned = codes @ balanced.change
    assert np.allclose(turned @ balanced.components, low_rank)
    assert np.allclose(balanced.singular_values, np.linalg.svd(low_rank, compute_uv=False)[:Q])
    assert np.allclose(balanced.statistics.A, np.diag(balanced.singular_values), atol=1e-9)
    assert np.allclose(balanced.components @ balanced.components.T, np.diag(balanced.singular_values), atol=1e-9)
    assert np.allclose(balanced.statistics.A, turned.T @ turned, atol=1e-9)
    assert np.allclose(balanced.statistics.B, turned.T @ low_rank, atol=1e-9)
    X = low_rank + np.random.default_rng(8).standard_normal(low_rank.shape)
    nothing = np.zeros_like(X)
    before = objective.factored(X, components, codes, nothing, 1.0, 1.0)
    after = objective.factored(X, balanced.components, turned, nothing, 1.0, 1.0)
    assert after < before
    assert after == pytest.approx(objective.unconstrained(X, low_rank, nothing, 1.0, 1.0))


def test_balance_drops_what_vanished():
    codes, _ = block(9, 40)
    components = np.random.default_rng(9).standard_normal((Q, M))
    components[1] = 0.0
    codes[:, 2] = 0.0
    assert len(balance(Statistics.of(codes, np.zeros((40, 0))), components).components) == 2


@pytest.mark.parametrize("seed", range(20))
def test_balance_finds_the_rank_of_codes_and_components_that_depend_on_each_other(seed):
    """Of any scales, as long as their products are alike; rounding is no direction, and no direction is lost."""
    rng = np.random.default_rng(seed)
    q, n, m = (int(rng.integers(2, most)) for most in (30, 200, 1000))
    of_codes, of_components = int(rng.integers(1, min(q, n) + 1)), int(rng.integers(1, min(q, m) + 1))
    scales = 10.0 ** rng.uniform(-6, 6, q)
    codes = rng.standard_normal((n, of_codes)) @ rng.standard_normal((of_codes, q)) * scales
    components = rng.standard_normal((q, of_components)) @ rng.standard_normal((of_components, m)) / scales[:, None]
    balanced = balance(Statistics.of(codes, np.zeros((n, 0))), components)
    assert len(balanced.components) == min(of_codes, of_components)
    low_rank = codes @ components
    assert np.abs(codes @ balanced.change @ balanced.components - low_rank).max() < 1e-10 * np.abs(low_rank).max()


def test_float32_samples_are_summed_in_float64():
    codes, cleaned = (part.astype(np.float32) for part in block(10, 8))
    sums = Statistics.empty(Q, M)
    for _ in range(3):
        sums = sums.update(codes, cleaned)
    assert sums.A.dtype == sums.B.dtype == np.float64
