"""The rule of the mask: from the codes of a frame to its foreground; its passes are in `kernels.video_detection`."""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from ..._types import AnyArray, BoolArray, ByteArray
from ...kernels.video_detection import Workspace, detect_in_frame
from ._background import NOISE, Background
from ._format import FrameFormat


@dataclass(frozen=True)
class MaskRules:
    """What belongs to the mask: which deviations, and what is only light on a texture.

    ``weak``, ``texture`` and ``likeness`` were held to other values on labelled films, leaving one film out each time:
    `python -m lab video-constants`.
    """

    weak: float = 0.7
    """A pixel that deviates by this part of the threshold belongs to the mask if it is connected to what exceeds it."""
    texture: float = (4.0 / 255.0) ** 2
    """A cell has texture if the variance of its brightness is at least this."""
    likeness: float = 0.8
    """The texture of a cell is the same, so that only its light changed, if the square of the correlation is this."""
    smallest_share: float = 1.0 / 1000.0
    """Regions smaller than this share of what is watched are no objects, unless the settings say otherwise."""


MASK = MaskRules()


@cache
def mask_thresholds(false_alarm_rate: float, channels: int) -> tuple[float, float]:
    """Sums of squares of deviations, in units of the noise, from which on a pixel is weakly and strongly marked.

    Noise that is known from some frames has Student's distribution; the sum over the channels, one or three, exceeds
    the strong threshold at this rate.
    """
    strong = float(stdtrit(NOISE.samples - 1, 0.5 * false_alarm_rate)) ** 2
    if channels > 1:
        strong = _quantile_of_sum(1.0 - false_alarm_rate, channels)
    return MASK.weak**2 * strong, strong


def _quantile_of_sum(share: float, channels: int) -> float:
    """Of the sum of squares of independent numbers with Student's distribution, by convolution of their densities."""
    edges = np.linspace(0.0, 400.0, 40_001)
    mass = 2.0 * np.diff(stdtr(NOISE.samples - 1, np.sqrt(edges)))
    spectrum = np.fft.rfft(mass, 2 * channels * mass.size)
    total = np.cumsum(np.fft.irfft(spectrum**channels))
    return float((np.searchsorted(total, share) + 0.5 * channels) * edges[1])


def side_of_square(height: int) -> int:
    """Side of the square in which most pixels must be marked, for pictures of this height."""
    return 7 if height >= 200 else 5 if height >= 100 else 3


class Detection(NamedTuple):
    """What is seen in a frame."""

    background: AnyArray
    """(entries,)."""
    mask: BoolArray
    regions: list[list[int]]
    """Top, left, bottom, right and area of each."""
    near: ByteArray
    """(pixels and places of a colour plane,): 1 where foreground is or might be, 0 elsewhere, and 2, `KNOWN`, where
    `step` was told that there is foreground. Overwritten by the next look."""
    deviation: AnyArray
    """(entries,): how far each entry is from the background; overwritten by the next look."""
    alike: float | None
    """Of the cells with texture that deviate, the share whose texture is still that of the background; None if none."""
    score: float
    """The area of the regions, which is that of the mask, as a share of the pixels watched."""


class Detector:
    """Looks at frames of one size, in arrays that are kept from frame to frame only to save time."""

    def __init__(
        self,
        form: FrameFormat,
        smoothing: int | None,
        least_area: int | None,
        drop_shadows: bool,
        region: AnyArray | None,
    ) -> None:
        self.format = form
        self.channels = 3 if form.places else 1
        """Numbers of a place that may deviate."""
        self.watched = form.pixels if region is None else max(1, int(np.count_nonzero(region)))
        """Pixels of the region of interest."""
        self.canvas = Workspace(
            square=(0,) * (smoothing or side_of_square(form.height)),
            region=None if region is None else region.reshape(-1).view(np.uint8),
            light=(MASK.texture, MASK.likeness, drop_shadows),
            least_area=max(1, round(MASK.smallest_share * self.watched)) if least_area is None else least_area,
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
        found = regions.tolist()
        score = sum([region[4] for region in found]) / self.watched
        return Detection(background, mask, found, self.canvas.near, self.canvas.deviation, alike, score)

    def share_of(self, regions: list[list[int]]) -> float:
        """The share of what is watched that regions cover."""
        return sum([region[4] for region in regions]) / self.watched
