"""What is demanded of the exact row: a cost not above that of the plain method, and a tolerance that is enough."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from unmingle.metrics.sound import weighted_mean

from ._rows import ADMOM, EXACT, TIGHTER

ENOUGH = 0.05
"""Decibels by which a tolerance ten times tighter may change a mean."""


def verdicts_of(cells: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Costs of (1) over those of the plain method, and changes of means by a tighter tolerance.

    Parameters
    ----------
    cells : dict
        Of all rows, by row and clip.
    """
    ours, plain, tighter = cells[EXACT], cells[ADMOM], cells[TIGHTER]
    ratios = np.array([ours[clip]["cost"] / plain[clip]["cost"] for clip in ours])
    lengths = [ours[clip]["seconds"] for clip in ours]
    changes = {
        mask: float(weighted_mean([tighter[clip]["scores"][mask]["voice"]["nsdr"] - _voice(ours[clip], mask)
                                   for clip in ours], lengths))
        for mask in next(iter(ours.values()))["scores"]
    }  # fmt: skip
    return {
        "clips": len(ratios),
        "not_above_plain": int(np.count_nonzero(ratios <= 1)),
        "largest_ratio": float(ratios.max()),
        "mean_ratio": float(ratios.mean()),
        "changes": changes,
        "enough": ENOUGH,
    }


def _voice(cell: Mapping[str, Any], mask: str) -> float:
    return float(cell["scores"][mask]["voice"]["nsdr"])
