"""Streams from the options of `unmingle video`: new ones, and such that go on where they were saved."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import typer

from ... import load, store
from ..._types import BoolArray
from ...apps.video import Stream
from ...core.encoder.encoder import Encoder
from ...media import Frame, read_image
from ...media.frames import IMAGE_RATE
from ...media.images import read_pixels


@dataclass(frozen=True)
class StreamOptions:
    """Options that a new stream is made from; None where nothing was said. Times are in seconds."""

    components: int | None = None
    memory: float | None = None
    false_alarm_rate: float | None = None
    patience: float | None = None
    pixel_share: float | None = None
    exact: bool | None = None
    encoder: Path | None = None
    region: Mapping[str, Path] | None = None
    """Pictures that are white where to look, by the names of the regions."""
    min_area: int | None = None
    smoothing: int | None = None
    keep_shadows: bool | None = None
    stabilise: str | None = None
    background_image: Path | None = None

    def given(self) -> list[str]:
        """The options that something was said about."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return [f"--{name.replace('_', '-')}" for name, value in values.items() if value is not None]

    def files(self) -> dict[str, Path | None]:
        """The files that are read, by their options."""
        regions = {f"--region {name}": path for name, path in (self.region or {}).items()}
        return {"--encoder": self.encoder, "--background-image": self.background_image, **regions}

    def named_regions(self) -> dict[str, BoolArray]:
        """The regions that have a name of their own."""
        return {name: read_region(path) for name, path in (self.region or {}).items() if name != str(path)}

    def empty_scene(self) -> Any:
        """The picture of the empty scene, if one was given."""
        return None if self.background_image is None else read_pixels(self.background_image, True)

    def stream(self, rate: float | None) -> Stream:
        """A new stream for a film of so many frames in a second."""
        rate = rate or IMAGE_RATE
        if self.memory is not None and self.memory * rate <= 1.0:
            raise typer.BadParameter(
                f"--memory must be longer than one frame, here {1.0 / rate:.3g} seconds; got {self.memory:g} seconds."
            )
        wanted: dict[str, Any] = {
            "n_components": self.components,
            "forgetting": None if self.memory is None else 1.0 - 1.0 / (self.memory * rate),
            "false_alarm_rate": self.false_alarm_rate,
            "pixel_share": self.pixel_share,
            "encoder": "exact" if self.exact else self.encoder and load_network(self.encoder),
            "region": self.region and union_of(self.region),
            "min_area": self.min_area,
            "smoothing": self.smoothing,
            "shadows": self.keep_shadows,
            "stabilise": self.stabilise,
        }
        patience: dict[str, Any] = {} if self.patience is None else {"patience": round(self.patience * rate) or None}
        return Stream(**{name: value for name, value in wanted.items() if value is not None}, **patience)


def load_stream(path: Path) -> Stream:
    """Load a stream to go on with."""
    stream = load(path)
    if not isinstance(stream, Stream):
        raise ValueError(f"{path} holds a {type(stream).__name__}; expected a model that unmingle video saved.")
    return stream


def check_same_regions(stream: Stream, options: StreamOptions, model: Path) -> None:
    """Raise an error unless the regions that are given are those that a model looks at, so that only names are new."""
    given = None if options.region is None else union_of(options.region)
    if given is None or (stream.region is not None and stream.region.shape != given.shape):
        return
    if stream.region is None or not np.array_equal(stream.region, given):
        raise typer.BadParameter(
            f"--region cannot be changed: {model} exists and looks at another part of the picture."
        )


def works_in_grey(stream: Stream | None) -> bool:
    """Whether a stream that is gone on with was learnt from grey frames, or has a network."""
    form = None if stream is None else stream.format
    return (form is not None and form.kind == "grey") or (stream is not None and isinstance(stream.encoder, Encoder))


def load_network(path: Path) -> Encoder:
    """Load the trained network of a model."""
    model = load(path)
    network = getattr(model, "encoder_", model)
    if not isinstance(network, Encoder):
        raise ValueError(f"{path} holds a {type(model).__name__} without an encoder; train one with unmingle train.")
    return network


