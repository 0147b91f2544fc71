"""What becomes of a frame."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

State = Literal["starting", "watching", "adapting", "frozen"]


class Box(NamedTuple):
    """A connected region of a mask, in pixels; `bottom` and `right` are the first beyond it."""

    top: int
    left: int
    bottom: int
    right: int
    area: int


@dataclass(eq=False, slots=True)
class Separation:
    """A frame and its parts. Arrays are of the shape and type of the frame unless said otherwise."""

    index: int
    """Number of the frame, from 0."""
    time: float
    """Its time in seconds."""
    frame: NDArray[Any]
    background: NDArray[Any]
    """What the camera would see without the foreground."""
    mask: NDArray[np.bool_]
    """(height, width): where there is foreground."""
    boxes: tuple[Box, ...]
    """The connected regions of the mask, from top to bottom."""
    score: float
    """The share of the region of interest that is foreground."""
    state: State
    """"starting": frames are collected, the mask is empty; "watching": the rule; "adapting": the scene has changed as a
    whole, and what does not move is being taken for background; "frozen": nothing is learnt."""

    @property
    def foreground(self) -> NDArray[Any]:
        """The frame where the mask is, black elsewhere."""
        mask = self.mask if self.frame.ndim == 2 else self.mask[..., None]
        return np.where(mask, self.frame, self.frame.dtype.type(0))
