"""The stream that a film begins with: a new one from settings, or one that goes on, and what refuses other frames."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ... import load
from ..._types import AnyArray, BoolArray
from ...core.encoder.encoder import Encoder
from ...media import Frame, read_image
from ...media.frames import IMAGE_RATE
from ...media.images import read_pixels
from ...media.pixels import check_pixels
from ._format import FrameFormat, checked_region
from ._stream import Stream
from .settings import Settings, SettingsError


@dataclass(frozen=True, eq=False)
class Beginning:
    """What a film begins with: the settings, the stream that goes on, and later what files of the settings hold."""

    settings: Settings
    stream: Stream | None = None
    """The stream that goes on; None for a new one."""
    model: Path | None = None
    """The file that it comes from, if any."""
    encoder: Encoder | None = None
    regions: Mapping[str, BoolArray] | None = None
    """Flags of all regions of interest, by their names."""
    empty_scene: AnyArray | None = None

    @classmethod
    def of(cls, settings: Settings, stream: Stream | None, model: Path | None) -> "Beginning":
        """Refuse settings that cannot be meant together, and load the stream that goes on.

        Parameters
        ----------
        settings : Settings
            Those of the film.
        stream : Stream, optional
            A stream to go on with.
        model : path, optional
            Where the stream is to be kept; if there is such a file and no stream is given, it goes on from there.
        """
        resumed = model if stream is None and model is not None and model.exists() else None
        given = settings.of_stream()
        fixed = [name for name in given if name != "region"]
        if resumed is not None and fixed:
            places = ", ".join(["{}"] * len(fixed))
            raise SettingsError(f"{places} cannot be changed: {resumed} exists and has its own settings.", *fixed)
        if settings.freeze and resumed is None and stream is None:
            raise SettingsError("{} needs a model: name one that exists by {}.", "freeze", "model")
        own = [name for name in fixed if name != "background_image"]
        if stream is not None and own:
            raise SettingsError(f"{', '.join(['{}'] * len(own))} cannot be changed: the stream has its own.", *own)
        stream = load_stream(resumed).freeze(settings.freeze) if resumed is not None else stream
        return cls(settings, stream, resumed)

    def read(self) -> "Beginning":
        """The same with the files that settings name: network, regions, the picture of the empty scene."""
        settings = self.settings
        regions = {name: as_region(one) for name, one in settings.regions().items()}
        if self.model is not None and self.stream is not None:
            _check_same_regions(self.stream, regions, self.model)
        encoder = None if settings.encoder is None else as_network(settings.encoder)
        empty = settings.background_image
        if isinstance(empty, str | Path):
            empty = read_pixels(Path(empty), True)
        elif empty is not None:
            empty = check_pixels(empty, "background_image")
        return replace(self, encoder=encoder, regions=regions, empty_scene=empty)

    @property
    def in_grey(self) -> bool:
        """Whether brightness is all that is worked with: it is asked for, or the stream knows nothing else."""
        form = None if self.stream is None else self.stream.state.format
        network = self.stream is not None and isinstance(self.stream.settings.encoder, Encoder)
        return (
            self.settings.grey
            or self.settings.encoder is not None
            or network
            or (form is not None and form.kind == "grey")
        )

    @property
    def named_regions(self) -> dict[str, BoolArray]:
        """The regions that were given a name of their own."""
        settings, regions = self.settings, self.regions or {}
        named = {name: settings.regions()[name] for name in regions}
        return {name: regions[name] for name, given in named.items() if name and name != str(given)}

    def ready_stream(self, rate: float | None) -> Stream:
        """The stream for a film with this number of frames in a second."""
        if self.stream is not None:
            return self.stream
        settings, rate = self.settings, rate or IMAGE_RATE
        if settings.memory is not None and settings.memory * rate <= 1.0:
            raise SettingsError(
                f"{{}} must be longer than one frame, here {1.0 / rate:.3g} seconds; got {settings.memory:g} seconds.",
                "memory",
            )
        wanted: dict[str, Any] = {
            "n_components": settings.components,
            "forgetting": None if settings.memory is None else 1.0 - 1.0 / (settings.memory * rate),
            "false_alarm_rate": settings.false_alarm_rate,
            "pixel_share": settings.pixel_share,
            "encoder": "exact" if settings.exact else self.encoder,
            "region": union_of(self.regions) if self.regions else None,
            "min_area": settings.min_area,
            "smoothing": settings.smoothing,
            "shadows": settings.keep_shadows or None,
            "stabilise": settings.stabilise,
        }
        given = {name: value for name, value in wanted.items() if value is not None}
        if settings.patience is not None:
            given["patience"] = round(settings.patience * rate) or None
        return Stream(**given)

    def check_for(self, name: str, stream: Stream) -> Callable[[Frame], None]:
        """Return what refuses the first frame of a film if it does not fit to a file that was given.

        Parameters
        ----------
        name : str
            What to call the film.
        stream : Stream
            The stream that is to separate it.
        """
        former, encoder = stream.state.format, stream.settings.encoder
        files = ", ".join(map(str, self.regions or {}))

        def check(frame: Frame) -> None:
            shape, region = frame.pixels.shape, stream.settings.region
            if self.model is not None and former is not None:
                _check_former(f"{self.model} was learnt from", former, name, frame.pixels)
            if self.regions and region is not None and region.shape != shape[:2]:
                (height, width), (rows, columns) = region.shape, shape[:2]
                raise ValueError(
                    f"{files} has {width} x {height} pixels, but {name} has {columns} x {rows}; "
                    "a region must be as large as the frames."
                )
            if self.encoder is not None and isinstance(encoder, Encoder):
                path = self.settings.encoder if isinstance(self.settings.encoder, str | Path) else "The encoder"
                _check_network(path, encoder.components.shape[1], name, shape)

        return check


def load_stream(path: Path) -> Stream:
    """Load a stream to go on with."""
    stream = load(path)
    if not isinstance(stream, Stream):
        raise ValueError(f"{path} holds a {type(stream).__name__}; expected a model that unmingle video saved.")
    return stream


def _check_same_regions(stream: Stream, regions: Mapping[str, BoolArray], model: Path) -> None:
    """Raise an error unless the regions that are given are those that a model looks at, so that only names are new."""
    given, its = union_of(regions) if regions else None, stream.settings.region
    if given is None or (its is not None and its.shape != given.shape):
        return
    if its is None or not np.array_equal(its, given):
        raise SettingsError(
            f"{{}} cannot be changed: {model} exists and looks at another part of the picture.", "region"
        )


def as_network(given: Any) -> Encoder:
    """A trained network, or that of a model in a file."""
    model = load(given) if isinstance(given, str | Path) else given
    network = getattr(model, "encoder_", model)
    if not isinstance(network, Encoder):
        raise ValueError(f"{given} holds a {type(model).__name__} without an encoder; train one with unmingle train.")
    return network


def as_region(given: Any) -> BoolArray:
    """Flags of where to look, or a file of a picture that is white there."""
    if not isinstance(given, str | Path):
        return checked_region(given)
    region = np.asarray(read_image(Path(given)) > 0.5)
    if not region.any():
        raise ValueError(f"{given} has no white pixels; expected a picture that is white where to look.")
    return region


def union_of(regions: Mapping[str, BoolArray]) -> BoolArray:
    """All that is in one region or another."""
    whole: BoolArray | None = None
    for name, flags in regions.items():
        if whole is not None and flags.shape != whole.shape:
            (height, width), (rows, columns) = flags.shape, whole.shape
            raise ValueError(
                f"{name} has {width} x {height} pixels, but the region before it {columns} x {rows}; "
                "all regions must be as large as the frames."
            )
        whole = flags if whole is None else whole | flags
    assert whole is not None
    return whole


def _check_former(begun: str, form: FrameFormat, name: str, pixels: Any) -> None:
    shape = form.shape
    if pixels.shape != shape:
        hint = _hint(pixels.shape, shape)
        if pixels.shape[1] > shape[1] and not hint:
            hint = "; if it was learnt with --max-width, give that again"
        raise ValueError(f"{begun} {_size(shape)}, but {name} has {_size(pixels.shape)}{hint}.")
    if pixels.dtype != form.dtype:
        raise ValueError(f"{begun} pixels of {form.dtype}, but {name} has pixels of {pixels.dtype}.")


def _check_network(path: Any, features: int, name: str, shape: tuple[int, ...]) -> None:
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
