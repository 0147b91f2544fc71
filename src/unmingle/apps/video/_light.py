"""Light that changes for the whole scene: how it differs from things that move, and how it is followed.

A lamp that is switched makes much of the picture deviate at once. `step` in `_stream.py` calls, in this order:

1. `follow_light`, for every frame, once it was looked at. If the frame is disturbed, that is, if its mask is suddenly
   larger than usual, something is tried that may explain it: a light that was seen before, else a gain and an offset
   for all pixels, and in both cases new codes. Then the frame is looked at once more. A stream that learns nothing does
   not call it: `step` tries new codes alone.
2. `SceneChange.judge`, for a frame that is learnt from, after it was learnt. If the mask is still large, hardly any of
   it moves, and its texture is that of the background, the scene has changed. Then the state is "adapting" for some
   frames: each of them is learnt, and what does not move for three frames becomes background.

The mask share is one number everywhere: the area of the final mask as a share of the pixels watched, `Detection.score`.
Cells that only changed their light (`drop_relit`) and small regions (`keep_regions`) are not in that mask any more.
"""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._rules import ArrayOf, Count, Flag, Number
from ..._types import AnyArray, BoolArray, Float64Array
from ._background import Background, white_of
from ._detect import Detection
from ._format import PIXEL_TYPES

Places = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class LightRules:
    """What tells a change of the light, or of the whole scene, from things that move.

    A thing that comes hides the texture behind it, and light does not; a thing moves on, and light stays. ``jump`` and
    ``alike`` were held to other values on labelled films, leaving one film out each time: `python -m lab
    video-constants`. Films of lamps in a lobby hold the others.
    """

    jump: float = 0.03
    """A frame is disturbed if its mask share exceeds the mean of late by more than this.

    Five more decisions use the number. A mask that grew by more than this since the last frame tells that light shifted
    (`is_shifted`), and one that still exceeds the mean by more may be a new scene (`judge`). The mean takes in no more
    than this from one frame (`judge`). A picture of the past (`recall`), and a gain and an offset (`gain_and_offset`),
    must explain a larger share of the pixels than the background does, by more than this.
    """
    alike: float = 0.2
    """A disturbance is light if at least this share of the texture that deviates still looks as it did."""
    much: float = 0.3
    """Where there is no texture, a disturbance is light if the mask share is above this."""
    still: float = 0.9
    """A disturbance is a new scene only if more than this share of the pixels near foreground does not change."""
    settled: float = 0.015
    """A change of the scene is over when the mask share exceeds its mean by no more than this."""
    rounds: int = 4
    """A change of the scene lasts for this number of frames after the last sign of it."""
    alert: int = 6
    """After a disturbance every frame is learnt from for this number of frames."""
    mean_rate: float = 0.05
    """The mean mask share moves towards that of a frame by this part of the way."""
    explained: float = 10.0 / 255.0
    """A picture explains a pixel that it misses by less than this share of white."""
    same: float = 0.95
    """Two pictures show the same light if one explains at least this share of the pixels of the other."""
    most_pictures: int = 6
    """At most this number of pictures of the scene under other lights is remembered."""


LIGHT = LightRules()


class SceneChange(NamedTuple):
    """How large the mask is, and whether the scene is changing as a whole.

    A named tuple, as there is a new one for every frame: a frozen dataclass takes three times as long to make.
    """

    mean_mask_share: Annotated[float, Number(0.0, 1.0)] = 0.0
    """The mean mask share of late."""
    frames_left: Annotated[int, Count()] = 0
    """Frames for which the scene is still taken to be changing."""
    was_disturbed: Annotated[bool, Flag()] = False
    """Whether the last frame was disturbed."""
    alert_frames: Annotated[int, Count()] = 0
    """Frames for which every frame is worth learning from, as the scene may have changed."""
    jumps: Annotated[int, Count()] = 0
    """How often the scene has changed."""
    mask_share_before: Annotated[float, Number(0.0, 1.0)] = 0.0
    """The mask share of the last frame."""

    def is_disturbed(self, mask_share: float) -> bool:
        """Whether the mask of a frame is larger than things that enter the picture explain."""
        return mask_share - self.mean_mask_share > LIGHT.jump

    def is_shifted(self, mask_share: float) -> bool:
        """Whether the mask became larger in this frame, or did so in the last few."""
        return self.alert_frames > 1 or self.frames_left > 0 or mask_share - self.mask_share_before > LIGHT.jump

    def note_mask_share(self, mask_share: float) -> "SceneChange":
        """Take in the mask share of the next frame."""
        disturbed = self.is_disturbed(mask_share)
        alert = LIGHT.alert if disturbed and not self.was_disturbed else max(0, self.alert_frames - 1)
        return SceneChange(self.mean_mask_share, self.frames_left, disturbed, alert, self.jumps, mask_share)

    def judge(self, mask_share: float, still: float, alike: float | None) -> "SceneChange":
        """Decide whether the scene has changed, from a frame that is learnt from.

        Parameters
        ----------
        mask_share : float
            That of the frame, after its light was followed.
        still : float
            The share of the pixels near foreground that did not change.
        alike : float or None
            As in `Detection`: the share of the texture that deviates and is still that of the background.
        """
        left, jumps, mean = self.frames_left, self.jumps, self.mean_mask_share
        more = mask_share - mean
        light = left > 0 or is_light(mask_share, alike)
        if light and more > (LIGHT.settled if left else LIGHT.jump) and still > LIGHT.still:
            jumps += not left
            left = LIGHT.rounds
        else:
            left = max(0, left - 1)
        if not left:
            mean += LIGHT.mean_rate * min(more, LIGHT.jump)
        return SceneChange(mean, left, self.was_disturbed, self.alert_frames, jumps, self.mask_share_before)


