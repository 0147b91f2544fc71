"""What becomes of a frame."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ..._types import BoolArray
from ...media import Planes

State = Literal["starting", "watching", "adapting", "moving", "frozen"]


class Box(NamedTuple):
    """A connected region of a mask, in pixels; `bottom` and `right` are the first beyond it."""

    top: int
    left: int
    bottom: int
    right: int
    area: int


@dataclass(eq=False, slots=True)
class Separation:
    """A frame and its parts, which are of the kind and type of the frame unless said otherwise."""

    index: int
    """Number of the frame, from 0."""
    time: float
    """Its time in seconds."""
    frame: Any
    """As it was given: an array, or `unmingle.media.Planes`."""
    _background: Any
    """The background, or a function that makes it when it is asked for."""
    mask: BoolArray
    """(height, width): where there is foreground."""
    boxes: tuple[Box, ...]
    """The connected regions of the mask, from top to bottom."""
    score: float
    """The share of the region of interest that is foreground."""
    state: State
    """"starting": frames are collected, the mask is empty; "watching": the rule; "adapting": the scene has changed as a
    whole, and what does not move is being taken for background; "moving": the camera moves, or the film was cut, so
    that there is no background any more and the mask is empty; "frozen": nothing is learnt."""

    def __repr__(self) -> str:
        height, width = self.mask.shape
        regions = f"{len(self.boxes)} region{'' if len(self.boxes) == 1 else 's'}"
        return f"Separation(frame {self.index}, {width} x {height} pixels, {regions}, {self.state})"

    @property
    def background(self) -> Any:
        """What the camera would see without the foreground."""
        picture = self._background
        if callable(picture):  # several threads may ask
            picture = self._background = picture()
        return picture

    @property
    def foreground(self) -> Any:
        """The frame where the mask is, black elsewhere."""
        if isinstance(self.frame, Planes):
            return self.frame.where(self.mask)
        mask = self.mask if self.frame.ndim == 2 else self.mask[..., None]
        return np.where(mask, self.frame, self.frame.dtype.type(0))
