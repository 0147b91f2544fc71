"""The rule of the mask: from the codes of a frame to its foreground; its passes are in `kernels._video_detection`."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ... import kernels
from ._background import NOISE_SAMPLES, Background

Array = NDArray[Any]

WEAK = 0.65
"""Deviations of so much of the threshold belong to the foreground if they are connected to it."""
SMALLEST_SHARE = 1.0 / 1000.0
"""Of what is watched: smaller regions are no objects, unless said otherwise."""


def mask_thresholds(false_alarm_rate: float) -> tuple[float, float]:
    """Squares of the deviations, in units of the noise, from which on a pixel is weakly and strongly marked.

    Noise that is known from some frames has Student's distribution, and exceeds the strong one at this rate.
    """
    strong = float(stdtrit(NOISE_SAMPLES - 1, 0.5 * false_alarm_rate)) ** 2
    return WEAK**2 * strong, strong


def side_of_square(height: int) -> int:
    """Side of the square in which most pixels must be marked, for pictures of so many rows."""
    return 7 if height >= 200 else 5 if height >= 100 else 3


class Detection(NamedTuple):
    """What is seen in a frame."""

    background: Array
    mask: NDArray[np.bool_]
    regions: list[list[int]]
    """Top, left, bottom, right and area of each."""
    near: NDArray[np.uint8]
    """(pixels,): where foreground is or might be; overwritten by the next look."""
    deviation: Array
    """(entries,): how far each entry is from the background; overwritten by the next look."""


class Detector:
    """Looks at frames of one size, in room that is kept from frame to frame."""

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: Any,
        smoothing: int | None,
        least_area: int | None,
        drop_shadows: bool,
        region: Array | None,
    ) -> None:
        height, width = shape[:2]
        self.format = shape, np.dtype(dtype)
        self.channels = shape[2] if len(shape) == 3 else 1
        self.pixels = height, width
        self.watched = height * width if region is None else max(1, int(np.count_nonzero(region)))
        """Pixels of the region of interest."""
        size, entries = height * width, height * width * self.channels
        self.canvas = kernels.Workspace(
            channels=(0,) * self.channels,
            square=(0,) * (smoothing or side_of_square(height)),
            region=None if region is None else region.reshape(-1).view(np.uint8),
            drop_shadows=drop_shadows,
            least_area=max(1, round(SMALLEST_SHARE * self.watched)) if least_area is None else least_area,
            deviation=np.empty(entries, dtype=dtype),
            marked=np.empty(entries, dtype=np.uint16),
            pooled=None if self.channels == 1 else np.empty(size, dtype=np.uint16),
            counts=np.empty(size, dtype=np.uint16),
            strong=np.empty(size, dtype=bool),
            near=np.empty(size, dtype=np.uint8),
        )
        self.no_words = np.empty(0, dtype=np.uint64)

    def fits(self, frame: Any) -> bool:
        """Whether a frame can be taken as it is; fractions are to be checked one by one."""
        fitting = type(frame) is np.ndarray and frame.shape == self.format[0] and frame.dtype == self.format[1]
        return fitting and frame.dtype.kind == "u" and frame.flags.carray

    def detect(self, model: Background, frame: Array, thresholds: tuple[float, float], n_layers: int) -> Detection:
        """Find the background and the mask of a frame; its codes by layers, if any, otherwise they are the model's."""
        background, mask = np.empty(*self.format), np.empty(self.pixels, dtype=np.bool_)
        flat = mask.reshape(-1)
        words = self.no_words if self.pixels[1] % 8 else flat.view(np.uint64)
        regions = kernels.detect_in_frame(
            frame.reshape(-1), *self.pixels, thresholds, n_layers, background.reshape(-1), flat, words,
            *self.canvas, *model.scene,
        )  # fmt: skip
        return Detection(background, mask, regions.tolist(), self.canvas.near, self.canvas.deviation)
