from string import ascii_lowercase
from typing import NamedTuple

import numpy as np
import pytest
from films import SCENE, write_film


class Planted(NamedTuple):
    """A table of rank 2 with a few wrong and a few missing cells."""

    values: np.ndarray
    truth: np.ndarray
    wrong: dict[tuple[str, str], float]
    missing: list[tuple[int, int]]
    rows: list[str]
    columns: list[str]


@pytest.fixture(scope="module")
def planted():
    rng = np.random.default_rng(3)
    truth = 20.0 + rng.standard_normal((100, 2)) @ rng.standard_normal((2, 26))
    values = truth + 0.05 * rng.standard_normal(truth.shape)
    rows, columns = [f"day {i}" for i in range(1, 101)], [f"sensor [{letter}]" for letter in ascii_lowercase]
    wrong = {}
    for row, column, size in [(4, 17, 9.0), (17, 0, -8.0), (58, 25, 7.0)]:
        values[row, column] += size
        wrong[rows[row], columns[column]] = size
    missing = [(2, 3), (30, 15), (59, 25)]
    for cell in missing:
        values[cell] = np.nan
    return Planted(values, truth, wrong, missing, rows, columns)


@pytest.fixture
def street(tmp_path):
    write_film(tmp_path / "street.mp4", SCENE)
    return tmp_path / "street.mp4"


@pytest.fixture
def visit(tmp_path, rng):
    """Noise of 90 frames at times of their own; a square crosses it in frames 40 to 49 and 70 to 74."""
    frames = np.clip(120 + 3 * rng.standard_normal((90, 48, 64)), 0, 255)
    for number in [*range(40, 50), *range(70, 75)]:
        left = 5 + 4 * (number % 10)
        frames[number, 10:22, left : left + 10] = 250
    times = np.cumsum(rng.uniform(0.02, 0.3, 90))
    np.savez(tmp_path / "visit.npz", frames=frames.astype(np.uint8), times=times)
    return times - times[0]
