"""The dictionary of a stream: components, the sums they are learnt from, and the steps that move them."""

from dataclasses import dataclass
from math import sqrt
from typing import Any, Self

import numpy as np
from scipy import linalg

from ..._types import Array, BoolArray
from ..encoder.encoder import Encoder
from ..linalg.systems import regularised
from ..linalg.units import Units
from ..solvers.nonnegative import nonnegative_newton
from ..solvers.projection import newton
from .nonnegative import nonnegative_step, scale_atoms
from .statistics import Balanced, Statistics, balance, block_coordinate_step, direct_step, recursive_step

_EXACT = 1e-4
"""Relative gap to which samples are encoded for learning."""
_WINDOWS_UNBALANCED, _SAMPLES_UNBALANCED = 3.0, 60
"""Windows, and samples per component, of which the lesser number may pass before the factors are balanced again."""
_FADED = 1e-3
"""Components whose singular value is below this share of the rank penalty are dropped."""


@dataclass(eq=False)
class Dictionary:
    """Components U' that are moved by steps of one kind towards the solution of (9) for their `Statistics`.

    Recursive steps need no B: it is implied by the components, which solve (9) for it.
    """

    components: Array
    statistics: Statistics
    code: Array
    """Of the last ordinary sample: where the next one starts."""
    kind: str
    """Of the steps: "block", "direct" or "recursive", or "nonnegative": then components and codes are, too."""
    step_penalty: float = 0.0
    """Rank penalty of the last step."""
    unbalanced: int = 0
    """Samples since the factors were balanced."""

    @classmethod
    def empty(cls, n_features: int, dtype: Any, kind: str) -> Self:
        """Without components."""
        return cls(np.zeros((0, n_features), dtype), Statistics.empty(0, 0), np.zeros(0, dtype), kind)

    def __len__(self) -> int:
        return len(self.components)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.components.shape[1]

    @property
    def nonnegative(self) -> bool:
        """Whether components, codes and outliers are nonnegative."""
        return self.kind == "nonnegative"

    @property
    def window(self) -> float:
        """Effective number of samples that the components are learnt from."""
        return max(self.statistics.weight, 1.0)

    @property
    def typical_entry(self) -> float:
        """Root mean square of the entries of the low-rank part, over the window."""
        energy = float(np.sum(self.statistics.A * (self.components @ self.components.T)))
        return sqrt(max(energy, 0.0) / (self.window * self.n_features))

    def encode(self, X: Array, near: BoolArray, lam_star: float, lam: Array, n_layers: int | None = None) -> Array:
        """Codes (5): from the last code where that is near, since it explains most of a sample; else from nothing.

        By so many passes of Algorithm 1; None: exactly.
        """
        codes = np.empty((len(X), len(self)), X.dtype)
        for rows, warm in ((near, True), (~near, False)):
            if rows.any():
                some = X if rows.all() else X[rows]
                start = np.tile(self.code, (len(some), 1)) if warm else None
                codes[rows] = self._codes(some, start, lam_star, lam, n_layers)
        return codes

    def _codes(self, X: Array, start: Array | None, lam_star: float, lam: Array, n_layers: int | None) -> Array:
        if n_layers is None:
            project = nonnegative_newton if self.nonnegative else newton
            return next(project(X, self.components, lam_star, lam, start, tol=_EXACT)).codes
        encoder = Encoder.from_components(
            self.components,
            rank_penalty=lam_star,
            outlier_penalty=lam,
            n_layers=n_layers,
            nonnegative_codes=self.nonnegative,
            nonnegative_outliers=self.nonnegative,
        )
        return encoder.encode(X, init=start)[0]

    def unshrunk(self, codes: Array, lam_star: float) -> Array:
        """Codes nearly freed of what the rank penalty takes off them, lest it count as noise and raise itself.

        Nonnegative components are not orthogonal: with F those of a sample whose codes are positive, what the penalty
        took off is about lam_* (U_F' U_F + lam_*)^-1 s_F.
        """
        if self.nonnegative:
            wide, free = self.components.astype(np.float64), codes > 0
            systems = (wide @ wide.T) * (free[:, :, None] & free[:, None]) + lam_star * np.eye(len(wide))
            taken = lam_star * np.linalg.solve(regularised(systems), codes[:, :, None])[:, :, 0]
            return np.maximum(codes + taken, 0).astype(codes.dtype)
        sizes = np.einsum("ij,ij->i", self.components, self.components)
        return codes * np.minimum(1 + lam_star / np.maximum(sizes, np.finfo(sizes.dtype).tiny), 2).astype(codes.dtype)

    def adopt(self, components: Array, statistics: Statistics) -> None:
        """Go on with other components and the sums that they were learnt from."""
        self.components, self.statistics = components, self._storable(statistics)

    def begin(self, lam_star: float) -> None:
        """Set back what belongs to other components than the present ones."""
        self.code = np.zeros(len(self.components), self.components.dtype)
        self.unbalanced = 0
        self.step_penalty = lam_star

    def add(self, block: Statistics) -> Statistics:
        """Add the sums of a block of samples; return those before."""
        before = self.statistics
        self.statistics = before.merge(self._storable(block))
        return before

    def step(self, before: Statistics, block: Statistics, lam_star: float) -> None:
        """Move the components to where the sums are now, after a block was added to those before."""
        last_lam_star, self.step_penalty = self.step_penalty, lam_star
        match self.kind:
            case "direct":
                moved = direct_step(self.statistics, lam_star)
            case "recursive":
                moved = recursive_step(before, block, self.components, lam_star, last_lam_star)
            case "nonnegative":
                moved = nonnegative_step(self.statistics, self.components, lam_star)
            case _:
                moved = block_coordinate_step(self.statistics, self.components, lam_star)
        self.components = moved.astype(self.components.dtype)

    @property
    def out_of_balance(self) -> bool:
        """Whether so many samples have passed that the factors should be balanced."""
        return self.unbalanced >= min(_WINDOWS_UNBALANCED * self.statistics.weight, _SAMPLES_UNBALANCED * len(self))

    def balance(self, lam_star: float) -> None:
        """Components of falling norm again, orthogonal if they may have any sign; those that faded away are dropped."""
        self.unbalanced = 0
        implied = self.kind == "recursive"
        balanced = self._balanced(self._with_B() if implied else self.statistics)
        alive = balanced.singular_values > _FADED * lam_star
        statistics = balanced.statistics.select(alive)
        components = direct_step(statistics, self.step_penalty) if implied else balanced.components[alive]
        self.components = components.astype(self.components.dtype)
        self.code = (self.code @ balanced.change[:, alive]).astype(self.components.dtype)
        self.statistics = self._storable(statistics)

    def open_direction(self, direction: Array, value: float) -> None:
        """Add a component along a direction of length one, as if of this singular value."""
        self.components = np.concatenate([self.components, direction.dtype.type(sqrt(value)) * direction[None]])
        self.code = np.append(self.code, direction.dtype.type(0))
        self.statistics = self.statistics._replace(A=linalg.block_diag(self.statistics.A, value))
        self.complete()

    def put_first(self, components: Array, statistics: Statistics, most: int) -> None:
        """Put other components before the old ones, as far as there is room; `complete` then makes up their B."""
        old = self._balanced(self.statistics)
        room = slice(max(most - len(components), 0))
        faded = old.statistics.forget(statistics.weight / self.window)
        self.components = np.concatenate([components, old.components[room]])
        A = linalg.block_diag(statistics.A, faded.A[room, room])
        self.statistics = Statistics(A, np.zeros((len(A), 0)), statistics.weight, 0.0)

    def complete(self) -> None:
        """Make up B from the components, where it is needed."""
        self.statistics = self._storable(self._with_B())

    def use(self, kind: str) -> None:
        """Go on with another kind of steps."""
        self.kind = kind
        if not self.statistics.B.shape[1] and kind != "recursive" and len(self):
            self.statistics = self._with_B()
        self.statistics = self._storable(self.statistics)

    def to_units(self, units: Units) -> None:
        """Measure everything in other units."""
        self.components, self.code = map(units.factors_to_units, (self.components, self.code))
        self.statistics = self.statistics.to_units(units)
        self.step_penalty = units.to_units(self.step_penalty)

    def _balanced(self, statistics: Statistics) -> Balanced:
        return (scale_atoms if self.nonnegative else balance)(statistics, self.components)

    def _with_B(self) -> Statistics:
        """The statistics with the B that the components solve (9) for."""
        return self.statistics._replace(B=self.statistics.system(self.step_penalty) @ self.components)

    def _storable(self, statistics: Statistics) -> Statistics:
        """Without B, if nothing needs it."""
        return statistics._replace(B=statistics.B[:, :0]) if self.kind == "recursive" else statistics
