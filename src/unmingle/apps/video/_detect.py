"""The rule of the mask: from the codes of a frame to its foreground; its passes are in `kernels._video_detection`."""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from ..._types import AnyArray, BoolArray, ByteArray
from ...kernels.video_detection import Workspace, detect_in_frame
from ._background import NOISE_SAMPLES, Background
from ._format import FrameFormat

WEAK = 0.7
"""Deviations of so much of the threshold belong to the foreground if they are connected to it."""
TEXTURE = (4.0 / 255.0) ** 2
"""Variance of brightness from which on a cell has texture."""
LIKENESS = 0.8
"""Square of the correlation from which on a texture is the same."""
SMALLEST_SHARE = 1.0 / 1000.0
"""Of what is watched: smaller regions are no objects, unless said otherwise."""


@cache
def mask_thresholds(false_alarm_rate: float, channels: int) -> tuple[float, float]:
    """Sums of squares of deviations, in units of the noise, from which on a pixel is weakly and strongly marked.

    Noise that is known from some frames has Student's distribution; the sum over the channels, one or three, exceeds
    the strong threshold at this rate.
    """
    strong = float(stdtrit(NOISE_SAMPLES - 1, 0.5 * false_alarm_rate)) ** 2
    if channels > 1:
        strong = _quantile_of_sum(1.0 - false_alarm_rate, channels)
    return WEAK**2 * strong, strong


def _quantile_of_sum(share: float, channels: int) -> float:
    """Of the sum of squares of independent numbers with Student's distribution, by convolution of their densities."""
    edges = np.linspace(0.0, 400.0, 40_001)
    mass = 2.0 * np.diff(stdtr(NOISE_SAMPLES - 1, np.sqrt(edges)))
    spectrum = np.fft.rfft(mass, 2 * channels * mass.size)
    total = np.cumsum(np.fft.irfft(spectrum**channels))
    return float((np.searchsorted(total, share) + 0.5 * channels) * edges[1])


def side_of_square(height: int) -> int:
    """Side of the square in which most pixels must be marked, for pictures of so many rows."""
    return 7 if height >= 200 else 5 if height >= 100 else 3


class Detection(NamedTuple):
    """What is seen in a frame."""

    background: AnyArray
    """(entries,)."""
    mask: BoolArray
    regions: list[list[int]]
    """Top, left, bottom, right and area of each."""
    near: ByteArray
    """(pixels and places of a colour plane,): where foreground is or might be; overwritten by the next look."""
    deviation: AnyArray
    """(entries,): how far each entry is from the background; overwritten by the next look."""
    alike: float | None
    """Of the cells with texture that deviate, the share whose texture is still that of the background; None if none."""


class Detector:
    """Looks at frames of one size, in room that is kept from frame to frame."""

    def __init__(
        self,
        form: FrameFormat,
        smoothing: int | None,
        least_area: int | None,
        drop_shadows: bool,
        region: AnyArray | None,
    ) -> None:
        self.format = form
        self.watched = form.pixels if region is None else max(1, int(np.count_nonzero(region)))
        """Pixels of the region of interest."""
        self.canvas = Workspace(
            square=(0,) * (smoothing or side_of_square(form.height)),
            region=None if region is None else region.reshape(-1).view(np.uint8),
            light=(TEXTURE, LIKENESS, drop_shadows),
            least_area=max(1, round(SMALLEST_SHARE * self.watched)) if least_area is None else least_area,
            deviation=np.empty(form.entries, dtype=form.dtype),
            marked=np.empty(form.pixels, dtype=np.uint16),
            colour=np.empty(form.places, dtype=np.float32) if form.places else None,
            counts=np.empty(form.pixels, dtype=np.uint16),
            strong=np.empty(form.pixels, dtype=bool),
            near=np.empty(form.pixels + form.places, dtype=np.uint8),
        )
        self.no_words = np.empty(0, dtype=np.uint64)

    def detect(self, model: Background, x: AnyArray, thresholds: tuple[float, float], n_layers: int) -> Detection:
        """Find the background and the mask of a frame; its codes by layers, if any, otherwise they are the model's."""
        form = self.format
        background, mask = np.empty(form.entries, dtype=form.dtype), np.empty((form.height, form.width), dtype=np.bool_)
        flat = mask.reshape(-1)
        words = self.no_words if form.width % 8 else flat.view(np.uint64)
        regions, textured, stayed = detect_in_frame(
            x, form.height, form.width, thresholds, n_layers, background, flat, words, *self.canvas, *model.scene
        )
        alike = stayed / textured if textured else None
        return Detection(background, mask, regions.tolist(), self.canvas.near, self.canvas.deviation, alike)
