"""What `unmingle reproduce` does: experiments of the paper on one's own copy of the data."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._validation import require
from ..iterate import Callback
from ..store import write_atomically

Table = tuple[list[str], list[list[str]]]


def data_folder(given: Path | None) -> Path:
    """The folder with the data: that of the option, or of the variable UNMINGLE_DATA."""
    from ..reproduce import DataMissing

    folder = given or (Path(os.environ["UNMINGLE_DATA"]) if os.environ.get("UNMINGLE_DATA") else None)
    if folder is None:
        raise DataMissing("No data: say where they are with --data FOLDER or in the variable UNMINGLE_DATA.")
    if not folder.is_dir():
        raise DataMissing(f"{folder} is no folder; say where the data are with --data FOLDER or in UNMINGLE_DATA.")
    return folder


def table1(folder: Path, out: Path, max_steps: int, jobs: int, callback: Callback) -> dict[str, Any]:
    """Table 1; returns the costs of all cells, with the exact ones."""
    from .. import reproduce

    _need_what_it_needs()
    result = reproduce.table1(reproduce.read_faces(folder), out, max_steps=max_steps, n_jobs=jobs, callback=callback)
    _write(out / "table1.html", reproduce.table1_page(result))
    return result


def online(folder: Path, out: Path, max_steps: int, callback: Callback) -> dict[str, Any]:
    """Faces in the order of time; returns the mean costs."""
    from .. import reproduce

    _need_what_it_needs()
    faces = [face_set for face_set in reproduce.read_faces(folder) if face_set.person is None]
    if not faces:
        raise reproduce.DataMissing(f"{folder} holds no faces of one person in the order of time.")
    result = reproduce.online_faces(faces[0], out, max_steps=max_steps, callback=callback)
    _write(out / "online.html", reproduce.online_page(result))
    return result


def video(folder: Path, out: Path, max_steps: int, callback: Callback) -> dict[str, Any]:
    """The figure on video, masks, and lamps; returns all numbers."""
    from .. import reproduce

    _need_what_it_needs()
    findings = reproduce.video(folder, out, max_steps=max_steps, callback=callback)
    if findings.hall is not None:
        with write_atomically(out / "video_hall.png") as aside:
            aside.write_bytes(reproduce.hall_png(findings.hall))
    _write(out / "video.html", reproduce.video_page(findings))
    return findings.figures


def tables(experiment: str, result: Mapping[str, Any]) -> list[Table]:
    """The results in short."""
    return {"table1": _table1_tables, "online": _online_tables, "video": _video_tables}[experiment](result)


def _table1_tables(result: Mapping[str, Any]) -> list[Table]:
    deepest = str(max(result["settings"]["layers"]))
    found = []
    for name, splits in result["sets"].items():
        for split, entry in splits.items():
            rows = [[f"{method}, {deepest} layers", f"{c[deepest]['f']:.4f}", f"{c[deepest]['F']:.4f}"]
                    for method, c in entry["cells"].items()]  # fmt: skip
            rows += [[f"exact, {which}", f"{c['f']:.4f}", f"{c['F']:.4f}"] for which, c in entry["exact"].items()]
            found.append(([f"{name}, split by {split}", "f", "F"], rows))
    return found


def _online_tables(result: Mapping[str, Any]) -> list[Table]:
    return [(["mean F of later faces", ""], [[name, f"{cost:.4f}"] for name, cost in result["mean_F_settled"].items()])]


def _video_tables(result: Mapping[str, Any]) -> list[Table]:
    found: list[Table] = []
    if result["hall"] is not None:
        rows = [[name, f"{100 * row['mean']:.2f} %", f"{100 * row['largest']:.2f} %"]
                for name, row in result["hall"]["errors"].items()]  # fmt: skip
        found.append((["Hall, five layers: error of the outliers", "mean", "largest"], rows))
    films = result["masks"]["films"]
    rows = [
        [name, *(_or_dash(row["films"].get(film, {}).get("f"), ".3f") for film in films),
         _or_dash(row["mean_f"], ".3f"), f"{row['frames_per_second']:.0f}"]
        for name, row in result["masks"]["rows"].items()
    ]  # fmt: skip
    found.append((["F of masks", *films, "mean", "frames/s"], rows))
    if result["lobby"] is not None:
        methods = result["lobby"]["methods"]
        rows = [[f"frame {switch}", *(_settled(lamps[number]) for lamps in methods.values())]
                for number, switch in enumerate(result["lobby"]["switches"])]  # fmt: skip
        found.append((["lamps, frames until settled", *methods], rows))
    return found


def _or_dash(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _settled(lamp: Mapping[str, Any]) -> str:
    return f"{lamp['frames']}" if lamp["settled"] else f"not in {lamp['of']}"


def _need_what_it_needs() -> None:
    """Fail now, not after hours, if an optional package is missing."""
    require("torch", "train")
    require("matplotlib", "plot")


def _write(path: Path, page: str) -> None:
    with write_atomically(path) as aside:
        aside.write_text(page, encoding="utf-8")
