"""What `LearnedRobustPCA` keeps of a stream."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..encoder import Encoder, exact_answer
from ..linalg import Units
from ..online import Statistics
from ._base import BEYOND, Array

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

    def to_store(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """JSON values and arrays."""
        arrays = {"A": self.past.A, "B": self.past.B}
        for name in ("rows", "fresh"):
            rows: Rows = getattr(self, name)
            arrays |= {f"{name}.{place}": part for place, part in enumerate((rows.X, *rows.sources))}
        sums = {"weight": self.past.weight, "decay": self.past.decay}
        return {"starting": self.starting, "n_learnt": self.n_learnt, **sums}, arrays

    @classmethod
    def from_store(cls, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "Window":
        """What `to_store` gave."""
        rows, fresh = (_rows_of(arrays, name) for name in ("rows", "fresh"))
        if len(rows.sources) != len(fresh.sources) or len(rows.sources) == 1:
            raise ValueError("all samples of a stream come with both of their true parts, or none does")
        past = Statistics(arrays["A"], arrays["B"], float(values["weight"]), float(values["decay"]))
        return cls(rows, fresh, past, bool(values["starting"]), int(values["n_learnt"]))


def _rows_of(arrays: dict[str, NDArray[Any]], name: str) -> Rows:
    X, *sources = (arrays[key] for key in sorted(arrays) if key.startswith(f"{name}."))
    return Rows(X, tuple(sources))
