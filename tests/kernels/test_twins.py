"""Each compiled kernel has a twin in tests/helpers/naive.py and agrees with it; more of them are in other files."""

import ast
from pathlib import Path

import numpy as np
import pytest
from helpers import naive
from scipy import ndimage

import unmingle
from unmingle.alignment.families import AlignedFrame, compose
from unmingle.alignment.pyramid import Grid, spline_of
from unmingle.core.encoder.encoder import Encoder
from unmingle.core.encoder.layers import Signs
from unmingle.core.encoder.sequence import SequenceEncoder
from unmingle.kernels import gradients
from unmingle.kernels.alignment import align_image, warp_image
from unmingle.kernels.factors import nonnegative_descent, nonnegative_sweep
from unmingle.kernels.following import follow_frame, nearest_shift, steepest_pixels
from unmingle.kernels.matrix import multiplier_sums
from unmingle.kernels.newton import newton_projection
from unmingle.kernels.nonnegative import nonnegative_projection
from unmingle.kernels.resampling import read_at_speed
from unmingle.kernels.robust import column_medians
from unmingle.kernels.sequence import carry_codes
from unmingle.kernels.video_light import compare_textures

F = np.float32
FACES = {"_encode_pairs": "encode_layers", "_encode_groups": "encode_layers"}
"""Kernels that are called through one function of Python."""
BOTH = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def compiled_functions():
    for path in Path(unmingle.__file__).parent.joinpath("kernels").glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and "compiled" in map(ast.unparse, node.decorator_list):
                yield FACES.get(node.name, node.name.lstrip("_"))


def test_every_kernel_has_a_twin():
    names = set(compiled_functions())
    assert len(names) > 30
    assert not [name for name in names if not callable(getattr(naive, name, None))]


def close(dtype):
    return {"rtol": 2e-4, "atol": 2e-4} if dtype == np.float32 else {"rtol": 1e-10, "atol": 1e-10}


def samples(rng, n=21, m=13, dtype=np.float64):
    """Samples with missing entries, their atoms and penalties."""
    components = rng.standard_normal((3, m)).astype(dtype)
    X = rng.standard_normal((n, 3)) @ components + 0.1 * rng.standard_normal((n, m))
    X[rng.random(X.shape) < 0.1] += 3.0
    X[rng.random(X.shape) < 0.1] = np.nan
    return X.astype(dtype), components, rng.uniform(0.2, 0.4, m).astype(dtype)


@BOTH
@pytest.mark.parametrize("curvature", [0.0, 1.0])
def test_multiplier_sums(rng, dtype, curvature):
    X, right, lam = samples(rng, dtype=dtype)
    left, point = rng.standard_normal((21, 3)).astype(dtype), rng.standard_normal(X.shape).astype(dtype)
    multiplier = np.empty_like(X)
    sums = multiplier_sums(X, left, right, point, dtype(0.5), dtype(curvature), lam, multiplier)
    expected, wanted = naive.multiplier_sums(X, left @ right, point, 0.5, curvature, lam)
    np.testing.assert_allclose(sums, expected, **close(dtype))
    np.testing.assert_allclose(multiplier, wanted, **close(dtype))


@pytest.mark.parametrize("cold", [True, False])
@pytest.mark.parametrize("sign", ["signed", "nonnegative", "nonnegative outliers too"])
def test_exact_projections(rng, cold, sign):
    """Newton ends where a method does that takes thousands of steps."""
    X, components, lam = samples(rng)
    lam_star, atoms = 0.8, components.T.copy()
    all_in = components @ components.T + lam_star * np.eye(3)
    codes, gap = np.abs(rng.standard_normal((21, 3))), np.empty(21)
    if sign == "signed":
        newton_projection(X, atoms, components, all_in, lam_star, lam, codes, gap, cold, 1e-12, 200)
        expected = naive.newton_projection(X, components, lam_star, lam)
    else:
        below = lam if sign == "nonnegative" else np.full_like(lam, np.inf)
        nonnegative_projection(X, atoms, components, all_in, lam_star, lam, below, codes, gap, cold, 1e-12, 200)
        expected = naive.nonnegative_projection(X, components, lam_star, lam, below)
        assert 0.05 < (expected == 0).mean() < 0.95
    np.testing.assert_allclose(codes, expected, atol=1e-6)
    assert gap.max() < 1e-9


