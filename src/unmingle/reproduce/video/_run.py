"""The video experiment: the figure of the paper, masks against OpenCV's, and lamps that are switched."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...iterate import Callback, Progress
from ...store import write_atomically
from .._missing import DataMissing
from ._data import (
    HALL,
    HIGHWAY,
    LOBBY,
    SCENES,
    Bytes,
    Film,
    find_film,
    make_scene,
    read_hall,
    read_highway,
    read_lobby,
)
from ._hall import N_TEST, N_TRAIN, STEPS, TRAINED, Hall, hall
from ._lobby import FULL, find_switches, settling, shares
from ._masks import FIRST_SCORED, Record, mask_table, race
from ._rivals import WITHOUT_OPENCV, Mask, lobby_rivals, one_thread, opencv, rivals

SEEDS = (0, 1, 2)


class Strip(NamedTuple):
    """A frame of a film and its masks."""

    frame: Bytes
    truth: Bytes
    masks: dict[str, Mask]


class VideoFindings(NamedTuple):
    """What the experiment found."""

    figures: dict[str, Any]
    """Plain numbers."""
    hall: Hall | None
    strips: dict[str, Strip]
    """By film."""


class _Tally:
    """Counts what is done and tells it."""

    def __init__(self, total: int, callback: Callback | None) -> None:
        self.done, self.total, self.callback = 0, total, callback

    def __call__(self, more: int) -> None:
        self.done += more
        if self.callback is not None:
            self.callback(Progress(min(self.done, self.total), self.total))


def video(
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
        Called with how much is done and how much there is: training steps and frames.
    """
    film, lobby, highway = _read(folder, HALL, read_hall), _read(folder, LOBBY, read_lobby), _read_highway(folder)
    missing = [name for name, found in ((HALL, film), (LOBBY, lobby), (HIGHWAY, highway)) if found is None]
    if len(missing) == 3:
        raise DataMissing(
            f"{folder} holds no films: expected {', '.join(missing)}, in it or in its sub-folder video; point to such "
            "a folder with --data or UNMINGLE_DATA."
        )
    if film is not None and len(film) < N_TRAIN + N_TEST:
        raise DataMissing(f"{HALL} holds {len(film)} frames; {N_TRAIN + N_TEST} are needed.")
    tally = _Tally(
        (len(TRAINED) * max_steps if film is not None else 0)
        + (len(lobby) if lobby is not None else 0)
        + (len(highway.frames) if highway is not None else 0)
        + len(SCENES) * len(seeds) * scene_size[0],
        callback,
    )
    tally(0)
    cv2 = opencv()
    taken = None if film is None else hall(film, max_steps=max_steps, advance=tally)
    with one_thread(cv2):
        races, strips = _races(highway, seeds, scene_size, cv2, tally)
        lamps = None if lobby is None else _lamps(lobby, cv2, tally)
    figures = {
        "missing": missing,
        "opencv": None if cv2 is None else cv2.__version__,
        "remark": WITHOUT_OPENCV if cv2 is None else "",
        "hall": None if taken is None else taken.figures,
        "masks": {"first_scored": FIRST_SCORED, "seeds": list(seeds), "films": list(races), "rows": mask_table(races)},
        "lobby": lamps,
    }
    with write_atomically(Path(out) / "video.json") as aside:
        aside.write_text(json.dumps(figures, indent=1))
    return VideoFindings(figures, taken, strips)


def _read(folder: str | Path, name: str, read: Callable[[Path], Bytes]) -> Bytes | None:
    path = find_film(folder, name)
    return None if path is None else read(path)


def _read_highway(folder: str | Path) -> Film | None:
    path = find_film(folder, HIGHWAY)
    return None if path is None else read_highway(path)


def _races(
    highway: Film | None, seeds: Sequence[int], scene_size: tuple[int, int, int], cv2: Any, tally: _Tally
) -> tuple[dict[str, list[dict[str, Record]]], dict[str, Strip]]:
    """Records of all methods on all films, and one frame of each film."""
    races: dict[str, list[dict[str, Record]]] = {}
    strips = {}
    for name, seed in [("highway", None)] * (highway is not None) + [(name, seed) for name in SCENES for seed in seeds]:
        film = make_scene(name, seed, *scene_size) if seed is not None else highway
        assert film is not None
        first = min(FIRST_SCORED, len(film.frames) // 2)
        shown = film.busiest(first)
        records = race(film, rivals(cv2), first=first, show=shown, advance=tally)
        races.setdefault(name, []).append(records)
        if name not in strips:
            masks = {method: record.shown for method, record in records.items() if record.shown is not None}
            strips[name] = Strip(film.frames[shown], film.truth[shown], masks)
    return races, strips


def _lamps(frames: Bytes, cv2: Any, tally: _Tally) -> dict[str, Any]:
    switches = find_switches(frames)
    found = shares(frames, lobby_rivals(cv2), tally)
    return {
        "full": FULL,
        "switches": switches,
        "methods": {name: settling(share, switches) for name, share in found.items()},
        "shares": found,
    }
