"""Makes the pictures of README.md from made data: `python docs/pictures.py` (docs/song.png: see docs/audio.md)."""

from pathlib import Path

import numpy as np

import unmingle
from unmingle.apps.demo.demonstration import run_demo
from unmingle.apps.demo.readings import picture_readings
from unmingle.apps.demo.street import picture_street
from unmingle.report.pictures import png, titled_sheet
from unmingle.synth import displaced_faces

HERE = Path(__file__).parent


def street_and_table() -> None:
    """Those of `unmingle demo`, seed 0."""
    done = run_demo()
    columns = {name: pictures[1:4:2] for name, pictures in picture_street(done.street).items()}
    write("street.png", titled_sheet(columns, enlarge=1))
    pictures = picture_readings(done.readings)
    names = {"recorded (gaps yellow)": "recorded", "expected": "expected", "flagged": "flagged"}
    half = {name: [pictures[kind][:, : pictures[kind].shape[1] // 2]] for name, kind in names.items()}
    write("table.png", titled_sheet(half, enlarge=1))


def faces() -> None:
    """New faces, aligned with a model that was learnt from others."""
    aligner = unmingle.Aligner(shape=(48, 40), n_components=5)
    aligner.fit(displaced_faces(40, covered=0.2, random_state=0).images)
    new = displaced_faces(3, covered=1.0, random_state=1).images
    done = aligner.align(new)
    top, left = (new.shape[1] - 48) // 2, (new.shape[2] - 40) // 2
    columns = {
        "given": list(new[:, top : top + 48, left : left + 40]),
        "aligned": list(done.images),
        "low rank": list(done.low_rank),
        "outliers": list(np.clip(0.5 + done.outliers, 0.0, 1.0)),
    }
    write("faces.png", titled_sheet(columns, enlarge=2))


def write(name: str, picture: np.ndarray) -> None:
    """Put a picture beside this file."""
    (HERE / name).write_bytes(png(picture))
    print(HERE / name, *picture.shape[:2])


if __name__ == "__main__":
    street_and_table()
    faces()
