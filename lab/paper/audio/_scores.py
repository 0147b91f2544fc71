"""What an answer is worth: cells of the table, and their means."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unmingle.metrics import bss_eval, snr
from unmingle.metrics.sound import weighted_mean

from ._clips import KnownSong
from ._rows import SeparatedClip

SOURCES = ("voice", "music")
TAPS = {"": 1, "3": 512}
"""Marks of the measures: BSS-EVAL 2.1, with a gain, and 3.0, with filters."""
MEASURES = ("nsdr", "sir", "sar", "nsdr3", "sir3", "sar3", "snr")


def cell_of(song: KnownSong, found: SeparatedClip) -> dict[str, Any]:
    """Scores of an answer: for each mask and source all measures, in decibels.

    NSDR is the SDR less that of the mixture as an estimate of the same source.
    """
    truth = np.stack([song.voice, song.music])
    estimates = np.stack([*(np.stack(stems) for stems in found.stems.values()), np.stack([song.mixture] * 2)])
    values = {"snr": snr(truth, estimates[:-1])}
    for mark, taps in TAPS.items():
        sdr, sir, sar = bss_eval(truth, estimates, taps=taps)
        values |= {f"nsdr{mark}": sdr[:-1] - sdr[-1], f"sir{mark}": sir[:-1], f"sar{mark}": sar[:-1]}
    scores = {
        variant: {
            source: {measure: float(values[measure][i, j]) for measure in MEASURES} for j, source in enumerate(SOURCES)
        }
        for i, variant in enumerate(found.stems)
    }
    return {"scores": scores, "cpu": found.seconds / song.seconds, "cost": found.cost, "seconds": song.seconds}


def summary_of(cells: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Means over clips for each mask: weighted by length, with median, 5 % and 95 %, and by singer.

    Parameters
    ----------
    cells : dict
        Of one method, by the names of the clips, which begin with those of the singers.
    """
    clips = list(cells)
    singers = [clip.split("_")[0] for clip in clips]
    variants = cells[clips[0]]["scores"]
    return {
        "clips": len(clips),
        "cpu": float(np.median([cells[clip]["cpu"] for clip in clips])),
        "masks": {
            variant: {source: _means([cells[clip]["scores"][variant][source] for clip in clips],
                                     [cells[clip]["seconds"] for clip in clips], singers)
                      for source in SOURCES}
            for variant in variants
        },
    }  # fmt: skip


def _means(scores: Sequence[Mapping[str, float]], lengths: Sequence[float], singers: Sequence[str]) -> dict[str, Any]:
    values = np.array([[score[measure] for measure in MEASURES] for score in scores])
    weights, who = np.array(lengths), np.array(singers)
    with np.errstate(invalid="ignore"):
        shares = np.percentile(values, (5, 50, 95), axis=0)
    spread = dict(zip(("5 %", "median", "95 %"), shares, strict=True))
    found = {"mean": weighted_mean(values, weights), **spread}
    by_singer = {
        singer: weighted_mean(values[who == singer], weights[who == singer]) for singer in sorted(set(singers))
    }
    return {
        "overall": {name: _named(row) for name, row in found.items()},
        "singers": {singer: _named(row) for singer, row in by_singer.items()},
    }


def _named(values: Any) -> dict[str, float | None]:
    """Measures by their names; None where they are not finite, as those of the mixture itself."""
    return {name: float(value) if np.isfinite(value) else None for name, value in zip(MEASURES, values, strict=True)}
