"""Faces as sums of parts
=========================

Split a face under many lights into nonnegative parts, and take its cast shadows off.

Shadows take light away, and outliers of RobustNMF only add: so it works on darkness, one minus the picture. With
UNMINGLE_DATA set to the folder of data sets, the face is one of the Yale B faces there, otherwise a drawing.

Run it with ``python examples/parts_of_faces.py [FOLDER]``; with a folder, a picture of the result is written there
(needs ``pip install pillow``).
"""

import os
import sys
from pathlib import Path

import numpy as np

import unmingle

N_PARTS = 5


def yale(folder: Path) -> np.ndarray:
    """One person under many lights, in light from 0 to 1; without the pictures that are almost black."""
    data = np.load(folder / "faces" / "yaleB_half_8subjects.npz")
    pictures = data["images"][data["subject"] == 15][:, ::2, ::2] / 255
    return pictures[pictures.mean(axis=(1, 2)) > 0.12]


def drawn(count: int, height: int, width: int) -> np.ndarray:
    """A face drawn by five dark parts, more or less dark in each picture; a shadow falls on every second one."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]

    def spot(row: float, column: float, tall: float, wide: float) -> np.ndarray:
        return np.exp(-(((y - row) / tall) ** 4) - ((x - column) / wide) ** 4)

    around = 0.8 / (1 + np.exp(-20 * (x**2 / 0.6 + y**2 / 0.85 - 1)))
    eyes = 0.7 * (spot(-0.25, -0.35, 0.1, 0.16) + spot(-0.25, 0.35, 0.1, 0.16))
    brows = 0.5 * (spot(-0.45, -0.35, 0.05, 0.25) + spot(-0.45, 0.35, 0.05, 0.25)) + 0.6 * spot(0.5, 0, 0.06, 0.28)
    parts = np.array([around, eyes, brows, 0.5 * (1 - x) / 2, 0.5 * (1 + x) / 2])
    faces = np.tensordot(rng.uniform(0.2, 1.0, (count, 5)), parts, 1)
    for face in faces[::2]:
        row, column, slope = rng.uniform(-0.4, 0.4), rng.uniform(-0.5, 0.5), rng.uniform(-1, 1)
        face[(np.abs(y - row) < 0.35) & (np.abs(x - column - slope * (y - row)) < 0.14)] += 0.5
    return 1 - np.clip(faces + 0.01 * rng.standard_normal(faces.shape), 0, 1)


folder = os.environ.get("UNMINGLE_DATA")
pictures = yale(Path(folder)) if folder else drawn(60, 48, 42)
count, height, width = pictures.shape
darkness = 1 - pictures.reshape(count, -1)

model = unmingle.RobustNMF(N_PARTS, tol=1e-3, random_state=0).fit(darkness)
found = model.decompose(darkness)
shadow = found.outliers.mean(axis=1)
print(
    f"{count} pictures, {model.n_components_} parts, stationarity {model.stationarity_:.0e} of {model.n_iter_} sweeps"
)
print(f"every code is certified: the largest gap is {found.gap:.0e}")
print(
    f"the typical picture has {100 * np.median(shadow):.2f} % of added darkness, the worst {100 * shadow.max():.2f} %"
)

bright = np.flatnonzero(pictures.mean(axis=(1, 2)) >= np.quantile(pictures.mean(axis=(1, 2)), 0.4))
shown = bright[np.argsort(-shadow[bright])][: 2 * N_PARTS : 2]


def light(rows: np.ndarray) -> list[np.ndarray]:
    """Darkness as pictures, a little lighter than it is."""
    return list((1 - np.clip(rows, 0, 1)).reshape(-1, height, width) ** 0.8)


if len(sys.argv) > 1:
    from unmingle.report.pictures import png, titled_sheet

    columns = {
        "picture": light(darkness[shown]),
        "no shadows": light(found.low_rank[shown]),
        "shadows": light(found.outliers[shown] / found.outliers[shown].max(axis=1, keepdims=True)),
        "parts": light(model.components_ / np.quantile(model.components_, 0.99, axis=1, keepdims=True)),
    }
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    (target / "parts.png").write_bytes(png(titled_sheet(columns, enlarge=3)))
    print("look at parts.png")