@BOTH
@pytest.mark.parametrize("rounds", [1, 3])
def test_nonnegative_factors(rng, dtype, rounds):
    n, m, q = 70, 9, 3
    X = rng.random((n, m)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    codes, ahead, components = (rng.random(shape).astype(dtype) for shape in ((n, q), (n, q), (q, m)))
    atoms, lam = rng.random((m, q)).astype(dtype), rng.uniform(0.1, 0.3, m).astype(dtype)
    gram = (atoms.T @ atoms).astype(float) + 0.5 * np.eye(q)
    for valued in (components, components[:0]):
        new, gathered = np.empty_like(codes), np.empty_like(components)
        value = nonnegative_sweep(X, lam, 0.5, codes, valued, ahead, atoms, gram, new, gathered, rounds)
        expected = naive.nonnegative_sweep(X, lam, 0.5, codes, valued, ahead, atoms, gram, rounds)
        for found, wanted in zip((value, new, gathered), expected, strict=True):
            np.testing.assert_allclose(found, wanted, **close(dtype))
    slopes, rows, next_rows = rng.standard_normal((5, q)), rng.random((5, q)), np.empty((5, q))
    nonnegative_descent(gram, slopes, rows, next_rows, rounds)
    np.testing.assert_allclose(next_rows, naive.nonnegative_descent(gram, slopes, rows, rounds), atol=1e-12)


@pytest.mark.parametrize("q", [2, 9])
@pytest.mark.parametrize("n", [1, 25])
@pytest.mark.parametrize("signs", [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("warm", [False, True])
def test_layers_of_an_encoder(rng, q, n, signs, warm):
    """Few atoms, two samples at a time, and many, in groups."""
    m = 17
    components = np.abs(rng.standard_normal((q, m)))
    X = rng.random((n, q)) @ components + (rng.random((n, m)) < 0.2)
    X[rng.random(X.shape) < 0.1] = np.nan
    encoder = Encoder.from_components(
        components, rank_penalty=0.5, outlier_penalty=0.3, n_layers=4,
        nonnegative_codes=signs[0], nonnegative_outliers=signs[1],
    )  # fmt: skip
    init = rng.random((n, q)) if warm else None
    codes, outliers = encoder.encode(X, init=init)
    expected = naive.encode_layers(X, encoder.layers, encoder.components, 4, Signs(*signs), init)
    np.testing.assert_allclose(codes, expected[0], atol=1e-9)
    np.testing.assert_allclose(outliers, expected[1], atol=1e-9)


def test_codes_of_a_sequence(rng):
    X = rng.random((12, 20))
    encoder = SequenceEncoder.from_samples(X, n_components=4, n_layers=2)
    codes, state = np.empty((12, 4)), rng.random(4)
    cell = [np.asarray(part, float) for part in encoder.cell]
    carry_codes(X, cell, state, codes)
    expected = naive.carry_codes(X, cell, state)
    np.testing.assert_allclose(codes, expected, atol=1e-12)
    assert (expected > 0).any()


@BOTH
def test_layers_and_their_slopes(rng, dtype):
    x, d, slope = (rng.standard_normal((6, 9)).astype(dtype) for _ in range(3))
    t = rng.uniform(0.1, 0.5, 9).astype(dtype)
    for below in (dtype(0), dtype(np.inf)):
        r, by_d, by_t = np.empty_like(x), np.empty_like(x), np.zeros_like(t)
        gradients.clip_layer(x, d, t, below, r)
        np.testing.assert_allclose(r, naive.clip_layer(x, d, t, below), **close(dtype))
        gradients.clip_slopes(x, r, slope, by_d, by_t)
        expected = naive.clip_slopes(x, r, slope)
        np.testing.assert_allclose(by_d, expected[0], **close(dtype))
        np.testing.assert_allclose(by_t, expected[1], **close(dtype))


@BOTH
def test_misfit_and_its_slopes(rng, dtype):
    x, low_rank, outliers = (rng.standard_normal((6, 9)).astype(dtype) for _ in range(3))
    outliers[rng.random(outliers.shape) < 0.5] = 0
    lam, slope = rng.uniform(0.1, 0.5, 9).astype(dtype), rng.standard_normal(6).astype(dtype)
    misfit, cost = np.empty_like(x), np.empty(6, dtype)
    gradients.misfit_cost(x, low_rank, outliers, lam, misfit, cost)
    for found, wanted in zip((misfit, cost), naive.misfit_cost(x, low_rank, outliers, lam), strict=True):
        np.testing.assert_allclose(found, wanted, **close(dtype))
    by_low_rank, by_outliers = np.empty_like(x), np.empty_like(x)
    gradients.misfit_slopes(misfit, outliers, lam, slope, by_low_rank, by_outliers)
    expected = naive.misfit_slopes(misfit, outliers, lam, slope)
    np.testing.assert_allclose(by_low_rank, expected[0], **close(dtype))
    np.testing.assert_allclose(by_outliers, expected[1], **close(dtype))


@pytest.mark.parametrize("n", [1, 2, 9, 10])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_medians(rng, n, dtype):
    rows, medians = (255 * rng.random((n, 31))).astype(dtype), np.empty(31, F)
    expected = naive.column_medians(rows)
    column_medians(rows.copy(), medians)
    np.testing.assert_allclose(medians, expected, rtol=1e-6)


@pytest.mark.parametrize("ratio", [0.8, 1.0, 1.26])
def test_sound_at_another_speed(rng, ratio):
    sound, out = rng.standard_normal(200).astype(F), np.empty(300, F)
    read_at_speed(sound, 0.3, ratio, out)
    np.testing.assert_allclose(out, naive.read_at_speed(sound, 0.3, ratio, 300), atol=1e-5)


FRAME = AlignedFrame(14, 12)
LAM, LAM_STAR = 0.05, 0.02


def picture(rng, shape=(31, 27)):
    smooth = ndimage.gaussian_filter(rng.random(shape), 1.5)
    return ((smooth - smooth.min()) / np.ptp(smooth)).astype(F)


@pytest.mark.parametrize("family", ["translation", "euclidean", "projective"])
@pytest.mark.parametrize("cubic", [False, True])
def test_a_warp_and_its_slopes(rng, family, cubic):
    image, level = picture(rng), Grid.of(FRAME, family, 0)
    source = spline_of(image) if cubic else naive.pad_image(image)
    parameters = rng.uniform(-1.5, 1.5, len(level.fields))
    for place in (8.0, -3.0, 20.0):
        matrix = level.matrix(compose([[1, 0, place], [0, 1, 8], [0, 0, 1]], FRAME.to_matrix(family, parameters)))
        values, slopes = np.empty(level.grid.shape[1], F), np.empty(level.grid.shape, F)
        warp_image(source, cubic, matrix, level.grid, values, slopes)
        expected, leaning = naive.warp_image(source, cubic, matrix, level.grid)
        assert np.mean(np.isnan(values) != np.isnan(expected)) < 0.01
        known = np.isfinite(values) & np.isfinite(expected)
        assert known.mean() > 0.2
        np.testing.assert_allclose(values[known], expected[known], atol=1e-5)
        np.testing.assert_allclose(slopes[:, known], leaning[:, known], atol=2e-4 * np.abs(leaning).max())


@pytest.mark.parametrize("family", ["translation", "similarity"])
@pytest.mark.parametrize("still", [0.0, 2.0])
def test_a_search_takes_the_same_steps(rng, family, still):
    image, level = spline_of(picture(rng)), Grid.of(FRAME, family, 0)
    start = np.array([[1.0, 0, 8.0], [0, 1, 8.0], [0, 0, 1]])
    sharp = level.cut(image, start, cubic=True)
    atoms = np.stack([sharp, 0.1 * rng.standard_normal(sharp.size)]).astype(F)
    moved = level.matrix(compose(start, FRAME.to_matrix(family, 0.7 * np.ones(len(level.fields)))))
    shape = level.grid, level.fields, level.generators, level.corners
    for most in (0.0, 3.0, 6.0):
        matrix, code = moved.copy(), np.array([0.9, 0.0], F)
        rest = *shape, atoms, (LAM, LAM_STAR), (1e-4, 1.0, most, still)
        cost, share, last = align_image(image, True, matrix, code, *rest)
        expected = naive.align_image(image, True, moved, np.array([0.9, 0.0]), *rest)
        np.testing.assert_allclose(matrix, expected[0], atol=2e-3)
        np.testing.assert_allclose(code, expected[1], atol=2e-3)
        assert (cost, share) == pytest.approx(expected[2:4], rel=1e-2, abs=1e-4)
        assert last == pytest.approx(expected[4], rel=0.05, abs=1e-3)


@pytest.fixture
def film(rng):
    """A picture, a frame that is displaced by three and two pixels, lighter, a thing in front; pixels, Jacobian."""
    scene = np.rint(255 * picture(rng, (64, 80))).astype(np.uint8)
    background, frame = scene[5:-5, 5:-5].copy(), np.rint(0.9 * scene[7:-3, 2:-8] + 5).astype(np.uint8)
    frame[10:20, 10:20] = 250
    scale = F(1 / 255)
    chosen, slopes = np.empty((2, 400), np.int64), np.empty((2, 400), F)
    count = steepest_pixels(background, scale, 4, 2 / 255, chosen, slopes)
    rows, columns = chosen[:, :count]
    found = AlignedFrame(*background.shape)
    level = Grid.of(found, "similarity", 0, rows * background.shape[1] + columns)
    values = background[rows, columns] * scale
    tangents = np.einsum("am,pam->pm", slopes[:, :count] * F(found.unit), level.fields)
    J = np.concatenate([tangents, values[None], np.ones((1, count), F)]).astype(F)
    return background, frame, scale, level, values, J


def test_the_steepest_pixels(film):
    background, _, scale, *_ = film
    chosen, slopes = np.empty((2, 400), np.int64), np.empty((2, 400), F)
    count = steepest_pixels(background, scale, 4, 2 / 255, chosen, slopes)
    places, leaning = naive.steepest_pixels(background, scale, 4, 2 / 255)
    assert 50 < count == places.shape[1]
    same = (chosen[:, :count] == places).all(axis=0)
    assert same.mean() > 0.98  # two pixels may be equally steep
    np.testing.assert_allclose(slopes[:, :count][:, same], leaning[:, same], atol=1e-5)


def test_a_frame_is_followed_step_by_step(film):
    _, frame, scale, level, values, J = film
    start = np.array([[1.0, 0, 2.0], [0, 1, -1.2], [0, 0, 1]]) @ level.frame.to_pixels
    for most in (0, 2, 6):
        matrix, light, limits = start.copy(), np.array([1.0, 0.0]), (0.01, 2.0, 0.02, most)
        shape = values, J, level.grid, level.generators, level.corners
        cost, sight, explained = follow_frame(frame, scale, matrix, light, limits, *shape)
        expected = naive.follow_frame(frame, scale, start, np.array([1.0, 0.0]), limits, *shape)
        np.testing.assert_allclose(matrix, expected[0], atol=2e-3)
        np.testing.assert_allclose(light, expected[1], atol=2e-3)
        assert (cost, sight) == pytest.approx(expected[2:4], rel=1e-2)
        assert explained == pytest.approx(expected[4], abs=0.01)


def test_the_best_of_all_shifts(film):
    _, frame, scale, level, values, _ = film
    for radius, stride in ((2, 1), (6, 3)):
        arguments = (
            frame,
            scale,
            level.frame.to_pixels,
            np.array([0.9, 5 / 255]),
            0.03,
            radius,
            stride,
            values,
            level.grid,
        )
        assert nearest_shift(*arguments) == naive.nearest_shift(*arguments)
    assert naive.nearest_shift(*arguments) == (3, -2)


def test_textures_are_compared(rng):
    background = np.rint(255 * picture(rng, (40, 56))).astype(np.uint8)
    frame = background.copy()
    frame[:, 28:] = np.rint(255 * picture(rng, (40, 28)))
    scale, cells, bounds = F(1 / 255), (8, 1), (1e-4, 0.8)
    found = compare_textures(frame.reshape(-1), background.reshape(-1), *frame.shape, scale, cells, bounds)
    expected = naive.compare_textures(frame, background, scale, cells, bounds)
    assert found == expected
    assert 0 < expected[1] < expected[0]
