"""Lights of a scene that were seen before: lamps on, lamps off, the sun behind clouds and back."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._types import AnyArray, BoolArray, Float64Array
from ._background import Background, white_of
from ._detect import Detection
from ._scene_change import EXPLAINED, JUMP, SceneChange, gain_and_offset

Places = NDArray[np.integer[Any]]

MOST = 6
"""Pictures that are remembered."""
SAME = 0.95
"""Two pictures show the same light if one explains so much of the other."""


@dataclass
class Lights:
    """Pictures of the background under the lights of the past, one for each light, the latest last.

    They are judged by some entries, the probe: a picture explains those that it misses by less than ten of 255 steps.
    """

    pictures: list[AnyArray] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._probed = np.empty((0, 0), dtype=np.float32)

    def keep(self, picture: AnyArray, probe: Places, white: float) -> None:
        """Remember the background as it was before the light changed, in place of an older picture of that light."""
        shares = self._explained(picture, probe, white)
        if shares.size and shares.max() >= SAME:
            del self.pictures[int(np.argmax(shares))]
        self.pictures = [*self.pictures, picture][-MOST:]
        self._probed = np.empty((0, 0), dtype=np.float32)

    def recall(
        self, x: AnyArray, background: AnyArray, probe: Places, white: float, apart: BoolArray | None
    ) -> AnyArray | None:
        """The picture that explains a frame clearly better than the background does; None if there is none.

        Entries set apart have no say.
        """
        if not self.pictures:
            return None
        counted = None if apart is None else ~apart[probe]
        shares = self._explained(x, probe, white, counted)
        best = int(np.argmax(shares))
        now = np.abs(background[probe].astype(np.float32) - x[probe]) < EXPLAINED * white
        return self.pictures[best] if shares[best] > _share(now[None], counted)[0] + JUMP else None

    def _explained(self, x: AnyArray, probe: Places, white: float, counted: BoolArray | None = None) -> Float64Array:
        """The share of the probe of a frame that each picture explains."""
        if len(self._probed) != len(self.pictures):
            self._probed = np.stack([picture[probe] for picture in self.pictures]).astype(np.float32)
        return _share(np.abs(self._probed - x[probe]) < EXPLAINED * white, counted) if self.pictures else np.empty(0)


def _share(near: BoolArray, counted: BoolArray | None) -> Float64Array:
    near = near if counted is None else near[:, counted]
    return np.count_nonzero(near, axis=1) / max(1, near.shape[1])


def follow_light(
    model: Background,
    x: AnyArray,
    detection: Detection,
    score: float,
    known: BoolArray | None,
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
    shifted = change.shifted(score)
    sudden = change.exceeded_by(score) if lights is None else change.disturbed(score)
    if lights is not None and change.was_disturbed:
        white = white_of(x.dtype)
        probe = model.probe if known is None else model.probe[~known[model.probe]]
        if sudden and change.is_light(score, detection.alike):
            lights.keep(model.picture(model.usual), model.probe, white)
        picture = lights.recall(x, detection.background, model.probe, white, known) if shifted else None
        if picture is not None:
            model.become(picture)
        elif sudden and (light := gain_and_offset(detection.background[probe], x[probe], white)) is not None:
            model.relight(*light)
        sudden = sudden or picture is not None
    if sudden:
        model.encode_anew(x, known)
    return sudden
