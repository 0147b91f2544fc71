"""Settings of a stream and of a whole film, and where results go: each with its rule, once.

No array library is needed to read this module, so that the command line can list its options without one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from ..._fields import check_settings
from ..._rules import LEAST, Count, Flag, Number, OneOf, Rule, maybe

MOST_COMPONENTS = 100
"""Kernels are compiled for each number of components, for half a minute with this one."""
STABILISERS = ("translation", "similarity", "projective")
"""Families of transformations that a shaking camera is followed with."""


class PositiveShare(Number):
    """A number above 0, by which others can be divided, and at most 1, or below it."""

    def fits(self, value: Any, sizes: dict[str, Any]) -> bool:
        """Whether a value keeps the rule."""
        return super().fits(value, sizes) and value >= LEAST


class OddSide(Rule):
    """The side of a square that has a pixel in its middle."""

    wanted = "an odd number from 1 to 15"

    def fits(self, value: Any, sizes: dict[str, Any]) -> bool:
        """Whether a value keeps the rule."""
        return type(value) is int and value in range(1, 16, 2)


COMPONENTS, LAYERS = Count(1, MOST_COMPONENTS), Count(1, 10_000)
RATE, SHARE, SIDE = PositiveShare(0.0, 1.0, above=True, below=True), PositiveShare(0.0, 1.0, above=True), OddSide()
AREA, FAMILY = Count(1), OneOf(*STABILISERS, None)
SECONDS = Number(0.0, above=True)


@dataclass(frozen=True, eq=False)
class StreamSettings:
    """How a stream separates frames. It knows no seconds: times are counted in frames."""

    n_components: Annotated[int, COMPONENTS] = 5
    """Most components of the background; the first frames tell how many of them there are."""
    forgetting: Annotated[float, SHARE] = 0.99
    """What every frame multiplies the weight of all earlier ones by: the background has forgotten most of what it saw
    after 1 / (1 - forgetting) frames. 1 for never."""
    false_alarm_rate: Annotated[float, RATE] = 0.005
    """Share of the pixels of the background that noise may make deviate in a frame, before the mask is cleaned: the
    knob of sensitivity. This one may be changed at any time."""
    n_layers: Annotated[int, LAYERS] = 2
    """Layers for the codes of a frame."""
    encoder: Any = "layers"
    """How codes are found: "layers" of Algorithm 1, "exact", by Newton's method, or by a trained network, an `Encoder`,
    whose components are then the background for good: only the noise goes on being learnt."""
    pixel_share: Annotated[float | None, maybe(SHARE)] = None
    """Share of the pixels that codes are found from, drawn at random; a tenth is faster where pictures are small. By
    default all of them, and of pictures with more than 20 000 every n-th row, so that there are at most that many."""
    region: Any = None
    """Region of interest, (height, width) flags: only there foreground is looked for, and codes are found."""
    smoothing: Annotated[int | None, maybe(SIDE)] = None
    """Side of the square in which most pixels must deviate, an odd number up to 15; 1 leaves the mask as it is. By
    default 7 for pictures of 200 rows or more, 5 from 100 rows on, and 3 below."""
    min_area: Annotated[int | None, maybe(AREA)] = None
    """Regions of the mask with fewer pixels that clearly deviate are dropped; by default a 1000th of all watched."""
    shadows: Annotated[bool, Flag()] = False
    """Whether shadows count as foreground. Otherwise nothing is marked, in grey and in colour, where a square of 8 x 8
    pixels became darker and kept its texture. Where the background has no texture a shadow is foreground all the same.
    """
    patience: Annotated[int | None, maybe(Count(1))] = 500
    """Frames after which something that stopped becomes background; None for never. It does not take longer than the
    background behind it was seen, so that what was there from the start and left is soon forgotten."""
    start_size: Annotated[int, Count(1)] = 30
    """Frames that the first background is learnt from. They need not be empty."""
    stabilise: Annotated[str | None, FAMILY] = None
    """For a camera that shakes: how it may move. Each frame is laid over the background before it is separated, and
    mask, boxes and background are laid back. A region of interest stays where it is in the first frames."""
    random_state: Annotated[int | None, maybe(Count(0, 2**1024))] = 0
    """Seed of the choice of pixels."""

    def __post_init__(self) -> None:
        from ...core.encoder.encoder import Encoder
        from ._format import checked_region

        check_settings(self)
        object.__setattr__(self, "shadows", bool(self.shadows))
        if self.region is not None:
            object.__setattr__(self, "region", checked_region(self.region))
        if not isinstance(self.encoder, Encoder):
            if self.encoder not in ("layers", "exact"):
                raise ValueError(f"encoder must be one of 'layers', 'exact', or an Encoder; got {self.encoder!r}.")
        elif not 0 < len(self.encoder.components) <= MOST_COMPONENTS:
            raise ValueError(
                f"encoder must have 1 to {MOST_COMPONENTS} components, got {len(self.encoder.components)}."
            )
        elif self.stabilise is not None:
            raise ValueError(
                "stabilise cannot be used with a trained encoder: its components lie where they were learnt."
            )


@dataclass(frozen=True)
class Outputs:
    """Where results of a film go, as far as they are wanted; every path may be a string."""

    background: Annotated[Path | None, "Write the background: what stays."] = None
    foreground: Annotated[Path | None, "Write the foreground: what moves, on black."] = None
    mask: Annotated[Path | None, "Write where the foreground is, in white."] = None
    overlay: Annotated[Path | None, "Write the film with a box for each event."] = None
    """The film with the boxes of events, their numbers, and the time."""
    clips: Annotated[Path | None, "Write a film of each event, with a second before and after."] = None
    """A folder."""
    events: Annotated[Path | None, "Write the events: a .csv table, or .json with dates."] = None
    boxes: Annotated[Path | None, "Write where each event is, frame by frame."] = None
    """A table."""
    report: Annotated[Path | None, "Write a page with pictures and figures."] = None
    model: Annotated[Path | None, "Continue from this .safetensors model if it exists, and save it at the end."] = None
    """The stream itself; one that was frozen from the start is as it was, and not written."""

    def __post_init__(self) -> None:
        for one in fields(self):
            path = getattr(self, one.name)
            object.__setattr__(self, one.name, None if path is None else Path(path))

    def wanted(self) -> dict[str, Path]:
        """The results that are wanted."""
        paths = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: path for name, path in paths.items() if path is not None}

    def films(self) -> dict[str, Path]:
        """The films among them."""
        films = ("background", "foreground", "mask", "overlay", "clips")
        return {name: path for name, path in self.wanted().items() if name in films}


class SettingsError(ValueError):
    """Settings that cannot be meant together. Names of settings are left out of the sentence, as {}."""

    def __init__(self, sentence: str, *names: str) -> None:
        super().__init__(sentence.format(*names))
        self.sentence, self.names = sentence, names

    def in_options(self) -> str:
        """The sentence with the names of options of a command."""
        return self.sentence.format(*(f"--{name.replace('_', '-')}" for name in self.names))


@dataclass(frozen=True, eq=False)
class Settings:
    """How a whole film is separated: as `unmingle video` has it, with times in seconds.

    What is None is as a stream has it by default, or, where a stream goes on, as it has it.
    """

    freeze: Annotated[bool, Flag(), "Learn nothing, and leave the model as it is."] = False
    live: Annotated[bool, Flag(), "IN is live: drop frames that come too fast, and reconnect."] = False
    max_frames: Annotated[int | None, maybe(Count(1)), "Stop after this many frames."] = None
    seconds: Annotated[float | None, maybe(SECONDS), "Stop after this much of the film."] = None
    fps: Annotated[float | None, maybe(SECONDS), "Frames a second, for folders and arrays; 25 by default."] = None
    start_time: Annotated[
        datetime | None, "When the film begins, such as 2026-05-01T08:30:00, for the dates of events."
    ] = None
    max_width: Annotated[
        int | None,
        maybe(Count(16)),
        "Work on pictures no wider than this; 1920 by default for films of 3840 or more.",
    ] = None
    background_image: Annotated[Any, "Begin with this picture of the empty scene."] = None
    """The picture, or the name of its file."""
    grey: Annotated[bool, Flag(), "Work with the brightness alone: faster, finds less, and all results are grey."] = (
        False
    )
    components: Annotated[
        int | None, maybe(COMPONENTS), "Largest number of components of the background; 5 by default."
    ] = None
    memory: Annotated[
        float | None,
        maybe(SECONDS),
        "How long the background remembers, longer than a frame; 100 frames by default.",
    ] = None
    false_alarm_rate: Annotated[
        float | None, maybe(RATE), "Share of pixels, above 0 and below 1, that noise may mark; 0.005 by default."
    ] = None
    patience: Annotated[
        float | None,
        maybe(Number(0.0)),
        "What stands still this long is background (0: never); 500 frames by default.",
    ] = None
    pixel_share: Annotated[
        float | None,
        maybe(SHARE),
        "Share of pixels, above 0 and up to 1, used to find the light; at most 20 000 pixels by default.",
    ] = None
    exact: Annotated[bool, Flag(), "Find the background of each frame exactly: slower."] = False
    encoder: Annotated[Any, "Find the background by a network of unmingle train."] = None
    """An `Encoder`, or the name of the file of a model that has one."""
    region: Annotated[
        Any, "Look only where this picture is white; may be given several times. Events list the names."
    ] = None
    """Flags or the name of a picture, or several of them by their names."""
    min_area: Annotated[int | None, maybe(AREA), "Drop spots of foreground below this size."] = None
    smoothing: Annotated[
        int | None, maybe(SIDE), "Smooth the mask with a square of this many pixels a side, an odd number."
    ] = None
    keep_shadows: Annotated[bool, Flag(), "Count shadows as foreground."] = False
    stabilise: Annotated[
        str | None, FAMILY, "Follow a camera that shakes: it shifts, it also turns and zooms, or it also tilts."
    ] = None
    event_gap: Annotated[float, Number(0.0), "What is seen again within this time is the same event."] = 1.0
    """Seconds without being seen after which a thing is gone, and its event over."""

    def __post_init__(self) -> None:
        check_settings(self)
        for one in ("freeze", "live", "grey", "exact", "keep_shadows"):
            object.__setattr__(self, one, bool(getattr(self, one)))
        if self.exact and self.encoder is not None:
            raise SettingsError("{} and {} exclude each other.", "exact", "encoder")

    def of_stream(self) -> dict[str, Any]:
        """Those that a stream keeps for good, as far as they were given, by their names."""
        names = (
            "components", "memory", "false_alarm_rate", "patience", "pixel_share", "exact", "encoder", "region",
            "min_area", "smoothing", "keep_shadows", "stabilise", "background_image",
        )  # fmt: skip
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value is not None and value is not False}

    def regions(self) -> Mapping[str, Any]:
        """The regions of interest by their names: the name of its file is that of a single picture, none of flags."""
        if self.region is None or isinstance(self.region, Mapping):
            return self.region or {}
        return {str(self.region) if isinstance(self.region, str | Path) else "": self.region}
