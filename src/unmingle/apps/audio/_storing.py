"""Streams of sound to what a file holds, and back."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..._rules import ArrayOf, Count, Flag, Number, OneOf, Record, Rule, maybe
from ._engine import Stems
from ._level import Level
from ._methods import METHODS
from ._samples import LOUDEST, MOST_CHANNELS
from ._stft import HIGHEST, LOWEST, Frames

if TYPE_CHECKING:
    from ._stream import Stream

S = TypeVar("S", bound="Stream")

KIND = "AudioStream"
STREAMING = tuple(name for name, kind in METHODS.items() if kind.streams)
_SETTINGS: dict[str, Rule] = {
    "rate": Number(LOWEST, HIGHEST),
    "channels": Count(1, MOST_CHANNELS),
    "low_latency": Flag(),
    "high_pass": maybe(Number(0.0, HIGHEST)),
}


_LOUDEST_BIN = 1e6 * LOUDEST
"""Magnitudes of spectra at most, and sums of a few frames."""


def _samples(count: str) -> Rule:
    return ArrayOf(("float32",), count, "channels", low=-_LOUDEST_BIN, high=_LOUDEST_BIN)


def to_store(stream: "Stream") -> dict[str, Any]:
    """What a file holds, from which `restored` makes the stream again."""
    engine = stream._engine
    return {
        "settings": {name: getattr(stream, name) for name in _SETTINGS},
        "method": stream.method.name,
        "state": stream.method._to_store(),
        "level": asdict(stream._level),
        "early": engine.early,
        "held": engine.analysis.held,
        "tail": engine.synthesis.tail,
        "sound": engine.sound,
        "voice": stream._out.voice,
        "music": stream._out.music,
    }


def schema_of(content: dict[str, Any]) -> Record:
    """The schema of a file."""
    method = content.get("method")
    kind = METHODS[method] if method in STREAMING else METHODS[STREAMING[0]]
    return Record(
        {
            "settings": Record(_SETTINGS),
            "method": OneOf(*STREAMING),
            "state": kind._schema(content.get("state")),
            "level": Record({"power": Number(0.0, _LOUDEST_BIN**2), "age": Count()}),
            "early": Count(),
            **{name: _samples(name) for name in ("held", "tail", "sound")},
            **{name: _samples("out") for name in ("voice", "music")},
        }
    )


def restored(kind: type[S], content: dict[str, Any]) -> S:
    """The stream that was stored; whatever does not fit together raises an error."""
    settings = content["settings"]
    _check_sizes(Frames.of(settings["rate"], low_latency=settings["low_latency"]), content)
    method = METHODS[content["method"]]._from_store(content["state"])
    stream = kind(**settings, method=method)
    stream._level = Level(**content["level"])
    stream._start()
    engine = stream._engine
    engine.early = int(content["early"])
    engine.analysis.held, engine.synthesis.tail = content["held"].copy(), content["tail"].copy()
    engine.sound = content["sound"].copy()
    stream._out = Stems(content["voice"].copy(), content["music"].copy())
    return stream


def _check_sizes(frames: Frames, content: dict[str, Any]) -> None:
    """Refuse buffers that no stream of these settings can have."""
    held, tail, late = len(content["held"]), len(content["tail"]), len(content["sound"])
    most_held = frames.window - 1
    channels = content["settings"]["channels"]
    if not frames.window - frames.hop <= held <= most_held or tail != frames.span - frames.hop:
        raise ValueError(f"a stream of {frames.rate:g} Hz does not hold {held} and {tail} samples")
    if late > frames.span or len(content["voice"]) > frames.span or content["early"] > frames.span - frames.hop:
        raise ValueError(f"a stream of {frames.rate:g} Hz is not late by {late} samples")
    if any(content[name].shape[1] != channels for name in ("held", "voice")):
        raise ValueError(f"the sound should have {channels} channels")
    if late + len(content["voice"]) != frames.span:
        raise ValueError("the samples on their way should be as many as the stream is late by")
    if not np.isfinite(content["level"]["power"]):
        raise ValueError("the level should be finite")