def named_images(texts: Sequence[str]) -> dict[str, Path]:
    """Read NAME=IMAGE, or IMAGE alone, whose name is its own."""
    found: dict[str, Path] = {}
    for text in texts:
        name, equals, image = text.partition("=")
        if not equals or Path(text).exists():
            name, image = text, text
        if not name or not image or name in found:
            reason = "is given twice" if name in found else "lacks its name or its picture"
            raise typer.BadParameter(f"--region {text} {reason}; expected NAME=IMAGE, or IMAGE, each name once.")
        found[name] = Path(image)
    return found


def union_of(regions: Mapping[str, Path]) -> BoolArray:
    """All that is white in one picture or another."""
    whole: BoolArray | None = None
    for path in regions.values():
        flags = read_region(path)
        if whole is not None and flags.shape != whole.shape:
            (height, width), (rows, columns) = flags.shape, whole.shape
            raise ValueError(
                f"{path} has {width} x {height} pixels, but the region before it {columns} x {rows}; "
                "all regions must be as large as the frames."
            )
        whole = flags if whole is None else whole | flags
    assert whole is not None
    return whole


def read_region(path: Path) -> BoolArray:
    """Read where to look from a picture: where it is white."""
    region = read_image(path) > 0.5
    if not region.any():
        raise ValueError(f"{path} has no white pixels; expected a picture that is white where to look.")
    return region


def first_check(name: str, stream: Stream, options: StreamOptions, model: Path | None) -> Callable[[Frame], None]:
    """Return what refuses the first frame of a film if it does not fit to a file that was given.

    Parameters
    ----------
    name : str
        What to call the film.
    stream : Stream
        The stream that is to separate it.
    options : StreamOptions
        Options that it was made from.
    model : path or None
        The file that the stream goes on from.
    """
    former = {} if model is None else store.peek(model).parameters

    def check(frame: Frame) -> None:
        shape = frame.pixels.shape
        if former.get("shape"):
            _check_former(f"{model} was learnt from", former["shape"], former["dtype"], name, frame.pixels)
        if options.region is not None and stream.region is not None and stream.region.shape != shape[:2]:
            (height, width), (rows, columns) = stream.region.shape, shape[:2]
            files = ", ".join(str(path) for path in options.region.values())
            raise ValueError(
                f"{files} has {width} x {height} pixels, but {name} has {columns} x {rows}; "
                "a region must be as large as the frames."
            )
        if options.encoder is not None and isinstance(stream.encoder, Encoder):
            _check_network(options.encoder, stream.encoder.components.shape[1], name, shape)

    return check


def _check_former(begun: str, shape: Sequence[int], dtype: str, name: str, pixels: np.ndarray[Any, Any]) -> None:
    if pixels.shape != tuple(shape):
        hint = _hint(pixels.shape, shape)
        if pixels.shape[1] > shape[1] and not hint:
            hint = "; if it was learnt with --max-width, give that again"
        raise ValueError(f"{begun} {_size(shape)}, but {name} has {_size(pixels.shape)}{hint}.")
    if str(pixels.dtype) != dtype:
        raise ValueError(f"{begun} pixels of {dtype}, but {name} has pixels of {pixels.dtype}.")


def _check_network(path: Path, features: int, name: str, shape: tuple[int, ...]) -> None:
    numbers = math.prod(shape)
    if features != numbers:
        pixels = shape[0] * shape[1]
        other = (*shape[:2], 3) if features == 3 * pixels else shape[:2] if features == pixels else shape
        raise ValueError(
            f"{path} was trained for frames of {features} numbers, but {name} has {_size(shape)}, "
            f"which are {numbers}{_hint(shape, other)}."
        )


def _size(shape: Sequence[int]) -> str:
    return f"{shape[1]} x {shape[0]} {'grey' if len(shape) == 2 else 'colour'} pixels"


def _hint(shape: Sequence[int], expected: Sequence[int]) -> str:
    """What to do about frames that have other channels than expected."""
    if len(shape) == len(expected):
        return ""
    return "; leave --grey out" if len(expected) == 3 else "; add --grey"
