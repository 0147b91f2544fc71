"""The video experiment: the figure of the paper, masks against OpenCV's, and lamps that are switched."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from unmingle.core.iterate import Callback, Progress
from unmingle.store import write_atomically

from ...data import DataMissing
from ..results import Table, write_text
from ._data import (
    HALL,
    LABELLED,
    LOBBY,
    SCENES,
    Bytes,
    Film,
    find_film,
    labelled_films,
    make_scene,
    n_labelled,
    read_hall,
    read_labelled,
    read_lobby,
)
from ._findings import Strip, VideoFindings
from ._hall import N_TEST, N_TRAIN, STEPS, TRAINED, hall
from ._lobby import FULL, find_switches, settling, shares
from ._masks import FIRST_SCORED, FilmScore, mask_table, race
from ._page import film_f, hall_png, or_dash, video_page
from ._rivals import WITHOUT_OPENCV, lobby_rivals, one_thread, opencv, rivals
from ._worst import WorstFrame, by_category, worst_frame

T = TypeVar("T")

SEEDS = (0, 1, 2)


class _WorkDone:
    """Counts what is done and tells it."""

    def __init__(self, total: int, callback: Callback | None) -> None:
        self.done, self.total, self.callback = 0, total, callback

    def __call__(self, more: int) -> None:
        self.done += more
        if self.callback is not None:
            self.callback(Progress(min(self.done, self.total), self.total))


def reproduce_video(
    folder: str | Path,
    out: str | Path,
    *,
    max_steps: int = STEPS,
    seeds: Sequence[int] = SEEDS,
    scene_size: tuple[int, int, int] = (300, 240, 320),
    callback: Callback | None = None,
) -> VideoFindings:
    """Take Hall apart as in the paper, and compare masks of several films with those of OpenCV.

    Films that are not there are left out; the made scenes always are.

    Parameters
    ----------
    folder : path
        With the films, in it or in its sub-folder ``video``.
    out : path
        Folder for ``video.json``.
    max_steps : int
        Training steps of each encoder on Hall.
    seeds : sequence of int
        Of the made scenes, which count with their mean.
    scene_size : tuple of int
        Frames, height and width of the made scenes.
    callback : callable, optional
        Called with an `unmingle.core.iterate.Progress` of training steps and frames.
    """
    films = _FoundFilms.found_in(folder)
    tally = _WorkDone(films.work(max_steps) + len(SCENES) * (len(seeds) + 1) * scene_size[0], callback)
    tally(0)
    cv2 = opencv()
    taken = None if films.hall is None else hall(films.hall, max_steps=max_steps, advance=tally)
    with one_thread(cv2):
        races, strips, worst = _races(films.labelled, seeds, scene_size, cv2, tally)
        lamps = None if films.lobby is None else _lamps(films.lobby, cv2, tally)
    figures = {
        "missing": films.missing,
        "opencv": None if cv2 is None else cv2.__version__,
        "remark": WITHOUT_OPENCV if cv2 is None else "",
        "hall": None if taken is None else taken.figures,
        "masks": {"first_scored": FIRST_SCORED, "seeds": list(seeds), "films": list(races), "rows": mask_table(races)},
        "lobby": lamps,
    }
    write_text(Path(out) / "video.json", json.dumps(figures, indent=1))
    return VideoFindings(figures, taken, strips, worst)


class _FoundFilms(NamedTuple):
    """The known films, None for those that are not there."""

    hall: Bytes | None
    lobby: Bytes | None
    labelled: dict[str, Path] | None
    """With truth; read one after the other."""

    @classmethod
    def found_in(cls, folder: str | Path) -> "_FoundFilms":
        """Read them; fail if there are none or too few frames."""
        films = cls(_read(folder, HALL, read_hall), _read(folder, LOBBY, read_lobby), labelled_films(folder) or None)
        if len(films.missing) == len(films):
            raise DataMissing(
                f"{folder} contains no films: expected {', '.join(films.missing)}, in it or in its sub-folder video; "
                "name such a folder with --data or UNMINGLE_DATA."
            )
        if films.hall is not None and len(films.hall) < N_TRAIN + N_TEST:
            raise DataMissing(f"{HALL} contains {len(films.hall)} frames; {N_TRAIN + N_TEST} are needed.")
        return films

    @property
    def missing(self) -> list[str]:
        return [name for name, film in zip((HALL, LOBBY, LABELLED), self, strict=True) if film is None]

    def work(self, max_steps: int) -> int:
        """Training steps and frames."""
        return (
            (len(TRAINED) * max_steps if self.hall is not None else 0)
            + (len(self.lobby) if self.lobby is not None else 0)
            + 2 * sum(n_labelled(path) for path in (self.labelled or {}).values())
        )


def _read(folder: str | Path, name: str, read: Callable[[Path], T]) -> T | None:
    path = find_film(folder, name)
    return None if path is None else read(path)


def _races(
    labelled: Mapping[str, Path] | None,
    seeds: Sequence[int],
    scene_size: tuple[int, int, int],
    cv2: Any,
    tally: _WorkDone,
) -> tuple[dict[str, list[dict[str, FilmScore]]], dict[str, Strip], dict[str, WorstFrame]]:
    """Records of all methods on all films, one frame of each film, and the one where we are worst."""
    races: dict[str, list[dict[str, FilmScore]]] = {}
    strips, worst = {}, {}
    for name, film in _films(labelled or {}, seeds, scene_size):
        first = min(FIRST_SCORED, len(film.frames) // 2)
        shown = film.busiest(first)
        records = race(film, rivals(cv2), first=first, show=shown, advance=tally)
        races.setdefault(name, []).append(records)
        if name not in strips:
            masks = {method: record.shown for method, record in records.items() if record.shown is not None}
            strips[name] = Strip(film.frames[shown], film.truth[shown], masks)
            worst[name] = worst_frame(film, first, tally)
    return races, strips, worst


def _films(
    labelled: Mapping[str, Path], seeds: Sequence[int], scene_size: tuple[int, int, int]
) -> Iterator[tuple[str, Film]]:
    """Films with truth, one at a time: real ones, then made ones with every seed."""
    for name, path in labelled.items():
        yield name, read_labelled(path)
    for name in SCENES:
        for seed in seeds:
            yield name, make_scene(name, seed, *scene_size)


def _lamps(frames: Bytes, cv2: Any, tally: _WorkDone) -> dict[str, Any]:
    switches = find_switches(frames)
    found = shares(frames, lobby_rivals(cv2), tally)
    return {
        "full": FULL,
        "switches": switches,
        "methods": {name: settling(share, switches) for name, share in found.items()},
        "shares": found,
    }


def run(folder: Path, out: Path, *, max_steps: int, callback: Callback | None = None) -> dict[str, Any]:
    """All films in a folder, see `lab.registry.Experiment`; the figure of the paper is in ``video_hall.png`` too."""
    findings = reproduce_video(folder, out, max_steps=max_steps, callback=callback)
    if findings.hall is not None:
        with write_atomically(out / "video_hall.png") as temporary:
            temporary.write_bytes(hall_png(findings.hall))
    write_text(out / "video.html", video_page(findings))
    return findings.figures


def tables(figures: Mapping[str, Any]) -> list[Table]:
    """Errors on Hall, F of masks, and how soon lamps are forgotten."""
    found: list[Table] = []
    if figures["hall"] is not None:
        errors = figures["hall"]["errors"].items()
        rows = [[name, f"{100 * row['mean']:.2f} %", f"{100 * row['largest']:.2f} %"] for name, row in errors]
        found.append((["Hall, five layers: error of the outliers", "mean", "largest"], rows))
    films = figures["masks"]["films"]
    rows = [
        [name, *(film_f(row, film) for film in films), or_dash(row["mean_f"], ".3f"), f"{row['frames_per_second']:.0f}"]
        for name, row in figures["masks"]["rows"].items()
    ]
    found.append(_turned(["F of masks", *films, "mean", "frames/s"], rows))
    real = [film for film in films if film not in SCENES]
    if real:
        found.append(_precision_and_recall(figures["masks"]["rows"], real))
        found.append(_turned(*by_category(figures["masks"]["rows"], films)))
    if figures["lobby"] is not None:
        methods, switches = figures["lobby"]["methods"], figures["lobby"]["switches"]
        rows = [
            [f"frame {switch}", *(_until_settled(lamps[number]) for lamps in methods.values())]
            for number, switch in enumerate(switches)
        ]
        found.append((["lamps, frames until settled", *methods], rows))
    return found


def _precision_and_recall(methods: Mapping[str, Any], films: Sequence[str]) -> Table:
    """Of the films with truth, with the mean F over them, for methods that were on all."""
    rows = []
    for name, row in methods.items():
        scores = [row["films"].get(film) for film in films]
        if all(scores):
            cells = [f"{100 * one['precision']:.0f} / {100 * one['recall']:.0f}" for one in scores]
            rows.append([name, *cells, f"{sum(one['f'] for one in scores) / len(scores):.3f}"])
    return _turned(["precision / recall, %", *films, "mean F"], rows)


def _turned(head: list[str], rows: list[list[str]]) -> Table:
    """The table with a row for each film: terminals are narrow."""
    first, *others = (list(column) for column in zip(head, *rows, strict=True))
    return first, others


def _until_settled(lamp: Mapping[str, Any]) -> str:
    return f"{lamp['frames']}" if lamp["settled"] else f"not in {lamp['of']}"
