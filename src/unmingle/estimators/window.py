"""What `LearnedRobustPCA` keeps of a stream."""

from typing import Any, NamedTuple

import numpy as np

from .._types import Array
from ..core.encoder.answers import exact_answer
from ..core.encoder.encoder import BEYOND, Encoder
from ..core.linalg.units import Units
from ..core.online.statistics import Statistics

_REACH = 3.0
"""Largest entries of the low-rank part beyond which entries are cut: the exact answer is the same."""


def reach_of(start: Encoder, X: Array) -> float:
    """How far entries may reach: an exact answer knows only the sign of what is beyond, an encoder all of it."""
    units = Units.of(start.outlier_penalty)
    scaled = start.rescaled(1 / units.root)
    with np.errstate(over="ignore"):
        near = np.clip(units.to_units(X), -BEYOND, BEYOND)
    codes, _ = exact_answer(scaled, near)
    largest = float(np.max(np.abs(codes @ scaled.components), initial=0.0))
    return units.from_units(_REACH * largest + float(scaled.outlier_penalty.max()))


def cut(X: Array, reach: float) -> Array:
    """Samples with all entries brought into [-reach, reach]; X itself if they are."""
    if np.max(X, initial=0.0) <= reach and np.min(X, initial=0.0) >= -reach:
        return X
    return np.clip(X, X.dtype.type(-reach), X.dtype.type(reach))


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

    def within(self, reach: float) -> "Rows":
        """Samples cut to [-reach, reach]."""
        return self._replace(X=cut(self.X, reach))

    def to_units(self, units: Units) -> "Rows":
        """All numbers in other units."""
        X, *sources = map(units.to_units, (self.X, *self.sources))
        return Rows(X, tuple(sources))


class Window(NamedTuple):
    """The last samples of a stream, those that wait, and the sums behind the dictionary."""

    rows: Rows
    """Those that the encoder is trained on."""
    fresh: Rows
    """Those not learnt from yet."""
    past: Statistics
    """Of samples before the window, as they were encoded when they left it."""
    starting: bool
    """Whether the first window is not full yet."""
    n_learnt: int
    """Samples at the last start."""

    def _to_store(self) -> dict[str, Any]:
        rows = {"rows": _numbered(self.rows), "fresh": _numbered(self.fresh)}
        return {**rows, **self.past._asdict(), "starting": self.starting, "n_learnt": self.n_learnt}

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> "Window":
        parts = ([array for _, array in sorted(content[name].items())] for name in ("rows", "fresh"))
        rows, fresh = (Rows(X, tuple(sources)) for X, *sources in parts)
        if len(rows.sources) != len(fresh.sources) or len(rows.sources) == 1:
            raise ValueError("all samples of a stream come with both of their true parts, or none does")
        past = Statistics(content["A"], content["B"], float(content["weight"]), float(content["decay"]))
        return cls(rows, fresh, past, bool(content["starting"]), int(content["n_learnt"]))


def _numbered(rows: Rows) -> dict[str, Array]:
    return {str(place): part for place, part in enumerate((rows.X, *rows.sources))}
