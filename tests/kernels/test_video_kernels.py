"""The compiled passes over a frame, each against plain NumPy and SciPy."""

from inspect import signature

import numpy as np
import pytest
from helpers import naive
from video_passes import F, in_words, learn, learning_state, look, ridge_step, scene

from unmingle.apps.video._background import noise_rates
from unmingle.apps.video._light import robust_line
from unmingle.core.online.statistics import Statistics, recursive_step
from unmingle.core.solvers.projection import newton
from unmingle.kernels.regions import keep_regions
from unmingle.kernels.video_detection import (
    Scenery,
    Workspace,
    count_neighbours,
    detect_in_frame,
    frame_codes,
    zeros_for,
)
from unmingle.kernels.video_learning import LearningState, follow_noise, learn_from_frame


@pytest.mark.parametrize(("q", "dtype"), [(1, "uint8"), (3, "uint8"), (3, "uint16"), (3, "float32"), (9, "uint8")])
def test_layers_are_those_of_algorithm_1(rng, q, dtype):
    frame, scale, components, _, _ = scene(rng, q=q, dtype=dtype)
    x, found = frame.reshape(-1), np.zeros(q, F)
    frame_codes(x, scale, components, ridge_step(components), F(0.1), F(0.03), 4, found, zeros_for(q))
    expected = naive.frame_codes(x * float(scale), components, np.zeros(q), 0.1, 0.03, 4)
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_layers_end_at_the_exact_codes_whatever_the_step(rng):
    frame, scale, components, _, _ = scene(rng, q=3)
    x, found = frame.reshape(-1), np.zeros(3, F)
    frame_codes(x, scale, components, F(0.7) * ridge_step(components), F(0.1), F(0.03), 400, found, zeros_for(3))
    exact = next(newton((x * scale)[None], components, 0.1, np.full(x.size, F(0.03)), tol=1e-9)).codes[0]
    np.testing.assert_allclose(found, exact, rtol=2e-4)


@pytest.mark.parametrize(
    ("kernel", "groups"), [(detect_in_frame, (Workspace, Scenery)), (learn_from_frame, (LearningState,))]
)
def test_arguments_come_in_groups_whose_fields_are_their_names(kernel, groups):
    fields = [name for group in groups for name in group._fields]
    assert list(signature(kernel).parameters)[-len(fields) :] == fields


@pytest.mark.parametrize(
    ("dtype", "side", "width"), [("uint8", 1, 40), ("uint8", 7, 37), ("uint16", 7, 40), ("float32", 7, 40)]
)
def test_a_look_agrees_with_filters_of_scipy(rng, dtype, side, width):
    parts = scene(rng, width=width, dtype=dtype)
    frame = parts[0]
    found = look(*parts, side=side)
    background, deviation, near = (
        part.reshape(frame.shape) for part in (found.background, found.deviation, found.near)
    )
    mask, expected = found.mask, naive.detect_in_frame(*parts, side=side)
    tolerance = 1e-6 if dtype == "float32" else 1.0
    np.testing.assert_allclose(background.astype(float), expected[0], atol=tolerance)
    np.testing.assert_allclose(deviation.astype(float), expected[1], atol=2 * tolerance)
    assert (mask != expected[2]).mean() < 0.01
    assert (near != expected[3]).mean() < 0.02
    assert mask[8:12, 14:20].all()
    assert background.dtype == deviation.dtype == frame.dtype


def test_outside_of_the_region_nothing_is_marked(rng):
    parts = scene(rng)
    region = np.zeros((24, 40), bool)
    region[:, :17] = True
    mask = look(*parts, region=region, side=1).mask
    assert mask[6:14, 11:17].all()
    assert not mask[:, 17:].any()


@pytest.mark.parametrize("side", [1, 7, 15])
def test_counts_of_both_marks_stay_apart(rng, side):
    weak = rng.random((30, 23)) < 0.9
    strong = weak & (rng.random(weak.shape) < 0.9)
    marked, counts = (weak + 256 * strong).astype(np.uint16), np.empty(weak.shape, np.uint16)
    count_neighbours(marked.reshape(-1), *weak.shape, counts.reshape(-1), (0,) * side)
    for marks, found in ((weak, counts & 255), (strong, counts >> 8)):
        np.testing.assert_array_equal(found, naive.count_neighbours(marks, side))


@pytest.mark.parametrize("width", [1, 7, 16, 24, 33])
@pytest.mark.parametrize("density", [0.05, 0.3, 0.6, 0.95])
def test_regions_are_those_of_scipy(rng, width, density):
    for _ in range(10):
        mask = rng.random((19, width)) < density
        strong, least = mask & (rng.random(mask.shape) < 0.5), int(rng.integers(1, 6))
        expected, regions = naive.keep_regions(mask, strong, least)
        found = mask.copy()
        boxes = keep_regions(found.reshape(-1), *mask.shape, in_words(found), strong.reshape(-1), least)
        np.testing.assert_array_equal(found, expected)
        assert sorted(map(tuple, boxes.tolist())) == regions


@pytest.mark.parametrize("patience", [0, 30])
def test_learning_is_that_of_its_twin(rng, patience):
    """Noise, what waits, what is absorbed, and the atoms, with some foreground that stands and some that moves."""
    frame, scale, components, codes, variance = scene(rng)
    near = (rng.random(frame.size) < 0.3).astype(np.uint8)
    near[:40] = 2
    last = np.where(rng.random(frame.shape) < 0.7, frame, frame + 20).astype(np.uint8)
    deviation = rng.integers(0, 9, frame.size).astype(np.uint8)
    given = {"patience": patience, "last": last, "seen": 50, "waited": 29, "lam": 0.1, "deviation": deviation}
    before = learning_state(frame, scale, components, codes, variance, last, 50, 29)
    expected = naive.learn_from_frame(frame.reshape(-1), deviation, near, 2, patience, 0.98, 0.1, 9.0, before)
    state, counted = learn(frame, scale, components, codes, variance, near, **given)
    assert (counted[2] > 100) == (patience > 0)
    for name, wanted in expected.items():
        np.testing.assert_allclose(getattr(state, name), wanted, rtol=2e-4, atol=1e-5, err_msg=name)


