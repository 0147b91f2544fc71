"""Align faces
==============

Align faces with each other, then new ones, partly covered, with what was learnt.

The faces are drawn, so that it is known where each is. Run it with ``python examples/align_faces.py [FOLDER]``; with a
folder, a picture of the result is written there (needs ``pip install pillow``).
"""

import sys
from pathlib import Path

import numpy as np

import unmingle
from unmingle.synth import displaced_faces

train = displaced_faces(40, covered=0.2, random_state=0)
aligner = unmingle.Aligner(shape=(48, 40), n_components=5)
done = aligner.fit_align(train.images)
print(f"{done.ok.sum()} of {len(done.ok)} faces aligned with each other, {aligner.n_components_} components")
blur = [frames.std(axis=0).mean() for frames in (train.images, done.images)]
print(f"pixels of the frame vary by {blur[0]:.3f} before and {blur[1]:.3f} after")

new = displaced_faces(200, covered=0.5, random_state=1)
still = displaced_faces(200, shift=0.0, random_state=1)
found = aligner.align(new.images)
moved = found.matrices[:, :2, 2] - aligner.align(still.images).matrices[:, :2, 2]
error = np.linalg.norm(moved - new.matrices[:, :2, 2], axis=1)
hidden = new.covered.any(axis=(1, 2))
print(f"new faces: error {np.median(error[~hidden]):.3f} px, and {np.median(error[hidden]):.3f} px if partly covered")

other = aligner.align([np.random.default_rng(0).random((64, 56))])
print(f"noise is no face: {other.notes[0]}")

if len(sys.argv) > 1:
    from unmingle.report.pictures import png, titled_sheet

    shown = np.flatnonzero(hidden)[:5]
    columns = {
        "before": list(aligner.starting_parts(new.images[shown]).images),
        "after": list(found.images[shown]),
        "low rank": list(found.low_rank[shown]),
        "outliers": list(0.5 + found.outliers[shown]),
    }
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "faces.png").write_bytes(png(titled_sheet(columns, enlarge=3)))
    print("look at faces.png")
