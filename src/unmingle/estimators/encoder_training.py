"""How the encoder of an estimator is trained, in `fit` and on a stream: rows, units, and the training itself."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._types import Array
from .._validation import require
from ..core.encoder.answers import exact_answer, robust_weights
from ..core.encoder.encoder import BEYOND, Encoder
from ..core.linalg.units import Units
from ..core.online.statistics import Statistics
from ..learn import LOSSES, Training

_FURTHEST = 3.0
"""Entries are cut beyond this multiple of the largest entry of the low-rank part: the exact answer is the same."""


class Rows(NamedTuple):
    """Samples with their true parts, if those are known."""

    X: Array
    sources: tuple[Array, ...] = ()

    def take(self, some: slice) -> "Rows":
        """Some of the rows."""
        return Rows(self.X[some], tuple(part[some] for part in self.sources))

    def followed_by(self, later: "Rows") -> "Rows":
        """These rows, then others, in the type of the first."""
        pairs = zip((self.X, *self.sources), (later.X, *later.sources), strict=True)
        X, *sources = (np.concatenate([first, then.astype(first.dtype, copy=False)]) for first, then in pairs)
        return Rows(X, tuple(sources))


class TrainingScale(NamedTuple):
    """In which units training is done, and where entries far out are cut."""

    units: Units
    """The largest entry is about one in them."""
    cut_at: float
    """Entries are cut to [-cut_at, cut_at]; a file has it as "reach"."""

    @classmethod
    def of(cls, start: Encoder, X: Array) -> "TrainingScale":
        """An exact answer knows only the sign of what is beyond ``cut_at``, an encoder all of it."""
        own = Units.of(start.outlier_penalty)
        scaled = start.rescaled(1 / own.root)
        with np.errstate(over="ignore"):
            near = np.clip(own.to_units(X), -BEYOND, BEYOND)
        codes, _ = exact_answer(scaled, near)
        largest = float(np.max(np.abs(codes @ scaled.components), initial=0.0))
        cut_at = own.from_units(_FURTHEST * largest + float(scaled.outlier_penalty.max()))
        return cls(Units.of(cut(X, cut_at)), cut_at)

    def encoder_to_units(self, encoder: Encoder) -> Encoder:
        """An encoder of data, for data in units."""
        return encoder.rescaled(1 / self.units.root)

    def encoder_from_units(self, encoder: Encoder) -> Encoder:
        """An encoder of data in units, for data."""
        return encoder.rescaled(self.units.root)

    def rows_to_units(self, rows: Rows) -> Rows:
        """Samples with entries far out cut, and all numbers in units."""
        X, *sources = map(self.units.to_units, (cut(rows.X, self.cut_at), *rows.sources))
        return Rows(X, tuple(sources))


def cut(X: Array, cut_at: float) -> Array:
    """Samples with all entries brought into [-cut_at, cut_at]; X itself if they are."""
    if np.max(X, initial=0.0) <= cut_at and np.min(X, initial=0.0) >= -cut_at:
        return X
    return np.clip(X, X.dtype.type(-cut_at), X.dtype.type(cut_at))


@dataclass(frozen=True)
class EncoderTraining:
    """How an estimator trains its encoder: what it was given, checked."""

    loss: str
    training: Training
    update_dictionary: bool
    forgetting: float
    """What every sample of a stream multiplies the weight of the past by."""

    def train(
        self,
        start: Encoder,
        rows: Rows,
        scale: TrainingScale,
        *,
        max_steps: int,
        validation: float,
        **options: Any,
    ) -> Any:
        """Training in units in which the largest entry is about one; its encoder in those of the data."""
        learn, scaled = require("unmingle.learn", "train"), scale.rows_to_units(rows)
        weights = None if LOSSES[self.loss].true_parts else "robust"
        training = learn.train(
            scale.encoder_to_units(start), scaled.X, loss=self.loss, targets=scaled.sources or None,
            sample_weight=weights, max_steps=max_steps, batch_size=self.training.batch_size,
            step_size=self.training.step_size, validation=validation, **options,
        )  # fmt: skip
        return training._replace(encoder=scale.encoder_from_units(training.encoder))

    def sums_of(self, encoder: Encoder, rows: Rows, scale: TrainingScale) -> Statistics:
        """Statistics of samples as an encoder encodes them, in units of training."""
        unit, scaled = scale.encoder_to_units(encoder), scale.rows_to_units(rows)
        codes, outliers = unit.encode(scaled.X)
        low_rank = codes @ unit.components.astype(codes.dtype)
        cleaned = scaled.sources[0] if scaled.sources else scaled.X - outliers
        share = np.sqrt(robust_weights(unit, scaled.X))[:, None].astype(codes.dtype)
        return Statistics.of(share * codes, share * np.where(np.isnan(cleaned), low_rank, cleaned), self.forgetting)