def test_learning_is_recursive_least_squares(rng):
    frame, scale, components, codes, variance = scene(rng)
    x, before = frame.reshape(-1) * float(scale), np.diag([2.0, 3.0, 4.0])
    state, _ = learn(frame, scale, components, codes, variance, np.zeros(x.size))
    past = Statistics(before, np.zeros_like(components), 1.0, 1.0)
    now = Statistics.of(codes[None].astype(float), x[None], 0.98)
    exact = recursive_step(past, now, components.astype(float), 0.1)
    np.testing.assert_allclose(state.squares, past.merge(now).A, rtol=1e-6)
    moved = np.abs(exact - components).max()
    assert np.abs(state.atoms - exact).max() < 0.01 * moved  # the regulariser acts on each atom alone


def test_foreground_and_large_residuals_do_not_enter_the_background(rng):
    frame, scale, components, codes, variance = scene(rng)
    near = np.zeros(frame.shape)
    near[3:17, 8:26] = 1
    state, _ = learn(frame, scale, components, codes, variance, near, forgetting=1.0)
    change = np.abs(state.atoms - components).max(axis=0).reshape(frame.shape)
    assert change[near > 0].max() == 0.0
    assert change[near == 0].max() > 0.0
    bounded, _ = learn(frame, scale, components, codes, variance, near * 0, forgetting=1.0, lam=0.01)
    residual = np.abs(frame.reshape(-1) * scale - codes @ components)
    steps = np.linalg.norm(bounded.atoms - components, axis=0)
    assert steps[residual > 0.2].max() <= steps[residual > 0.01].max() * 1.001


def test_the_sample_gets_the_atoms_that_were_learnt(rng):
    parts = scene(rng, height=80, width=64)
    sample = np.sort(rng.permutation(80 * 64)[:500])
    state, _ = learn(*parts, np.zeros(80 * 64), sample=sample)
    np.testing.assert_array_equal(state.sampled, state.atoms[:, sample])


def test_what_does_not_change_is_absorbed_after_the_patience(rng):
    frame, scale, components, codes, variance = scene(rng)
    near = np.zeros(frame.shape)
    near[5:15, 10:24] = 1
    last = frame.copy()
    last[5:15, 10:14] += 90
    cases = ((48, 100, 50, False), (49, 100, 50, True), (9, 10, 50, True), (0, 0, 0, False))
    for waited, seen, patience, absorbed in cases:
        state, counted = learn(
            frame, scale, components, codes, variance, near, last=last, patience=patience, waited=waited, seen=seen
        )
        left = np.abs(frame * scale - (codes @ state.atoms).reshape(frame.shape))
        assert left[5:15, 10:14].max() > 0.1  # it moves
        assert (left[5:15, 14:24].max() < 1e-3) == absorbed
        if patience:
            assert counted == (140, 100, 100 if absorbed else 0)


def test_noise_is_measured_by_differences(rng):
    sigma, size = 0.03, 20_000
    variance, last = np.full(size, 1e-6, F), np.zeros(size, F)
    near = np.zeros(size, np.uint8)
    near[: size // 2] = 1
    rates = tuple(F(rate) for rate in (0.1, 0.05, 1.0, 1.0 / (2.0 - 4.0 / np.pi)))
    for _ in range(150):
        deviation = np.abs(rng.normal(0, sigma, size)).astype(F)
        deviation[: size // 2] += F(0.5)  # something that stands before half of the picture
        noise_pass(deviation, last, near, rates, variance)
    outside, inside = np.sqrt(variance[size // 2 :].mean()), np.sqrt(variance[: size // 2].mean())
    assert outside == pytest.approx(sigma, rel=0.1)
    assert inside < 1.2 * sigma


def test_noise_that_falls_slower_than_it_rises_is_right_for_gaussian_noise_and_remembers_gusts(rng):
    sigma, size = 0.03, 10_000
    variance, last, near = np.full(size, 1e-4, F), np.zeros(size, F), np.zeros(size, np.uint8)
    rates = tuple(F(rate) for rate in noise_rates())
    for _ in range(400):
        noise_pass(np.abs(rng.normal(0, sigma, size)).astype(F), last, near, rates, variance)
    assert np.sqrt(variance.mean()) == pytest.approx(sigma, rel=0.15)
    even = variance.copy()
    for step in range(10 + 20):
        strength = 5 * sigma if step < 10 else sigma
        deviation = np.abs(rng.normal(0, strength, size)).astype(F)
        noise_pass(deviation, last, near, rates, variance)
        noise_pass(deviation, last, near, (rates[0], rates[1], F(1.0), F(1.376)), even)
    assert variance.mean() > 1.3 * even.mean()


def noise_pass(deviation, last, near, rates, variance):
    follow_noise(deviation, last, np.uintp(0), last.size, F(1.0), near, np.uintp(0), rates, F(1e-5), variance)


def test_a_robust_line_ignores_a_third_of_the_points(rng):
    x = rng.random(900)
    y = 0.7 * x + 0.1 + rng.normal(0, 0.002, 900)
    y[:300] = rng.random(300)
    assert robust_line(x, y, 0.004, 30) == pytest.approx((0.7, 0.1), abs=0.01)
    assert robust_line(np.full(50, 0.3), rng.random(50), 0.004, 30) == (0.0, 0.0)
