"""The data of the demo as files, for trying the commands on them."""

import csv
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ... import store
from ...media import open_writer
from ...report.pictures import pixels, png
from ...synth import Readings, Scene, displaced_faces
from ._demo import Demo
from ._song import wav

FRAMES_PER_SECOND = 15.0


def write_files(demo: Demo, folder: Path) -> dict[str, Path]:
    """Write the table, the song, a folder of faces and, where PyAV is installed, the film; return their paths."""
    paths = {name: folder / name for name in ("readings.csv", "song.wav", "faces", "street.mp4")}
    _write_table(paths["readings.csv"], demo.table.table)
    with store.write_atomically(paths["song.wav"]) as aside:
        aside.write_bytes(wav(demo.song.song.mixture, demo.song.song.rate))
    _write_faces(paths["faces"], demo.seed)
    if find_spec("av") is None:
        del paths["street.mp4"]
    else:
        _write_film(paths["street.mp4"], demo.street.scene)
    return paths


def _write_table(path: Path, table: Readings) -> None:
    begin = datetime(2026, 3, 2)
    with store.write_atomically(path) as aside, aside.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["time", *table.columns])
        for hour, row in enumerate(table.values):
            moment = (begin + timedelta(hours=hour)).isoformat(" ", "minutes")
            lines.writerow([moment, *("" if np.isnan(value) else f"{value:.2f}" for value in row)])


def _write_film(path: Path, scene: Scene) -> None:
    with open_writer(path, rate=FRAMES_PER_SECOND) as writer:
        for frame in scene.frames:
            writer.write(pixels(frame))


def _write_faces(folder: Path, seed: int) -> None:
    folder.mkdir(exist_ok=True)
    pictures = displaced_faces(40, covered=0.3, random_state=seed).images
    for number, picture in enumerate(pictures, 1):
        with store.write_atomically(folder / f"face_{number:02}.png") as aside:
            aside.write_bytes(png(picture))
