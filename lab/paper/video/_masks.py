"""Masks of films with known truth: F, precision, recall and frames a second."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from time import process_time
from typing import Any

from unmingle.metrics import MaskCounts

from ._data import Advance, Film
from ._rivals import MEDIAN, REFERENCE, Mask, Rival, seen

FIRST_SCORED = 100
"""Frames before count neither for F nor for speed."""
BLOCK = 20
"""Frames that a method gets before the next one's turn."""


@dataclass
class FilmScore:
    """How a method did on one film."""

    counts: MaskCounts = field(default_factory=MaskCounts)
    seconds: list[float] = field(default_factory=list)
    """CPU time for a frame, of each block."""
    shown: Mask | None = None
    """The mask of the frame that is shown."""


def race(
    film: Film,
    rivals: Sequence[Rival],
    *,
    first: int = FIRST_SCORED,
    show: int | None = None,
    advance: Advance | None = None,
) -> dict[str, FilmScore]:
    """Let methods find masks, in turns, a block of frames each; blocks before the first scored frame do not count.

    Parameters
    ----------
    film : Film
        With truth.
    rivals : list of Rival
        The methods; those that need colours are left out where there are none.
    first : int
        The first frame that is scored.
    show : int, optional
        The frame whose masks are kept.
    advance : callable, optional
        Called with the number of frames done since the last call.
    """
    watching = {
        rival.name: rival.begin()
        for rival in rivals
        if rival.view in ("grey", "grey as colour") or film.colours is not None
    }
    records: dict[str, FilmScore] = defaultdict(FilmScore)
    edges = sorted({*range(0, len(film.frames), BLOCK), min(first, len(film.frames))})
    for start, end in zip(edges, [*edges[1:], len(film.frames)], strict=True):
        block = film.frames[start:end], None if film.colours is None else film.colours[start:end]
        for rival in rivals:
            frames = seen(rival.view, *block)
            if frames is None:
                continue
            masks, cpu = _timed(watching[rival.name], frames)
            found = {rival.name: (masks, cpu)}
            if rival.cleaned_by is not None:
                cleaned, more = _timed(rival.cleaned_by, masks)
                found[rival.name + MEDIAN] = cleaned, cpu + more
            for name, (these, seconds) in found.items():
                _note(records[name], film, start, these, seconds / (end - start), first, show)
        if advance is not None:
            advance(end - start)
    return dict(records)


def _timed(work: Callable[[Any], Mask], items: Any) -> tuple[list[Mask], float]:
    begin = process_time()
    done = [work(item) for item in items]
    return done, process_time() - begin


def _note(
    record: FilmScore, film: Film, start: int, masks: list[Mask], seconds: float, first: int, show: int | None
) -> None:
    if show is not None and start <= show < start + len(masks):
        record.shown = masks[show - start]
    if start < first:
        return
    record.seconds.append(seconds)
    for mask, truth in zip(masks, film.truth[start : start + len(masks)], strict=True):
        record.counts += MaskCounts.of(mask, truth, labels=film.labels)


def mask_table(races: Mapping[str, Sequence[Mapping[str, FilmScore]]]) -> dict[str, dict[str, Any]]:
    """One row for each method: how it did on each film, the mean, and how that compares with MOG2 + median.

    Parameters
    ----------
    races : mapping of str to list
        By the name of a film, the records of all methods: one for each seed.

    Returns
    -------
    dict
        By method: ``films`` with F, precision and recall, means over the seeds; ``mean_f`` over the films, None if it
        was not on all of them; ``times_reference``, that over the one of the reference; ``frames_per_second``;
        ``speed``, how many times faster than the reference, the median over all blocks.
    """
    names = list(dict.fromkeys(name for runs in races.values() for run in runs for name in run))
    rows = {name: _row(name, races) for name in names}
    reference = rows.get(REFERENCE)
    for row in rows.values():
        comparable = reference is not None and row["mean_f"] is not None
        row["times_reference"] = row["mean_f"] / reference["mean_f"] if reference is not None and comparable else None
    return rows


def _row(name: str, races: Mapping[str, Sequence[Mapping[str, FilmScore]]]) -> dict[str, Any]:
    films = {film: _scores([run[name] for run in runs]) for film, runs in races.items() if name in runs[0]}
    here = [run for runs in races.values() for run in runs if name in run]
    seconds = [block for run in here for block in run[name].seconds]
    pairs = [
        theirs / own
        for run in here
        if REFERENCE in run
        for own, theirs in zip(run[name].seconds, run[REFERENCE].seconds, strict=True)
    ]
    return {
        "films": films,
        "mean_f": fmean(scores["f"] for scores in films.values()) if len(films) == len(races) else None,
        "frames_per_second": 1.0 / median(seconds),
        "speed": median(pairs) if pairs else None,
    }


def _scores(records: Sequence[FilmScore]) -> dict[str, Any]:
    found = [record.counts.f_measure for record in records]
    means = {name: fmean(getattr(one, name) for one in found) for name in ("f", "precision", "recall")}
    return {**means, "seeds": [one.f for one in found]}
