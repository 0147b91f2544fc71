"""What files hold of learnt alignments."""

from dataclasses import replace
from typing import Any

from .._rules import FLOATS, ArrayOf, Count, Number, OneOf, Record, maybe
from ..core.online.statistics import Statistics
from .families import FAMILIES, AlignedFrame
from .learning import Learned
from .pyramid import places_at
from .search import Model
from .starts import Pose

LONGEST = 2**15
"""Pixels of a frame along an axis."""
SHAPE = {"height": Count(1, LONGEST), "width": Count(1, LONGEST)}
_MOST = 1e6
"""Pixels are at most 1, and frames at most 2^15 of them wide: no number is near this."""
LEARNED = Record(
    {
        "family": OneOf(*FAMILIES),
        **SHAPE,
        "components": ArrayOf(("float32",), "q", "all", low=-_MOST, high=_MOST),
        "code": ArrayOf(("float32",), "q", low=-_MOST, high=_MOST),
        **dict.fromkeys(("rank_penalty", "outlier_penalty", "usual", "dear"), Number(1 / _MOST, _MOST)),
        "A": ArrayOf(("float64",), "q", "q", low=-(_MOST**2), high=_MOST**2),
        "B": ArrayOf(FLOATS, "q", "all", low=-(_MOST**2), high=_MOST**2),
        "weight": Number(0.0, _MOST**2),
        "decay": Number(0.0, 1.0),
        "side": Number(1 / _MOST, _MOST),
        "landmarks": maybe(ArrayOf(("float64",), "k", 2, low=-_MOST, high=_MOST)),
    }
)
"""The rules of `learned_to_store`."""


def learned_to_store(learned: Learned) -> dict[str, Any]:
    """Give the tree of a learnt alignment."""
    model, (A, B, weight, decay), (side, landmarks) = learned
    return {
        "family": model.family,
        "height": model.frame.height,
        "width": model.frame.width,
        "components": model.components,
        "code": model.code,
        "rank_penalty": model.rank_penalty,
        "outlier_penalty": model.outlier_penalty,
        "usual": model.usual,
        "dear": model.costly,
        "A": A,
        "B": B,
        "weight": weight,
        "decay": decay,
        "side": side,
        "landmarks": landmarks,
    }


def learned_from_store(content: dict[str, Any]) -> Learned:
    """Take it back."""
    frame = AlignedFrame(content["height"], content["width"])
    if content["components"].shape[1] != frame.height * frame.width + sum(places_at(frame)):
        raise ValueError(f"components should have columns for a frame of {frame.height} x {frame.width} pixels")
    plan = Model.plan(frame, content["family"], content["rank_penalty"], content["outlier_penalty"])
    model = replace(
        plan, components=content["components"], code=content["code"], usual=content["usual"], costly=content["dear"]
    )
    statistics = Statistics(content["A"], content["B"], content["weight"], content["decay"])
    return Learned(model, statistics, Pose(content["side"], content["landmarks"]))
