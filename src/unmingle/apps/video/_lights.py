"""Lights of a scene that were seen before: lamps on, lamps off, the sun behind clouds and back."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._background import Background, white_of
from ._detect import Detection
from ._scene_change import EXPLAINED, JUMP, SceneChange, gain_and_offset

Array = NDArray[Any]

MOST = 6
"""Pictures that are remembered."""
SAME = 0.95
"""Two pictures show the same light if one explains so much of the other."""


@dataclass
class Lights:
    """Pictures of the background under the lights of the past, one for each light, the latest last.

    They are judged by some entries, the probe: a picture explains those that it misses by less than ten of 255 steps.
    """

    pictures: list[Array] = field(default_factory=list)

    def keep(self, picture: Array, probe: NDArray[np.integer[Any]], white: float) -> None:
        """Remember the background as it was before the light changed, in place of an older picture of that light."""
        shares = [explained(former, picture, probe, white) for former in self.pictures]
        if shares and max(shares) >= SAME:
            del self.pictures[int(np.argmax(shares))]
        self.pictures = [*self.pictures, picture][-MOST:]

    def recall(self, x: Array, background: Array, probe: NDArray[np.integer[Any]], white: float) -> Array | None:
        """The picture that explains a frame clearly better than the background does; None if there is none."""
        if not self.pictures:
            return None
        shares = [explained(picture, x, probe, white) for picture in self.pictures]
        best = int(np.argmax(shares))
        return self.pictures[best] if shares[best] > explained(background, x, probe, white) + JUMP else None


def follow_light(
    model: Background,
    x: Array,
    detection: Detection,
    score: float,
    known: NDArray[np.bool_] | None,
    change: SceneChange,
    lights: Lights | None,
) -> bool:
    """Try to explain a frame that deviates widely: by a light of the past, by a gain and an offset, or by other codes.

    Parameters
    ----------
    model : Background
        Its codes are those of the frame; it is brought to the light that is found.
    x, detection, score
        The frame, what was seen in it, and the share of it that deviates.
    known : array of bool, optional
        Pixels that have no say.
    change : SceneChange
        Tells whether the frame deviates widely.
    lights : Lights, optional
        Those of the past; without, nothing is learnt, and only codes are tried.

    Returns
    -------
    bool
        Whether the frame should be looked at once more.
    """
    sudden = change.exceeded_by(score) if lights is None else change.disturbed(score)
    if lights is not None and change.was_disturbed:
        white = white_of(x.dtype)
        probe = model.probe if known is None else model.probe[~known[model.probe]]
        if sudden and change.is_light(score, detection.alike):
            lights.keep(model.picture(model.usual), model.probe, white)
        recent = change.alert > 0 or change.left > 0
        picture = lights.recall(x, detection.background, probe, white) if recent else None
        if picture is not None:
            model.become(picture)
        elif sudden and (light := gain_and_offset(detection.background[probe], x[probe], white)) is not None:
            model.relight(*light)
        sudden = sudden or picture is not None
    if sudden:
        model.encode_anew(x, known)
    return sudden


def explained(picture: Array, x: Array, probe: NDArray[np.integer[Any]], white: float) -> float:
    """The share of some entries of a frame that a picture explains."""
    miss = np.abs(picture[probe].astype(np.float64) - x[probe])
    return float(np.mean(miss < EXPLAINED * white)) if probe.size else 0.0
