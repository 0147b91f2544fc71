"""The compiled passes over brightness and colour, each against plain NumPy and SciPy."""

import numpy as np
import pytest
from helpers import naive
from scipy import ndimage
from video_passes import F, learn, look

from unmingle.kernels.video_planes import planes_from_rgb, rgb_from_planes
from unmingle.media import Planes
from unmingle.media.planes import middle_of


@pytest.mark.parametrize(("height", "width", "dtype"), [(24, 40, "uint8"), (23, 37, "uint8"), (24, 40, "float32")])
def test_brightness_and_colour_are_tested_together(rng, height, width, dtype):
    """Marks are where the sum of the squares of three deviations, in units of their noise, is large."""
    white = 1.0 if dtype == "float32" else 255.0
    rgb = (white * (0.4 + 0.2 * rng.random((height, width, 3)))).astype(dtype)
    planes = Planes.from_rgb(rgb)
    shown = [plane.astype(float) / white for plane in (planes.luma, *(planes.chroma - middle_of(dtype)))]
    shown = [plane + rng.normal(0, 0.03, plane.shape) for plane in shown]
    atoms = np.concatenate([plane.reshape(-1) for plane in shown])[None].astype(F)
    variance = rng.uniform(1e-4, 4e-4, atoms.size).astype(F)
    found = look(planes, F(1 / white), atoms, np.ones(1, F), variance, side=1)
    squares, first = [], 0
    for plane, middle in zip(shown, (0.0, middle_of(dtype), middle_of(dtype)), strict=True):
        part = slice(first, first + plane.size)
        seen = planes.values[part].reshape(plane.shape).astype(float)
        behind = np.clip(white * plane + middle, 0, white)
        behind = behind if dtype == "float32" else np.floor(behind + 0.5)
        outside = naive.outside_of_span(seen, behind)
        np.testing.assert_allclose(
            found.deviation[part].reshape(plane.shape), outside, atol=1e-6 if white == 1 else 2.0
        )
        outside = found.deviation[part].reshape(plane.shape).astype(float) / white
        squares.append(outside**2 / variance[part].reshape(plane.shape))
        first += plane.size
    colour = (squares[1] + squares[2]).repeat(2, axis=0).repeat(2, axis=1)[:height, :width]
    total = squares[0] + colour
    labels, _ = ndimage.label(total > 4, np.ones((3, 3)))
    expected = np.isin(labels, np.unique(labels[total > 9])) & (total > 4)
    assert (found.mask != expected).mean() < 0.002
    assert 0.005 < found.mask.mean() < 0.98
    near = found.near[: height * width].reshape(height, width)
    even = np.pad(near, ((0, height % 2), (0, width % 2)))
    pooled = even.reshape(len(even) // 2, 2, -1, 2).any(axis=(1, 3))
    np.testing.assert_array_equal(found.near[height * width :].reshape(pooled.shape), pooled)


@pytest.mark.parametrize("width", [40, 37])
def test_cells_whose_texture_stayed_are_dropped(rng, width):
    """By correlation coefficients of NumPy."""
    height, scale = 30, F(1 / 255)
    behind = rng.uniform(60, 160, (height, width))
    behind[:, :8] = 100  # no texture
    frame = behind.copy()
    frame[:16] = 0.6 * frame[:16]
    frame[16:, :24] = 1.4 * frame[16:, :24]
    frame[8:16, 16:24] = 0.6 * rng.uniform(60, 160, (8, 8))
    frame, atoms = np.rint(frame).astype(np.uint8), (behind / 255).reshape(1, -1).astype(F)
    known = scale, atoms, np.ones(1, F), np.full(frame.size, 1e-5, F)
    plain = look(frame, *known, side=1).mask
    for darker in (True, False):
        found = look(frame, *known, side=1, light=((4 / 255) ** 2, 0.8, darker))
        expected, cells = plain.copy(), [0, 0]
        for i in range(0, height, 8):
            for j in range(0, width, 8):
                cell = np.s_[i : i + 8, j : j + 8]
                if plain[cell].mean() < 0.5 or np.rint(behind[cell]).std() <= 4:
                    continue
                cells[0] += 1
                one, other = np.rint(behind[cell]).reshape(-1), frame[cell].reshape(-1).astype(float)
                if np.corrcoef(one, other)[0, 1] > np.sqrt(0.8):
                    cells[1] += 1
                    if darker or other.mean() > one.mean():
                        expected[cell] = False
        np.testing.assert_array_equal(found.mask, expected)
        assert found.cells == tuple(cells)
        assert 0 < cells[1] < cells[0]


@pytest.mark.parametrize(("height", "width"), [(24, 40), (23, 37), (1, 1)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_planes_are_those_of_numpy(rng, height, width, dtype):
    white = None if dtype == "float32" else float(np.iinfo(dtype).max)
    rgb = (rng.random((height, width, 3)) * (white or 1.0)).astype(dtype)
    expected = Planes.from_rgb(rgb)
    found, back = np.empty_like(expected.values), np.empty_like(rgb)
    planes_from_rgb(rgb.reshape(-1), height, width, white, found)
    tolerance = 1e-6 if white is None else 1
    twins = naive.planes_from_rgb(rgb, white)
    np.testing.assert_allclose(found, np.concatenate([plane.reshape(-1) for plane in twins]), atol=tolerance)
    np.testing.assert_allclose(found.astype(float), expected.values.astype(float), atol=tolerance)
    rgb_from_planes(found, height, width, white, back.reshape(-1))
    planes = Planes(found, height, width)
    expected = naive.rgb_from_planes(planes.luma.astype(float), *planes.chroma, white)
    np.testing.assert_allclose(back, expected, atol=tolerance)
    np.testing.assert_allclose(back.astype(float), Planes(found, height, width).to_rgb().astype(float), atol=tolerance)


def test_colour_is_learnt_from_the_middle_and_absorbed_with_its_pixels(rng):
    height, width = 12, 16
    planes = Planes.from_rgb(rng.integers(40, 200, (height, width, 3), dtype=np.uint8))
    centred = planes.values / 255.0
    centred[height * width :] -= 128 / 255
    components, codes, variance = np.zeros((1, centred.size), F), np.ones(1, F), np.full(centred.size, 1e-4, F)
    near = np.zeros(planes.chroma.size // 2 + height * width, np.uint8)
    state, _ = learn(planes, F(1 / 255), components, codes, variance, near, forgetting=1.0)
    share = 1.0 / (2.0 + 1.0 + 0.1)  # of A, the new code and lam_*
    np.testing.assert_allclose(state.atoms[0], share * centred, atol=1e-6)
    near[:] = 1
    state, counted = learn(planes, F(1 / 255), components, codes, variance, near, patience=10, waited=20)
    np.testing.assert_allclose(state.atoms[0], centred * np.float32(1 - 0.02 * 0.1 / 3.06), atol=1e-5)
    assert counted == (height * width,) * 3
