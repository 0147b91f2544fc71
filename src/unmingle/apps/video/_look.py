"""From the codes of a frame to its mask."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import kernels
from ._model import LEAST_VARIANCE, Background

Array = NDArray[Any]

SMALLEST_SHARE = 1.0 / 1000.0
"""Of what is watched: smaller regions are no objects, unless said otherwise."""


class Look(NamedTuple):
    """What is seen in a frame."""

    background: Array
    mask: NDArray[np.bool_]
    regions: list[list[int]]
    """Top, left, bottom, right and area of each."""
    near: NDArray[np.uint8]
    """(pixels,): where foreground is or might be; overwritten by the next look."""
    deviation: Array
    """(entries,): how far each entry is from the background; overwritten by the next look."""


class Eye:
    """Looks at frames of one size, in room that is kept from frame to frame."""

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: Any,
        smoothing: int,
        least_area: int | None,
        drop_shadows: bool,
        region: Array | None,
    ) -> None:
        height, width = shape[:2]
        self.format = shape, np.dtype(dtype)
        self.channels = shape[2] if len(shape) == 3 else 1
        self.rows = height, width * self.channels
        self.pixels = height, width
        self.drop_shadows = drop_shadows
        self.square = (0,) * smoothing
        self.watched = height * width if region is None else max(1, int(np.count_nonzero(region)))
        """Pixels of the region of interest."""
        self.least_area = max(1, round(SMALLEST_SHARE * self.watched)) if least_area is None else least_area
        self.region = np.empty((0, 0), dtype=np.uint8) if region is None else region.view(np.uint8)
        self.marked, self.counts = np.empty(self.rows, dtype=np.uint16), np.empty(self.pixels, dtype=np.uint16)
        self.pooled = self.marked if self.channels == 1 else np.empty(self.pixels, dtype=np.uint16)
        self.strong, self.near = np.empty(self.pixels, dtype=bool), np.empty(height * width, dtype=np.uint8)
        self.deviation = np.empty(self.rows, dtype=dtype)
        self.deviations = self.deviation.reshape(-1)

    def fits(self, frame: Any) -> bool:
        """Whether a frame can be taken as it is; fractions are to be checked one by one."""
        fitting = type(frame) is np.ndarray and frame.shape == self.format[0] and frame.dtype == self.format[1]
        return fitting and frame.dtype.kind == "u" and frame.flags.carray

    def look(self, model: Background, frame: Array, factors: tuple[float, float], n_layers: int) -> Look:
        """Find the background and the mask of a frame; its codes by layers, if any, otherwise they are the model's."""
        background, mask = np.empty(*self.format), np.empty(self.pixels, dtype=np.bool_)
        grey = self.channels == 1
        regions = kernels.look_at_frame(
            frame if grey else frame.reshape(self.rows), self.channels, model.scale, model.components, model.variance,
            factors, LEAST_VARIANCE, self.region, self.drop_shadows, self.least_area, self.marked, self.pooled,
            self.counts, self.strong, background if grey else background.reshape(self.rows), self.deviation, self.near,
            mask, self.square, model.sample, model.sampled, model.step, model.code_penalty, model.outlier_penalty,
            n_layers, model.codes, model.zeros,
        )  # fmt: skip
        return Look(background, mask, regions.tolist(), self.near, self.deviations)
