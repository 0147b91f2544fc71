"""Light that changes for the whole scene."""

from dataclasses import dataclass

import numpy as np

from ..._types import AnyArray, Float64Array

JUMP = 0.03
"""So much more of the picture than usual deviates after a jump,"""
ALIKE = 0.2
"""and so much of the texture there is as it was: a thing that came hides it, light does not."""
MUCH = 0.3
"""Where there is no texture, so much of the picture deviates."""
SETTLED = 0.015
"""A jump is over when no more than this is left of it."""
STILL = 0.9
"""Of what deviates after a jump, so much does not move."""
ALERT = 6
EXPLAINED = 10.0 / 255.0
"""A pixel that a background misses by less is explained by it."""
ROUNDS = 4
"""Frames for which a jump lasts after the last sign of it."""


@dataclass
class SceneChange:
    """Tells a change of the whole scene from things that move."""

    usual: float = 0.0
    """The share of the picture that has been foreground of late."""
    left: int = 0
    """Frames for which the scene is still taken to have changed."""
    was_disturbed: bool = False
    alert: int = 0
    """Frames for which every frame is worth learning from, as the scene may have changed."""
    jumps: int = 0
    """How often the scene has changed."""
    before: float = 0.0
    """The share of the picture that deviated in the frame before."""

    def disturbed(self, score: float) -> bool:
        """Whether suddenly more deviates than things that enter the picture explain; said once in a row."""
        before, self.was_disturbed, self.before = self.was_disturbed, self.exceeded_by(score), score
        sudden = self.was_disturbed and not before
        self.alert = ALERT if sudden else max(0, self.alert - 1)
        return sudden

    def shifted(self, score: float) -> bool:
        """Whether what deviates became more in this frame or the last few; to be asked before `disturbed`."""
        return self.alert > 1 or self.left > 0 or score - self.before > JUMP

    def exceeded_by(self, score: float) -> bool:
        """Whether so much deviates, whatever was before."""
        return score - self.usual > JUMP

    def is_light(self, score: float, alike: float | None) -> bool:
        """Whether what deviates looks like light, by the share of it whose texture stayed."""
        return score > MUCH if alike is None else alike >= ALIKE

    def judge(self, score: float, still: float, alike: float | None) -> None:
        """Take in the share that deviates, the part of it that does not move, and the share whose texture stayed."""
        more = score - self.usual
        light = self.left > 0 or self.is_light(score, alike)
        if light and more > (SETTLED if self.left else JUMP) and still > STILL:
            self.jumps += not self.left
            self.left = ROUNDS
        else:
            self.left = max(0, self.left - 1)
        if not self.left:
            self.usual += 0.05 * min(more, JUMP)


def gain_and_offset(background: AnyArray, frame: AnyArray, white: float) -> tuple[float, float] | None:
    """The light of a frame: frame = gain background + offset for most of some entries.

    None unless it explains clearly more of them than the background does as it is, with a gain of 1/4 to 4.
    """
    if not frame.size:
        return None
    x, y = (part.astype(np.float64) / white for part in (background, frame))
    gain, offset = robust_line(x, y, 0.004, 12)
    before, after = (float(np.mean(np.abs(y - line) < EXPLAINED)) for line in (x, gain * x + offset))
    return (gain, offset) if 0.25 < gain < 4.0 and after > before + JUMP else None


def robust_line(x: Float64Array, y: Float64Array, floor: float, rounds: int) -> tuple[float, float]:
    """Slope and offset of the line with the least sum of |y - slope x - offset|; no slope where x hardly varies.

    Iteratively reweighted least squares; residuals below ``floor`` weigh alike.
    """
    slope, offset = 1.0, float(np.median(y - x))
    moments = np.stack([np.ones_like(x), x, y, x * x, x * y])
    for _ in range(rounds):
        distance = np.abs(np.array([-offset, -slope, 1.0]) @ moments[:3])
        total, sum_x, sum_y, sum_xx, sum_xy = (moments @ (1.0 / np.maximum(distance, floor))).tolist()
        spread = sum_xx - sum_x * sum_x / total
        if spread < 1e-6 * total:
            return 0.0, 0.0
        slope = (sum_xy - sum_x * sum_y / total) / spread
        offset = (sum_y - slope * sum_x) / total
    return slope, offset
