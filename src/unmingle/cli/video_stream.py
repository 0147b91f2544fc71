"""Streams from the options of `unmingle video`: new ones, and such that go on where they were saved."""

from dataclasses import asdict, dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from .. import load
from ..apps.video import Stream
from ..encoder import Encoder
from ..media import IMAGE_RATE, read_image

UNSET = {
    "patience": "never",
    "region": "the whole picture",
    "min_area": "by the size of the picture",
    "smoothing": "by the size of the picture",
}
"""What it means that a setting is None."""


@dataclass(frozen=True)
class Settings:
    """Options that a new stream is made from; None where nothing was said. Times are in seconds."""

    components: int | None = None
    memory: float | None = None
    false_alarm_rate: float | None = None
    patience: float | None = None
    pixel_share: float | None = None
    exact: bool | None = None
    encoder: Path | None = None
    region: Path | None = None
    min_area: int | None = None
    smoothing: int | None = None
    keep_shadows: bool | None = None

    def given(self) -> list[str]:
        """The options that something was said about."""
        return [f"--{name.replace('_', '-')}" for name, value in asdict(self).items() if value is not None]

    def stream(self, rate: float | None) -> Stream:
        """A new stream for a film of so many frames in a second."""
        rate = rate or IMAGE_RATE
        wanted: dict[str, Any] = {
            "n_components": self.components,
            "memory": None if self.memory is None else self.memory * rate,
            "false_alarm_rate": self.false_alarm_rate,
            "pixel_share": self.pixel_share,
            "encoder": "exact" if self.exact else self.encoder and load_network(self.encoder),
            "region": self.region and read_region(self.region),
            "min_area": self.min_area,
            "smoothing": self.smoothing,
            "shadows": self.keep_shadows,
        }
        patience: dict[str, Any] = {} if self.patience is None else {"patience": round(self.patience * rate) or None}
        return Stream(**{name: value for name, value in wanted.items() if value is not None}, **patience)


def load_stream(path: Path) -> Stream:
    """Load a stream to go on with."""
    stream = load(path)
    if not isinstance(stream, Stream):
        raise ValueError(f"{path} holds a {type(stream).__name__}; expected a model that unmingle video saved.")
    return stream


def load_network(path: Path) -> Encoder:
    """Load the trained network of a model."""
    model = load(path)
    network = getattr(model, "encoder_", model)
    if not isinstance(network, Encoder):
        raise ValueError(f"{path} holds a {type(model).__name__} without an encoder; train one with unmingle train.")
    return network


def read_region(path: Path) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Read where to look from a picture: where it is white."""
    region = read_image(path) > 0.5
    if not region.any():
        raise ValueError(f"{path} has no white pixels; expected a picture that is white where to look.")
    return region


def described(stream: Stream) -> dict[str, str]:
    """The settings of a stream in words."""
    names = [name for name in signature(Stream).parameters if hasattr(stream, name)]
    return {name: _in_words(name, getattr(stream, name)) for name in names}


def _in_words(name: str, value: Any) -> str:
    if value is None:
        return UNSET.get(name, "not set")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, np.ndarray):
        return f"{np.count_nonzero(value) / value.size:.0%} of the picture"
    if isinstance(value, Encoder):
        return f"a trained network of {value.n_layers} layers"
    return f"{value:g}" if isinstance(value, float) else str(value)
