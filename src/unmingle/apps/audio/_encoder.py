"""An unrolled encoder: each frame in a fixed number of layers."""

from typing import Any, ClassVar, Self

import numpy as np

from ..._rules import Rule
from ..._types import AnyArray
from ...core.encoder.encoder import ENCODER, Encoder
from ._method import Method, Parts
from ._stft import BINS


class Encoded(Method):
    """An `unmingle.Encoder` of single frames: codes times components are music, outliers are voice."""

    name: ClassVar = "encoder"
    summary: ClassVar = "a small network, frame by frame"
    streams: ClassVar = True

    def __init__(self, encoder: Encoder) -> None:
        if not isinstance(encoder, Encoder):
            raise ValueError(f"The method 'encoder' needs an unmingle.Encoder, got {type(encoder).__name__}.")
        if encoder.components.shape[1] != BINS:
            raise ValueError(
                f"An encoder of sound must have {BINS} features, the bins up to 8 kHz; "
                f"this one has {encoder.components.shape[1]}."
            )
        self.encoder = encoder.astype(np.float32)

    def parts(self, magnitudes: AnyArray) -> Parts:
        """The parts of each frame; bins that a low rate does not have are missing."""
        known = magnitudes.shape[1]
        if known < BINS:
            frames = np.full((len(magnitudes), BINS), np.nan, np.float32)
            frames[:, :known] = magnitudes
            magnitudes = frames
        codes, outliers = self.encoder.encode(magnitudes)
        return Parts(outliers[:, :known], (codes @ self.encoder.components)[:, :known])

    def _to_store(self) -> dict[str, Any]:
        return self.encoder._to_store()

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        return cls(Encoder._from_store(content))

    @classmethod
    def _schema(cls, content: Any) -> Rule:
        return ENCODER
