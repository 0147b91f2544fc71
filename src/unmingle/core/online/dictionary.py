"""The dictionary of a stream: components, the sums they are learnt from, and the steps that move them."""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Annotated, Any, Self

import numpy as np
from scipy import linalg

from ..._rules import FLOATS, ArrayOf, Count, Number, OneOf, Record
from ..._types import Array, BoolArray
from ..encoder.encoder import Encoder
from ..linalg.systems import regularised
from ..linalg.units import Units
from ..solvers.nonnegative import nonnegative_newton
from ..solvers.projection import newton
from .noise import AMOUNT
from .nonnegative import nonnegative_step, scale_atoms
from .statistics import Balanced, Statistics, balance, block_coordinate_step, direct_step, recursive_step

STEPS = ("block", "direct", "recursive")
"""Dictionary steps for components of any sign; "nonnegative" is the one for nonnegative components."""
_EXACT = 1e-4
"""Relative gap to which samples are encoded for learning."""


@dataclass(frozen=True)
class Balance:
    """When the factors are balanced again, and what becomes of components that faded meanwhile."""

    windows: float = 3.0
    """The factors are balanced after this number of windows at the latest."""
    samples: int = 60
    """They are balanced after this number of samples per component at the latest."""
    faded: float = 1e-3
    """Components whose singular value is below this share of the rank penalty are dropped."""


BALANCE = Balance()


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Components U' that are moved by steps of one kind towards the solution of (9) for their `Statistics`.

    A value: whatever changes it gives another one, and no array of it is ever written to. Recursive steps need no B: it
    is implied by the components, which solve (9) for it.
    """

    components: Annotated[Array, ArrayOf(FLOATS, "q", "m", alike="stream")]
    statistics: Annotated[
        Statistics,
        Record(
            {
                "A": ArrayOf(("float64",), "q", "q"),
                "B": ArrayOf(FLOATS, "q", ("m", 0)),
                "weight": AMOUNT,
                "decay": Number(0.0, 1.0),
            }
        ),
    ]
    code: Annotated[Array, ArrayOf(FLOATS, "q", alike="stream")]
    """Of the last ordinary sample of a batch: where all those of the next batch start that it explains."""
    kind: Annotated[str, OneOf(*STEPS, "nonnegative")]
    """Of the steps; with "nonnegative" ones, components and codes are nonnegative, too."""
    step_penalty: Annotated[float, AMOUNT] = 0.0
    """Rank penalty of the last step."""
    unbalanced: Annotated[int, Count()] = 0
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
        """Codes (5): from ``code`` for rows that it is ``near``, since it explains most of them; else from nothing.

        With ``n_layers`` by that number of passes of Algorithm 1, with None exactly.
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

    def replaced_by(self, components: Array, statistics: Statistics) -> Self:
        """Other components, and the sums that they were learnt from; `restarted` is to follow."""
        return replace(self, components=components, statistics=_as_needed(statistics, self.kind))

    def restarted(self, lam_star: float) -> Self:
        """The same components, without what belongs to those before them."""
        code = np.zeros(len(self.components), self.components.dtype)
        return replace(self, code=code, unbalanced=0, step_penalty=lam_star)

    def add(self, block: Statistics) -> Self:
        """With the sums of a block of samples added."""
        return replace(self, statistics=self.statistics.merge(_as_needed(block, self.kind)))

    def step(self, before: Statistics, block: Statistics, lam_star: float) -> Self:
        """Components moved to where the sums are now, after a block was added to those before."""
        match self.kind:
            case "direct":
                moved = direct_step(self.statistics, lam_star)
            case "recursive":
                moved = recursive_step(before, block, self.components, lam_star, self.step_penalty)
            case "nonnegative":
                moved = nonnegative_step(self.statistics, self.components, lam_star)
            case _:
                moved = block_coordinate_step(self.statistics, self.components, lam_star)
        return replace(self, components=moved.astype(self.components.dtype), step_penalty=lam_star)

    @property
    def out_of_balance(self) -> bool:
        """Whether enough samples have passed that the factors should be balanced."""
        return self.unbalanced >= min(BALANCE.windows * self.statistics.weight, BALANCE.samples * len(self))

    def balance(self, lam_star: float) -> Self:
        """Components of falling norm again, orthogonal if they may have any sign; those that faded away are dropped."""
        implied = self.kind == "recursive"
        balanced = self._balanced(self._with_B() if implied else self.statistics)
        alive = balanced.singular_values > BALANCE.faded * lam_star
        statistics = balanced.statistics.select(alive)
        components = direct_step(statistics, self.step_penalty) if implied else balanced.components[alive]
        return replace(
            self,
            components=components.astype(self.components.dtype),
            code=(self.code @ balanced.change[:, alive]).astype(self.components.dtype),
            statistics=_as_needed(statistics, self.kind),
            unbalanced=0,
        )

    def with_direction(self, direction: Array, value: float) -> Self:
        """One more component, along a direction of length one, as if of this singular value."""
        larger = replace(
            self,
            components=np.concatenate([self.components, direction.dtype.type(sqrt(value)) * direction[None]]),
            code=np.append(self.code, direction.dtype.type(0)),
            statistics=self.statistics._replace(A=linalg.block_diag(self.statistics.A, value)),
        )
        return larger.completed()

    def behind(self, components: Array, statistics: Statistics, most: int) -> Self:
        """Other components before these, of which there stay as many as there is room for.

        Then `restarted` is to follow, and `completed`, which makes up their B.
        """
        old = self._balanced(self.statistics)
        room = slice(max(most - len(components), 0))
        faded = old.statistics.forget(statistics.weight / self.window)
        A = linalg.block_diag(statistics.A, faded.A[room, room])
        return replace(
            self,
            components=np.concatenate([components, old.components[room]]),
            statistics=Statistics(A, np.zeros((len(A), 0)), statistics.weight, 0.0),
        )

    def completed(self) -> Self:
        """With B made up from the components, where it is needed."""
        return replace(self, statistics=_as_needed(self._with_B(), self.kind))

    def with_steps(self, kind: str) -> Self:
        """The same components, to be moved by another kind of steps."""
        statistics = self.statistics
        if not statistics.B.shape[1] and kind != "recursive" and len(self):
            statistics = self._with_B()
        return replace(self, kind=kind, statistics=_as_needed(statistics, kind))

    def to_units(self, units: Units) -> Self:
        """The same dictionary, measured in other units."""
        components, code = map(units.factors_to_units, (self.components, self.code))
        return replace(
            self,
            components=components,
            code=code,
            statistics=self.statistics.to_units(units),
            step_penalty=units.to_units(self.step_penalty),
        )

    def _balanced(self, statistics: Statistics) -> Balanced:
        return (scale_atoms if self.nonnegative else balance)(statistics, self.components)

    def _with_B(self) -> Statistics:
        """The statistics with the B that the components solve (9) for."""
        return self.statistics._replace(B=self.statistics.system(self.step_penalty) @ self.components)


def _as_needed(statistics: Statistics, kind: str) -> Statistics:
    """Without B, if steps of this kind do not need it."""
    return statistics._replace(B=statistics.B[:, :0]) if kind == "recursive" else statistics
