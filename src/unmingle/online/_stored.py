"""What a file holds of a tracker."""

from typing import Any

from .._schema import FLOATS, LEAST, Array, Count, Either, Flag, Number, OneOf, Record
from ._noise import Pace

_AMOUNT = Number(0.0, 1e300)
_LARGEST_ROOT = 2.0**520
"""No data are larger: their entries are squares of it."""
_WORD = Count(0, 2**128 - 1)

TRACKER = Record(
    {
        "components": Array(FLOATS, "q", "m", alike="stream"),
        "code": Array(FLOATS, "q", alike="stream"),
        "waiting": Array(FLOATS, "waiting", "m", nan=True, alike="stream"),
        "reach": Array(("float64",), "m", low=1.0),
        "A": Array(("float64",), "q", "q"),
        "B": Array(FLOATS, "q", ("m", 0)),
        "start_size": Count(1),
        "starting": Flag(),
        "solved_at": Count(),
        "doubt": Count(),
        "root": Either(OneOf(0.0), Number(1 / _LARGEST_ROOT, _LARGEST_ROOT)),
        "pace": Record({"noise": _AMOUNT, "floor": _AMOUNT, "least_noise": _AMOUNT, "age": _AMOUNT}),
        "step_penalty": _AMOUNT,
        "unbalanced": Count(),
        "n_seen": Count(),
        "n_jumps": Count(),
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


def check_state(content: dict[str, Any], pace: Pace) -> None:
    """Refuse a tracker that has nothing to follow with, or that waits for samples that are there."""
    started = not content["starting"]
    if started and not (len(content["components"]) and min(pace.noise, pace.least_noise, pace.age) >= LEAST):
        raise ValueError("a stream that has started needs components, a noise level and an age")
    if not started and len(content["waiting"]) >= content["start_size"]:
        raise ValueError("a stream that is starting has fewer samples than it waits for")