def is_light(mask_share: float, alike: float | None) -> bool:
    """Whether what deviates looks like light, by the share of it whose texture is as it was."""
    return mask_share > LIGHT.much if alike is None else alike >= LIGHT.alike


@dataclass(frozen=True, eq=False)
class Lights:
    """Pictures of the background under the lights of the past, one for each light, the latest last.

    They are judged by some entries, the probe.
    """

    pictures: Annotated[AnyArray, ArrayOf(PIXEL_TYPES, "lights", "m", low=0.0, high=1.0, alike="pixels")] | None = None

    def keep(self, picture: AnyArray, probe: Places, white: float) -> "Lights":
        """Remember the background as it was before the light changed, in place of an older picture of that light."""
        if self.pictures is None:
            return Lights(picture[None])
        shares, pictures = self._explained(picture, probe, white), self.pictures
        if shares.max() >= LIGHT.same:
            pictures = np.delete(pictures, int(np.argmax(shares)), axis=0)
        return Lights(np.concatenate([pictures, picture[None]])[-LIGHT.most_pictures :])

    def recall(
        self, x: AnyArray, background: AnyArray, probe: Places, white: float, known: BoolArray | None
    ) -> AnyArray | None:
        """The picture that explains a frame clearly better than the background does; None if there is none.

        Pixels that are known to be foreground have no say.
        """
        if self.pictures is None:
            return None
        counted = None if known is None else ~known[probe]
        shares = self._explained(x, probe, white, counted)
        best = int(np.argmax(shares))
        now = np.abs(background[probe].astype(np.float32) - x[probe]) < LIGHT.explained * white
        return np.asarray(self.pictures[best]) if shares[best] > _share(now[None], counted)[0] + LIGHT.jump else None

    def _explained(self, x: AnyArray, probe: Places, white: float, counted: BoolArray | None = None) -> Float64Array:
        """The share of the probe of a frame that each picture explains."""
        assert self.pictures is not None
        probed = self.pictures[:, probe].astype(np.float32)
        return _share(np.abs(probed - x[probe]) < LIGHT.explained * white, counted)


def _share(near: BoolArray, counted: BoolArray | None) -> Float64Array:
    near = near if counted is None else near[:, counted]
    return np.asarray(np.count_nonzero(near, axis=1) / max(1, near.shape[1]))


def follow_light(
    model: Background, x: AnyArray, seen: Detection, known: BoolArray | None, change: SceneChange, lights: Lights
) -> tuple[SceneChange, Lights, bool]:
    """Try to explain a frame that is disturbed: by a light of the past, by a gain and an offset, or by other codes.

    Parameters
    ----------
    model : Background
        Its codes are those of the frame; it is brought to the light that is found.
    x, seen
        The frame, and what was seen in it.
    known : array of bool, optional
        Pixels that have no say.
    change, lights
        What is known of changes of the scene and of its lights.

    Returns
    -------
    change, lights
        The same with the frame.
    look_again : bool
        Whether the background was changed, so that the frame should be looked at once more.
    """
    before, mask_share = change, seen.score
    change = before.note_mask_share(mask_share)
    if not change.was_disturbed:
        return change, lights, False
    sudden, white = not before.was_disturbed, white_of(x.dtype)
    probe = model.probe if known is None else model.probe[~known[model.probe]]
    if sudden and is_light(mask_share, seen.alike):
        lights = lights.keep(model.picture_under(model.mean_codes), model.probe, white)
    shifted = before.is_shifted(mask_share)
    picture = lights.recall(x, seen.background, model.probe, white, known) if shifted else None
    if picture is not None:
        model.replace_by(picture)
    elif sudden and (light := gain_and_offset(seen.background[probe], x[probe], white)) is not None:
        model.relight(*light)
    if not sudden and picture is None:
        return change, lights, False
    model.encode_from_afar(x, known)
    return change, lights, True


def end_change(change: SceneChange) -> SceneChange:
    """The scene is no longer taken to be changing: nothing is learnt any more."""
    return change._replace(frames_left=0) if change.frames_left else change


def gain_and_offset(background: AnyArray, frame: AnyArray, white: float) -> tuple[float, float] | None:
    """The light of a frame: frame = gain background + offset for most of some entries.

    None unless it explains clearly more of them than the background does as it is, with a gain of 1/4 to 4.
    """
    if not frame.size:
        return None
    x, y = (part.astype(np.float64) / white for part in (background, frame))
    gain, offset = robust_line(x, y, 0.004, 12)
    before, after = (float(np.mean(np.abs(y - line) < LIGHT.explained)) for line in (x, gain * x + offset))
    return (gain, offset) if 0.25 < gain < 4.0 and after > before + LIGHT.jump else None


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
