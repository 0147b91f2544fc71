"""What a file holds of a tracker."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._rules import FLOATS, LEAST, ArrayOf, Count, Either, Flag, Number, OneOf, Record
from ..linalg.units import Units
from .dictionary import Dictionary
from .noise import NoiseTracker
from .statistics import Statistics

if TYPE_CHECKING:
    from .tracker import Tracker

_AMOUNT = Number(0.0, 1e300)
_LARGEST_ROOT = 2.0**520
"""No data are larger: their entries are squares of it."""
_WORD = Count(0, 2**128 - 1)

TRACKER = Record(
    {
        "components": ArrayOf(FLOATS, "q", "m", alike="stream"),
        "code": ArrayOf(FLOATS, "q", alike="stream"),
        "waiting": ArrayOf(FLOATS, "waiting", "m", nan=True, alike="stream"),
        "reach": ArrayOf(("float64",), "m", low=1.0),
        "A": ArrayOf(("float64",), "q", "q"),
        "B": ArrayOf(FLOATS, "q", ("m", 0)),
        "start_size": Count(1),
        "starting": Flag(),
        "solved_at": Count(),
        "doubt": Count(),
        "unit_root": Either(OneOf(0.0), Number(1 / _LARGEST_ROOT, _LARGEST_ROOT)),
        "step_penalty": _AMOUNT,
        "unbalanced": Count(),
        "n_seen": Count(),
        "n_jumps": Count(),
        "noise": Record({"level": _AMOUNT, "floor": _AMOUNT, "least": _AMOUNT, "age": Number(0.0, 2.0**53)}),
        "weight": _AMOUNT,
        "decay": Number(0.0, 1.0),
        "rng": Record(
            {
                "bit_generator": OneOf("PCG64"),
                "state": Record({"state": _WORD, "inc": _WORD}),
                "has_uint32": Flag(),
                "uinteger": Count(0, 2**32 - 1),
            }
        ),
    }
)
NONNEGATIVE_TRACKER = Record(
    {
        **TRACKER.rules,
        "components": ArrayOf(FLOATS, "q", "m", low=0.0, alike="stream"),
        "code": ArrayOf(FLOATS, "q", low=0.0, alike="stream"),
        "waiting": ArrayOf(FLOATS, "waiting", "m", low=0.0, nan=True, alike="stream"),
        "A": ArrayOf(("float64",), "q", "q", low=0.0),
        "B": ArrayOf(FLOATS, "q", "m"),
    }
)
_PLAIN = ("start_size", "starting", "solved_at", "doubt", "n_seen", "n_jumps", "waiting", "reach")
"""Fields of a tracker that a file holds under the same name."""


def to_store(tracker: "Tracker") -> dict[str, Any]:
    """All of a tracker."""
    noise, dictionary = tracker.noise, tracker.dictionary
    return {name: getattr(tracker, name) for name in _PLAIN} | {
        "unit_root": 0.0 if tracker.units is None else tracker.units.root,
        "noise": asdict(noise),
        "step_penalty": dictionary.step_penalty,
        "unbalanced": dictionary.unbalanced,
        "components": dictionary.components,
        "code": dictionary.code,
        **dictionary.statistics._asdict(),
        "rng": tracker.rng.bit_generator.state,
    }


def from_store(values: dict[str, Any], kind: str) -> dict[str, Any]:
    """The fields of a tracker with dictionary steps of some kind, from what `to_store` gave."""
    noise = NoiseTracker(**values["noise"])
    _check(values, noise)
    sums = Statistics(*(values[name] for name in Statistics._fields))
    rng = np.random.default_rng()
    rng.bit_generator.state = values["rng"]
    return {name: values[name] for name in _PLAIN} | {
        "rng": rng,
        "dictionary": Dictionary(
            values["components"], sums, values["code"], kind, values["step_penalty"], values["unbalanced"]
        ),
        "noise": noise,
        "units": Units(values["unit_root"]) if values["unit_root"] else None,
    }


def _check(values: dict[str, Any], noise: NoiseTracker) -> None:
    """Refuse a tracker that has nothing to follow with, or that waits for samples that are there."""
    started = not values["starting"]
    if started and not (len(values["components"]) and min(noise.level, noise.least, noise.age) >= LEAST):
        raise ValueError("a stream that has started needs components, a noise level and an age")
    if not started and len(values["waiting"]) >= values["start_size"]:
        raise ValueError("a stream that is starting has fewer samples than it waits for")
