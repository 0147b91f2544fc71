"""Frames laid over others and masks laid back, held to SciPy."""

import numpy as np
import pytest
from helpers import naive
from scipy import ndimage

from unmingle.kernels.video_steady import lay_mask_back, lay_over

SHAPE = (41, 58)
SHIFT = np.array([[1.0, 0.0, 2.3], [0.0, 1.0, -3.6], [0.0, 0.0, 1.0]])
WHOLE = np.array([[1.0, 0.0, -4.0], [0.0, 1.0, 3.0], [0.0, 0.0, 1.0]])
TURN = np.array([[1.002, 0.003, -2.3], [-0.003, 1.002, 3.1], [0.0, 0.0, 1.0]])
TILT = np.array([[1.1, 0.2, -2.3], [-0.2, 1.1, 3.1], [1e-3, -2e-3, 1.0]])
FAR = np.array([[1.0, 0.0, 900.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
MAPS = {"shift": SHIFT, "whole": WHOLE, "turn": TURN, "tilt": TILT, "far": FAR}


def halved(matrix):
    up = np.array([[2.0, 0.0, 0.5], [0.0, 2.0, 0.5], [0.0, 0.0, 1.0]])
    return np.linalg.inv(up) @ matrix @ up


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_planes_are_read_between_their_pixels(rng, name, dtype):
    matrix, exact = MAPS[name], dtype is np.float32
    planes = [SHAPE, *[tuple((side + 1) // 2 for side in SHAPE)] * 2]
    white = 1.0 if exact else float(np.iinfo(dtype).max)
    smooth = [ndimage.gaussian_filter(rng.random(shape), 2.0) for shape in planes]
    parts = [(white * (part - part.min()) / np.ptp(part)).astype(dtype) for part in smooth]
    row, fill = np.concatenate([part.ravel() for part in parts]), np.full(sum(part.size for part in parts), 7, dtype)
    out = np.empty_like(row)
    lay_over(row, *SHAPE, matrix, name in ("shift", "whole", "far"), exact, fill, out)
    start = 0
    for part, how in zip(parts, (matrix, halved(matrix), halved(matrix)), strict=True):
        laid = out[start : start + part.size].reshape(part.shape).astype(float)
        start += part.size
        expected, depth = naive.lay_over(part, how)
        inside, outside = depth > 0.01, depth < -0.01
        slope = max(np.abs(np.diff(part.astype(float), axis=axis)).max() for axis in (0, 1))
        allowed = (0.0 if exact else 0.51) + (0.11 * slope if name == "turn" else 2e-4 * white)
        assert np.abs(laid - expected)[inside].max(initial=0.0) <= allowed
        assert (laid[outside] == 7).all()
        assert name == "far" or inside.mean() > 0.5


@pytest.mark.parametrize("name", MAPS)
def test_masks_are_laid_to_the_nearest_pixel(rng, name):
    matrix = MAPS[name]
    mask = ndimage.gaussian_filter(rng.random(SHAPE), 2.0) > 0.52
    out = np.empty(SHAPE, bool)
    is_shift = name in ("shift", "whole", "far")
    words = np.empty(0, np.uint64)
    regions = lay_mask_back(mask.reshape(-1), *SHAPE, matrix, is_shift, (0, SHAPE[0]), out.reshape(-1), words, 5)
    assert np.mean(out != naive.lay_mask_back(mask, matrix, 5)) < 0.002
    assert regions[:, 4].sum() == out.sum()
    assert (name == "far") == (not out.any())


def test_rows_that_are_not_asked_for_are_empty():
    mask, out = np.ones(SHAPE, bool), np.empty(SHAPE, bool)
    lay_mask_back(mask.reshape(-1), *SHAPE, WHOLE, True, (5, 9), out.reshape(-1), np.empty(0, np.uint64), 1)
    assert out[5:9, 4:].all()
    assert not out[:5].any()
    assert not out[9:].any()
