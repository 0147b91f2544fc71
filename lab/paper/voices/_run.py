"""The experiment on networks for voices: each cell is one network, trained without some songs and judged by them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unmingle import __version__
from unmingle.apps.audio.training.judging import Fold, folds, mean_nsdr, scores
from unmingle.apps.audio.training.stems import StemPair
from unmingle.apps.audio.training.train import data_digest
from unmingle.core.iterate import Callback, Progress

from ..audio import Clip, find_clips
from ..results import KeptCells, Table, write_text
from ..voice_networks import ABLATIONS, OURS, RIVALS, Candidate, TrialMethod, trained
from ._page import ablation_rows, rival_rows, voices_page

SEEDS = (0, 1, 2)
SONGS = "songs"


class _CellPlan(NamedTuple):
    """One network that is to be trained."""

    name: str
    left_out: str
    seed: int

    def key(self, steps: int, data: str) -> str:
        """All that a cell depends on."""
        return f"{self!r}; {_candidate(self.name)!r}; {steps} steps; {data[:16]}; unmingle {__version__}"


def _candidate(name: str) -> Candidate:
    return RIVALS[name] if name in RIVALS else ABLATIONS[name]


def reproduce_voices(
    folder: str | Path, out: str | Path, *, max_steps: int, n_jobs: int = -1, callback: Callback | None = None
) -> dict[str, Any]:
    """Train all networks on the training clips less some, and judge them by those; each cell is kept when it is done.

    Parameters
    ----------
    folder : path
        With the clips, see `lab.paper.audio.find_clips`; those of the test are not read.
    out : path
        Folder for ``voices.json`` and ``voices.jsonl`` with the cells.
    max_steps : int
        Training steps of each network.
    n_jobs : int
        Processes, each with one thread; -1 for as many as processors.
    callback : callable, optional
        Called with an `unmingle.core.iterate.Progress` of the cells.

    Returns
    -------
    dict
        Settings, and for each network what it reached, by what was left out and by seed.
    """
    from joblib import Parallel, delayed, parallel_config

    clips, out = find_clips(folder).train, Path(out)
    pairs = [clip.pair() for clip in clips]
    plans, data = _plans(pairs), data_digest(pairs, ())
    kept = KeptCells(out / "voices.jsonl")
    missing = [plan for plan in plans if plan.key(max_steps, data) not in kept]
    with parallel_config("loky", inner_max_num_threads=1):
        done = Parallel(n_jobs, return_as="generator_unordered")(
            delayed(_cell)(plan, clips, max_steps) for plan in missing
        )
        for count, (plan, cell) in enumerate(done, start=len(plans) - len(missing) + 1):
            kept.add(plan.key(max_steps, data), cell)
            if callback is not None:
                callback(Progress(count, len(plans)))
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for plan in plans:
        cells = found.setdefault(plan.name, {}).setdefault(plan.left_out, {})
        cells[str(plan.seed)] = kept[plan.key(max_steps, data)]
    singers = sorted({pair.source.singer for pair in pairs})
    result = {"settings": {"steps": max_steps, "clips": len(pairs), "singers": singers}, "networks": found}
    write_text(out / "voices.json", json.dumps(result, indent=1))
    return result


def _plans(pairs: Sequence[StemPair]) -> list[_CellPlan]:
    """Rivals first, seed by seed: what is done early can be compared."""
    singers = sorted({pair.source.singer for pair in pairs})
    rivals = [_CellPlan(name, left, seed) for seed in SEEDS for left in (SONGS, *singers) for name in RIVALS]
    return rivals + [_CellPlan(name, SONGS, seed) for seed in SEEDS for name in ABLATIONS]


def _cell(plan: _CellPlan, clips: Sequence[Clip], steps: int) -> tuple[_CellPlan, dict[str, Any]]:
    """Train one network and judge it."""
    (fold,) = folds([clip.pair() for clip in clips], plan.left_out, plan.seed)
    method = trained(_candidate(plan.name), fold.kept, steps, plan.seed)
    return plan, {"weights": method.n_weights, **_judged(method, fold)}


def _judged(method: TrialMethod, fold: Fold) -> dict[str, Any]:
    """NSDR of the songs left out, and of as many that it has learnt from."""
    known = [fold.kept[i] for i in np.linspace(0, len(fold.kept) - 1, min(20, len(fold.kept))).astype(int)]
    return {"left_out": mean_nsdr(scores(method, fold.judged)), "known": mean_nsdr(scores(method, known))}


def run(
    folder: Path, out: Path, *, max_steps: int, n_jobs: int = -1, callback: Callback | None = None
) -> dict[str, Any]:
    """Compare the networks, see `lab.registry.Experiment`."""
    result = reproduce_voices(folder, out, max_steps=max_steps, n_jobs=n_jobs, callback=callback)
    write_text(out / "voices.html", voices_page(result))
    return result


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Both comparisons."""
    return [rival_rows(result), ablation_rows(result, OURS)]
