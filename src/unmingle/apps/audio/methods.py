"""The methods by name."""

from os import PathLike
from typing import Any

from ... import load
from ..._fields import checked
from ..._validation import check_choice
from ...core.encoder.encoder import Encoder
from .exact import ExactProximal, ExactPursuit
from .method import Method
from .networks import Encoded, VoiceModel, load_shipped
from .nonnegative import Adaptive, RepeatedSpectra
from .settings import HERTZ, NAMES, SHIPPED

METHODS: dict[str, type[Method]] = {
    kind.name: kind for kind in (ExactPursuit, ExactProximal, RepeatedSpectra, Adaptive, Encoded, VoiceModel)
}
"""A new method is one small class and a place in this table; if its name is all it needs, in `NAMES`, too."""
STREAMING = tuple(name for name, kind in METHODS.items() if kind.streams)


def as_method(method: Any, *, no_voice: bool = False) -> Method:
    """The method of a name or of a model, or the one that was given.

    Parameters
    ----------
    method : str, Method, model or None
        A name in `NAMES`, an `unmingle.Encoder`, whatever has one, or a `Stream`; None for the default.
    no_voice : bool
        Whether there is a passage without voice, from which only one method learns: it is the default then.
    """
    if method is None:
        method = "adapt" if no_voice else NAMES[0]
    if isinstance(method, str):
        return load_shipped(method) if check_choice(method, "method", NAMES) in SHIPPED else METHODS[method]()
    if (found := method_in(method)) is None:
        raise ValueError(f"method must be one of {', '.join(map(repr, NAMES))}, a Method or a model, got {method!r}.")
    return found


def method_in(model: Any) -> Method | None:
    """What in a model tells voice from music: the model, the method of a stream, or an encoder of single frames."""
    own = getattr(model, "method", model)
    if isinstance(own, Method):
        return own
    encoder = getattr(own, "encoder_", own)
    return Encoded(encoder) if isinstance(encoder, Encoder) else None


def load_method(path: str | PathLike[str]) -> Method:
    """Load what tells voice from music: a network of `unmingle train audio`, of single frames, or that of a stream.

    Parameters
    ----------
    path : path
        A file of a model.
    """
    if (found := method_in(model := load(path))) is None:
        kind = type(model).__name__
        raise ValueError(f"{path} holds a {kind}; expected a network from unmingle train audio.")
    return found


def high_pass_of(method: Method, high_pass: float | str | None) -> float | None:
    """Hertz below which there is no voice, None for no limit."""
    if high_pass == "auto":
        return method.high_pass
    return None if high_pass is None else float(checked(high_pass, "high_pass", HERTZ))
