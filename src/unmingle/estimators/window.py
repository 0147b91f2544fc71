"""How a trained encoder learns: from rows with their true parts, and from a stream, window by window."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._rules import FLOATS, ArrayOf, Count, Flag, Number, Record
from .._types import Array
from .._validation import require
from ..core.encoder.answers import exact_answer, robust_weights
from ..core.encoder.encoder import BEYOND, Encoder
from ..core.linalg.units import Units
from ..core.online.statistics import Statistics, direct_step
from ..core.solvers.nonnegative import nonnegative_components
from ..learn import LOSSES, Training

_REACH = 3.0
"""Entries are cut beyond this multiple of the largest entry of the low-rank part: the exact answer is the same."""
_STEPS_PER_WINDOW = 10
"""Training steps whenever the window has moved on."""


def _rows_rule(name: str) -> Record:
    """Samples, where NaN is missing, and their true parts."""
    return Record(
        {"0": ArrayOf(FLOATS, name, "m", nan=True)}, {"1": ArrayOf(FLOATS, name, "m"), "2": ArrayOf(FLOATS, name, "m")}
    )


STREAM_STATE = Record(
    {
        "A": ArrayOf(("float64",), "q", "q"),
        "B": ArrayOf(FLOATS, "q", "m"),
        "rows": _rows_rule("rows"),
        "fresh": _rows_rule("fresh"),
        "seed": Count(0, 2**31),
        "root": Number(2.0**-520, 2.0**520),
        "reach": Number(0.0, np.inf),
        "starting": Flag(),
        "n_learnt": Count(),
        "weight": Number(0.0),
        "decay": Number(0.0, 1.0),
    }
)
"""What a file holds of a stream, beside its encoder."""


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
    """In which units training is done, and how far entries may reach."""

    units: Units
    """The largest entry is about one in them."""
    reach: float
    """Entries are cut to [-reach, reach]."""

    @classmethod
    def of(cls, start: Encoder, X: Array) -> "TrainingScale":
        """An exact answer knows only the sign of what is beyond the reach, an encoder all of it."""
        own = Units.of(start.outlier_penalty)
        scaled = start.rescaled(1 / own.root)
        with np.errstate(over="ignore"):
            near = np.clip(own.to_units(X), -BEYOND, BEYOND)
        codes, _ = exact_answer(scaled, near)
        largest = float(np.max(np.abs(codes @ scaled.components), initial=0.0))
        reach = own.from_units(_REACH * largest + float(scaled.outlier_penalty.max()))
        return cls(Units.of(cut(X, reach)), reach)

    def encoder_to_units(self, encoder: Encoder) -> Encoder:
        """An encoder of data, for data in units."""
        return encoder.rescaled(1 / self.units.root)

    def encoder_from_units(self, encoder: Encoder) -> Encoder:
        """An encoder of data in units, for data."""
        return encoder.rescaled(self.units.root)

    def rows_to_units(self, rows: Rows) -> Rows:
        """Samples cut to the reach, and all numbers in units."""
        X, *sources = map(self.units.to_units, (cut(rows.X, self.reach), *rows.sources))
        return Rows(X, tuple(sources))


def cut(X: Array, reach: float) -> Array:
    """Samples with all entries brought into [-reach, reach]; X itself if they are."""
    if np.max(X, initial=0.0) <= reach and np.min(X, initial=0.0) >= -reach:
        return X
    return np.clip(X, X.dtype.type(-reach), X.dtype.type(reach))


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


class LearnedState(NamedTuple):
    """A trained encoder and where it stands in a stream."""

    encoder: Encoder
    scale: TrainingScale
    seed: int
    """Of training."""
    rows: Rows
    """The window: the samples that the encoder is trained on."""
    fresh: Rows
    """Those not learnt from yet."""
    past: Statistics
    """Of samples before the window, as they were encoded when they left it."""
    starting: bool
    """Whether the first window is not full yet."""
    n_learnt: int
    """Samples at the last start."""

    @classmethod
    def after_fit(
        cls, how: EncoderTraining, encoder: Encoder, scale: TrainingScale, seed: int, rows: Rows
    ) -> "LearnedState":
        """An encoder that was trained on rows, of which it keeps the sums of the last window."""
        nothing = rows.take(slice(0))
        past = how.sums_of(encoder, rows.take(slice(-how.training.window, None)), scale)
        return cls(encoder, scale, seed, nothing, nothing, past, False, len(rows.X))

    def moved_on(self, how: EncoderTraining, block: Rows, n_seen: int) -> "LearnedState":
        """The window after one more block: dictionary, then layers have learnt.

        Samples in the window are encoded again each time, those that leave it enter the sums for good: codes made with
        an old dictionary would hold the new one back.
        """
        window, known = how.training.window, self.rows.followed_by(block)
        leaving, rows = known.take(slice(-window)), known.take(slice(-window, None))
        past = self.past.merge(how.sums_of(self.encoder, leaving, self.scale))
        encoder = self.encoder
        if how.update_dictionary:
            unit = self.scale.encoder_to_units(encoder)
            now = past.merge(how.sums_of(encoder, rows, self.scale))
            encoder = self.scale.encoder_from_units(unit.moved_to(_best_components(now, unit)))
        if not np.isnan(rows.X).all():
            seed = [self.seed, n_seen]
            encoder = how.train(
                encoder, rows, self.scale, max_steps=_STEPS_PER_WINDOW, validation=0.0, random_state=seed
            ).encoder
        return self._replace(encoder=encoder, rows=rows, past=past)

    def without_samples(self) -> "LearnedState":
        """The encoder alone, for those that learn nothing."""
        nothing = self.rows.take(slice(0))
        return self._replace(rows=nothing, fresh=nothing, past=Statistics.empty(0, 0))

    def to_store(self) -> dict[str, Any]:
        """What a file holds."""
        scale = {"seed": self.seed, "root": self.scale.units.root, "reach": self.scale.reach}
        rows = {"rows": _numbered(self.rows), "fresh": _numbered(self.fresh)}
        own = {**rows, **self.past._asdict(), "starting": self.starting, "n_learnt": self.n_learnt}
        return {"encoder": self.encoder._to_store(), "stream": {**scale, **own}}

    @classmethod
    def from_store(cls, content: dict[str, Any]) -> "LearnedState":
        """What was stored."""
        encoder, own = Encoder._from_store(content["encoder"]), content["stream"]
        parts = ([array for _, array in sorted(own[name].items())] for name in ("rows", "fresh"))
        rows, fresh = (Rows(X, tuple(sources)) for X, *sources in parts)
        if len(rows.sources) != len(fresh.sources) or len(rows.sources) == 1:
            raise ValueError("all samples of a stream come with both of their true parts, or none does")
        past = Statistics(own["A"], own["B"], float(own["weight"]), float(own["decay"]))
        scale = TrainingScale(Units(float(own["root"])), float(own["reach"]))
        return cls(encoder, scale, int(own["seed"]), rows, fresh, past, bool(own["starting"]), int(own["n_learnt"]))


def _numbered(rows: Rows) -> dict[str, Array]:
    return {str(place): part for place, part in enumerate((rows.X, *rows.sources))}


def _best_components(sums: Statistics, encoder: Encoder) -> Array:
    """The dictionary that is best for sums over codes of an encoder, (9), with its signs."""
    if encoder.nonnegative_codes:
        return nonnegative_components(sums.A, sums.B, encoder.components, encoder.rank_penalty)
    return direct_step(sums, encoder.rank_penalty)
