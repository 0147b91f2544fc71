"""What `unmingle reproduce` does: experiments of the paper on one's own copy of the data."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._validation import require
from ..store import write_atomically

Advance = Callable[[int, int], None]


def data_folder(given: Path | None) -> Path:
    """The folder with the data: that of the option, or of the variable UNMINGLE_DATA."""
    from ..reproduce import DataMissing

    folder = given or (Path(os.environ["UNMINGLE_DATA"]) if os.environ.get("UNMINGLE_DATA") else None)
    if folder is None:
        raise DataMissing("No data: say where they are with --data FOLDER or in the variable UNMINGLE_DATA.")
    if not folder.is_dir():
        raise DataMissing(f"{folder} is no folder; say where the data are with --data FOLDER or in UNMINGLE_DATA.")
    return folder


def table1(folder: Path, out: Path, steps: int, jobs: int, advance: Advance) -> dict[str, Any]:
    """Table 1; returns the costs of all cells, with the exact ones."""
    from .. import reproduce

    _need_what_it_needs()
    result = reproduce.table1(reproduce.read_faces(folder), out, steps=steps, n_jobs=jobs, callback=advance)
    _write(out / "table1.html", reproduce.table1_page(result))
    return result


def online(folder: Path, out: Path, steps: int, advance: Advance) -> dict[str, Any]:
    """Faces in the order of time; returns the mean costs."""
    from .. import reproduce

    _need_what_it_needs()
    faces = [face_set for face_set in reproduce.read_faces(folder) if face_set.person is None]
    if not faces:
        raise reproduce.DataMissing(f"{folder} holds no faces of one person in the order of time.")
    result = reproduce.online_faces(faces[0], out, steps=steps, callback=advance)
    _write(out / "online.html", reproduce.online_page(result))
    return result


def _need_what_it_needs() -> None:
    """Fail now, not after hours, if an optional package is missing."""
    require("torch", "train")
    require("matplotlib", "plot")


def _write(path: Path, page: str) -> None:
    with write_atomically(path) as aside:
        aside.write_text(page, encoding="utf-8")
