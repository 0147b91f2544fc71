"""The audio experiment: all rows on all clips, in parallel, and on from where it was broken off."""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from unmingle import __version__
from unmingle.apps.audio import Method
from unmingle.apps.audio.settings import SHIPPED
from unmingle.apps.audio.training.plain import PLAIN
from unmingle.core.iterate import Callback, Progress

from ..results import KeptCells, Table, write_text
from ._clips import Clip, ClipSplit, find_clips
from ._learners import WITHOUT_TORCH, Learners
from ._page import audio_page, short_rows, verdict_rows
from ._rows import MIXTURE, ROWS, UNTRAINED, answer
from ._scores import cell_of, summary_of
from ._verdicts import verdicts_of

STEPS = 1000


def reproduce_audio(
    folder: str | Path, out: str | Path, *, max_steps: int = STEPS, n_jobs: int = -1, callback: Callback | None = None
) -> dict[str, Any]:
    """Take all test clips apart by all methods, and keep each cell in a file as soon as it is done.

    Parameters
    ----------
    folder : path
        With the clips, see `find_clips`.
    out : path
        Folder for ``audio.json``, ``audio.jsonl`` with the cells, and the encoders.
    max_steps : int
        Training steps of each row that learns here.
    n_jobs : int
        Processes, each with one thread; -1 for as many as processors.
    callback : callable, optional
        Called with an `unmingle.core.iterate.Progress` of the cells.

    Returns
    -------
    dict
        Settings, means of all rows, and what the project demands of them.
    """
    from joblib import Parallel, delayed, parallel_config

    clips, out = find_clips(folder), Path(out)
    learners = Learners(clips.train, out, max_steps)
    rows, remark = _rows()
    keys = {(row, clip): _key(row, clip, learners) for row in rows for clip in clips.test}
    kept = KeptCells(out / "audio.jsonl")
    missing = [cell for cell, key in keys.items() if key not in kept]
    with parallel_config("loky", inner_max_num_threads=1):
        tasks = _tasks(missing, learners)
        done = Parallel(n_jobs, return_as="generator_unordered")(delayed(_work)(*task) for task in tasks)
        for count, (row, clip, cell) in enumerate(done, start=len(keys) - len(missing) + 1):
            kept.add(keys[row, clip], cell)
            if callback is not None:
                callback(Progress(count, len(keys)))
    cells = {row: {clip.name: kept[keys[row, clip]] for clip in clips.test} for row in rows}
    result = {
        "settings": _settings(clips, max_steps),
        "remark": remark,
        "rows": {row: summary_of(found) for row, found in cells.items()},
        "verdicts": verdicts_of(cells),
    }
    write_text(out / "audio.json", json.dumps(result, indent=1))
    return result


def _rows() -> tuple[list[str], str]:
    """The rows that can be had here, and a remark on those that cannot."""
    if find_spec("torch") is not None:
        return [MIXTURE, *ROWS], ""
    left_out = [name for name, row in ROWS.items() if row.learned and name not in (UNTRAINED, *SHIPPED)]
    return [MIXTURE, *(name for name in ROWS if name not in left_out)], WITHOUT_TORCH


def _tasks(missing: Sequence[tuple[str, Clip]], learners: Learners) -> Iterator[tuple[str, Clip, dict[str, Method]]]:
    """What is to be done; a row learns when its first cell comes."""
    row, learned = "", dict[str, Method]()
    for name, clip in missing:
        if name != row:
            row, learned = name, {name: learners[name]} if name in learners else {}
        yield name, clip, learned


def _work(row: str, clip: Clip, learned: Mapping[str, Method]) -> tuple[str, Clip, dict[str, Any]]:
    song = clip.read()
    return row, clip, cell_of(song, answer(row, song, learned))


def _key(row: str, clip: Clip, learners: Learners) -> str:
    """All that a cell depends on."""
    settings = ROWS[row].settings if row in ROWS else ""
    origin = learners.origin(row) if row in learners else ""
    return f"{row}; {settings}; {clip.described()}; {origin}; unmingle {__version__}"


def _settings(clips: ClipSplit, max_steps: int) -> dict[str, Any]:
    return {
        "steps": max_steps,
        "step_size": PLAIN.step_size,
        "components": PLAIN.n_components,
        "layers": PLAIN.n_layers,
        "frames": PLAIN.frames,
        "rank_penalty": PLAIN.rank_penalty,
        "outlier_penalty": PLAIN.outlier_penalty,
        "train": len(clips.train),
        "test": len(clips.test),
        "singers": sorted({clip.singer for clip in clips.test}),
        "training_singers": sorted({clip.singer for clip in clips.train}),
    }


def run(
    folder: Path, out: Path, *, max_steps: int, n_jobs: int = -1, callback: Callback | None = None
) -> dict[str, Any]:
    """The table of all clips in a folder, see `lab.registry.Experiment`."""
    result = reproduce_audio(folder, out, max_steps=max_steps, n_jobs=n_jobs, callback=callback)
    write_text(out / "audio.html", audio_page(result))
    return result


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Means of the voice, and what is demanded of the exact row."""
    return [short_rows(result), verdict_rows(result)]
