"""How a trained encoder learns from a stream, window by window; each training is that of `encoder_training`."""

from typing import Any, NamedTuple

import numpy as np

from .._rules import FLOATS, ArrayOf, Count, Flag, Number, Record
from .._types import Array
from ..core.encoder.encoder import Encoder
from ..core.linalg.units import Units
from ..core.online.statistics import Statistics, direct_step
from ..core.solvers.nonnegative import nonnegative_components
from .encoder_training import EncoderTraining, Rows, TrainingScale

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
        scale = {"seed": self.seed, "root": self.scale.units.root, "reach": self.scale.cut_at}
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
