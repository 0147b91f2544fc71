"""Spectra that follow a song, lesson by lesson: none of them takes long, the first ones included."""

from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

import numpy as np

from ..._rules import ArrayOf, Number, Record
from ..._types import AnyArray
from ...core.online.nonnegative import nonnegative_step, scale_atoms
from ...core.online.statistics import Statistics
from ...core.penalties import Penalties
from ...core.solvers.nmf import nmf_iterates
from ...core.solvers.nonnegative import nonnegative_newton

START, SWEEPS = 64, 3
"""Frames of the start, and sweeps over them in each of its lessons. With 40 to 80 frames and 1 to 3 sweeps, on 58
training clips of MIR-1K, more of either gained up to 0.14 dB and cost more time."""
_APART = 2
"""Every other frame of a lesson becomes a spectrum. There 4 was worse for both singers; 1 was worse for one of them and
better for the other."""
_FORGETTING = 1 - 1 / 200
"""What each frame multiplies the weight of earlier ones by: the window is 200 frames, 3.2 s. Of 100, 150, 200 and 300,
on seven whole songs of the same singers, shorter ones were better for one singer and longer ones for none."""
_EXACT = 1e-4
"""Relative gap to which frames are encoded for learning."""
_FADED = 1e-3
"""Spectra that weigh less than this share of the rank penalty are dropped."""

LOUDEST = 1e6
"""Frames are over their running level: even the first after silence is far below this many times it."""
_MOST = LOUDEST**3
SPECTRA = Record(
    {
        "components": ArrayOf(("float32",), "q", "m", low=0.0, high=LOUDEST),
        "first": ArrayOf(("float32",), "first", "m", low=0.0, high=LOUDEST),
        "A": ArrayOf(("float64",), "q", "q", low=0.0, high=_MOST),
        "B": ArrayOf(("float64",), "q", "m", low=-_MOST, high=_MOST),
        "weight": Number(0.0, _MOST),
        "decay": Number(0.0, 1.0),
    }
)
"""What a file holds."""


@dataclass(eq=False)
class Spectra:
    """Nonnegative spectra U, and the sums over past frames that they are learnt from.

    Frames themselves are the first spectra: some of every lesson, until there are as many as wanted. The frames of the
    start are kept, and each of its lessons takes a few sweeps of robust NMF over all of them, from where the last one
    ended. Later lessons are steps as those of `unmingle.OnlineRobustNMF`: frames are encoded and enter the sums, where
    the past fades, and U follows. Spectra that are not heard any more fade and make room for new ones.
    """

    components: AnyArray
    sums: Statistics
    first: AnyArray
    """Frames of the start; none once it is over."""

    @classmethod
    def none(cls, n_bins: int) -> Self:
        """Before the first lesson."""
        nothing = np.zeros((0, n_bins), np.float32)
        return cls(nothing, Statistics.empty(0, n_bins), nothing)

    def learn(self, frames: AnyArray, most: int, penalties: Penalties) -> None:
        """A lesson of some frames, not all of them silent; there are at most so many spectra."""
        rank_penalty, lam = penalties.rank_penalty, np.full(frames.shape[1], penalties.outlier_penalty, frames.dtype)
        self._open(frames[frames.any(axis=1)][::_APART][: most - len(self.components)])
        if self.sums.weight < START:
            self._begin(frames, rank_penalty, lam)
        else:
            self._follow(frames, rank_penalty, lam)
        self._balance(rank_penalty)

    def _open(self, frames: AnyArray) -> None:
        """Let frames be spectra, as long as their codes; the sums know nothing of them yet."""
        lengths = np.linalg.norm(frames.astype(np.float64), axis=1, keepdims=True)
        self.components = np.concatenate([self.components, (frames / np.sqrt(lengths)).astype(frames.dtype)])
        A, B = np.pad(self.sums.A, (0, len(frames))), np.pad(self.sums.B, ((0, len(frames)), (0, 0)))
        self.sums = self.sums._replace(A=A, B=B)

    def _begin(self, frames: AnyArray, rank_penalty: float, lam: AnyArray) -> None:
        """Learn from all frames of the start so far."""
        known, start = np.concatenate([self.first, frames]), self.components
        chance = np.random.default_rng(0)  # not needed from this start
        sweeps = nmf_iterates(known, rank_penalty, lam, n_components=len(start), init=start, rng=chance)
        *_, found = islice(sweeps, SWEEPS)
        self.components = found.components
        self.sums = self._summed(known, found.codes, lam, 1.0)
        self.first = known if len(known) < START else known[:0]

    def _follow(self, frames: AnyArray, rank_penalty: float, lam: AnyArray) -> None:
        """Learn from these frames and from the sums."""
        codes = next(nonnegative_newton(frames, self.components, rank_penalty, lam, tol=_EXACT)).codes
        self.sums = self.sums.merge(self._summed(frames, codes, lam, _FORGETTING))
        self.components = nonnegative_step(self.sums, self.components, rank_penalty)

    def _summed(self, frames: AnyArray, codes: AnyArray, lam: AnyArray, forgetting: float) -> Statistics:
        """Sums over frames, the voice taken off."""
        return Statistics.of(codes, np.minimum(frames, codes @ self.components + lam), forgetting)

    def _balance(self, rank_penalty: float) -> None:
        """Make each spectrum as long as its codes, and drop those that faded away."""
        balanced = scale_atoms(self.sums, self.components)
        alive = balanced.singular_values > _FADED * rank_penalty
        self.components, self.sums = balanced.components[alive], balanced.statistics.select(alive)

    def _to_store(self) -> dict[str, Any]:
        return {"components": self.components, "first": self.first, **self.sums._asdict()}

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        sums = Statistics(*(content[name] for name in Statistics._fields))
        if len(content["first"]) != (sums.weight if sums.weight < START else 0):
            raise ValueError("the frames of the start should be those that the sums are of")
        return cls(content["components"], sums, content["first"])
