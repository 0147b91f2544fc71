"""The whole demo: it makes a film, a table and a song, separates them, and writes a page and files to try."""

import csv
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ... import __version__, store
from ..._fields import check_settings
from ..._rules import Count
from ...core.iterate import Callback
from ...media import open_writer
from ...report.pictures import contact_sheet, pixels, png
from ...report.pieces import page, paragraph
from ...synth import Readings, Scene, displaced_faces
from .made_song import SongDemo, encode_wav, separate_song, summarise_song, write_song
from .readings import ReadingsDemo, clean_readings, summarise_readings, write_readings
from .street import StreetDemo, picture_street, separate_street, summarise_street, write_solution, write_street

FRAMES_PER_SECOND = 15.0
"""Of the film, when it is written as a file."""
TITLE = "What repeats, what stands out"
LEAD = (
    "A film, a table and a song. All are made, so that the truth is known; nothing was trained on them, and no "
    "threshold of ours was set by hand."
)
"""What the page begins with."""


@dataclass(frozen=True)
class DemoSettings:
    """What the demo makes."""

    seed: Annotated[int, Count(), "Random seed: the same seed gives the same results."] = 0
    frames: Annotated[int, Count(10, 2000), "Length of the film."] = 150

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, eq=False)
class Demonstration:
    """A film, a table and a song, each made with known truth, and what became of them."""

    settings: DemoSettings
    street: StreetDemo
    readings: ReadingsDemo
    song: SongDemo
    written: dict[str, Path] = field(default_factory=dict)
    """What was written, by its name: the files to try, and "report.html"."""

    @property
    def command(self) -> str:
        """What to type to get the same again."""
        return f"unmingle demo --seed {self.settings.seed} --frames {self.settings.frames}"

    def summary(self) -> dict[str, Any]:
        """The results in numbers."""
        return {
            "seed": self.settings.seed,
            "street": summarise_street(self.street),
            "table": summarise_readings(self.readings),
            "song": summarise_song(self.song),
        }


def run_demo(
    folder: str | PathLike[str] | None = None,
    settings: DemoSettings = DemoSettings(),
    *,
    progress: Callback | None = None,
) -> Demonstration:
    """Make a film, a table and a song, and separate each, by unmingle and by simpler ways.

    Parameters
    ----------
    folder : path, optional
        Where the page and the files go; without it nothing is written.
    settings : DemoSettings
        The seed and the length of the film.
    progress : callable, optional
        Is called after each iteration on the film.

    Returns
    -------
    Demonstration
        All results, and the paths of what was written.
    """
    street = separate_street(settings.frames, settings.seed, progress)
    done = Demonstration(settings, street, clean_readings(settings.seed), separate_song(settings.seed))
    if folder is not None:
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        done.written.update(_write_files(done, place))
        done.written["report.html"] = _write_report(done, place)
    return done


def _write_report(demo: Demonstration, folder: Path) -> Path:
    """Write `report.html` and, for use elsewhere, its film strip as `film_strip.png`; return the path of the report."""
    columns = picture_street(demo.street)
    with store.write_atomically(folder / "film_strip.png") as temporary:
        temporary.write_bytes(png(contact_sheet(columns)))
    path = folder / "report.html"
    whole = page(
        TITLE,
        f"<h1>{TITLE}</h1>",
        paragraph(LEAD, "lead"),
        *write_street(demo.street, columns),
        *write_readings(demo.readings),
        *write_song(demo.song),
        *write_solution(demo.street),
        f"<footer>Made by unmingle {__version__} with <code>{demo.command}</code></footer>",
    )
    with store.write_atomically(path) as temporary:
        temporary.write_text(whole, encoding="utf-8")
    return path


def _write_files(demo: Demonstration, folder: Path) -> dict[str, Path]:
    """Write the table, the song, a folder of faces and, where PyAV is installed, the film; return their paths."""
    paths = {name: folder / name for name in ("readings.csv", "song.wav", "faces", "street.mp4")}
    _write_table(paths["readings.csv"], demo.readings.readings)
    with store.write_atomically(paths["song.wav"]) as temporary:
        temporary.write_bytes(encode_wav(demo.song.song.mixture, demo.song.song.rate))
    _write_faces(paths["faces"], demo.settings.seed)
    if find_spec("av") is None:
        del paths["street.mp4"]
    else:
        _write_film(paths["street.mp4"], demo.street.scene)
    return paths


def _write_table(path: Path, readings: Readings) -> None:
    begin = datetime(2026, 3, 2)
    with store.write_atomically(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["time", *readings.columns])
        for hour, row in enumerate(readings.values):
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
        with store.write_atomically(folder / f"face_{number:02}.png") as temporary:
            temporary.write_bytes(png(picture))
