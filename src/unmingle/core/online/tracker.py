"""The tracker: state and recurrence."""

from copy import copy, deepcopy
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from ..._types import Array, BoolArray, Float64Array, IndexArray
from ...kernels.stream import cleaning_pass
from ..decomposition.problem import refuse_vanishing
from ..decomposition.result import Decomposition
from ..linalg.norms import leading_direction
from ..linalg.units import Units
from ..penalties import from_noise, matching_outlier_penalty, nonnegative_from_noise
from ..solvers.projection import some_features
from .dictionary import Dictionary
from .noise import NoiseTracker, noise_and_floor
from .nonnegative import nonnegative_direction
from .settings import TrackerSettings
from .start import robust_start, summary_of, units_of, without_empty_rows
from .statistics import Statistics
from .stored import from_store, to_store

_SOLVED = 1e-2
"""Tolerance of the first solution, which later samples improve."""
_LONGEST_START = 8
"""The start may take so many times the samples it was meant to take."""
_GROWTH = 1.5
"""Waiting samples are solved anew whenever their number has grown by this factor."""
_FAR = 5.0
"""A sample most of whose entries are off by more than so many noise levels is a stranger."""
_COVERED = 3.0
"""How many times what the rank penalty takes off the outlier penalty is at least."""
_OFF = 2.0
"""An entry off by more than so many noise levels speaks against its feature of the dictionary."""
_SWING, _SURE, _LARGEST_REACH = 8.0, 32, 1e6
"""A feature that is off in all of so many samples widens its bound by this factor, up to so much."""
_WIDEST = 3.0
"""Typical entries of the low-rank part that no bound exceeds: a sensor that sends nonsense must not bend the others."""
_NEAR = 2.0
"""The last code is a good start for a sample most of whose entries it explains to so many outlier penalties."""
_PATIENCE = 10
"""Strangers, net of ordinary samples, after which the stream may have jumped."""
_COHERENT = 1.5
"""How far above that of noise the leading singular value of deviations is if they have a direction in common."""
_SAMPLED = 200
"""Features on which noise and strangers are judged."""
_MUCH_LARGER = 2.0**10
"""Growth of the root of the units at which they are changed."""
_LARGEST = 1e15
"""Entries beyond this are cut: outliers they remain, and their squares do not overflow."""


class Learnt(NamedTuple):
    """What a stream taught, in the units of the data."""

    components: Array
    rank_penalty: float
    outlier_penalty: Any
    noise_level: float


@dataclass(eq=False)
class Tracker:
    """Components U that follow a stream, in memory that does not grow with it.

    A sample x is encoded with the present components, (5). Its code s and x - o enter the `Statistics`, where the past
    fades, and a dictionary step (9) moves the components. Around this recurrence:

    - The first samples wait until they are enough, and are solved robustly as one matrix, (4): nothing is assumed
      clean. Meanwhile there is a provisional solution.
    - The noise level follows the stream, and automatic penalties follow it. With a fixed level learning would end
      wherever the components are off by more: every deviation would be an outlier.
    - A feature that is off in most samples is not full of outliers, its part of the dictionary is wrong: the bound on
      the deviations that are learnt from widens there until it is right.
    - A sample that is off in most features is a stranger, and not learnt from. If strangers keep coming and have few
      components in common, the stream has jumped: these are opened beside the fading old ones.
    - With automatic forgetting the window grows with the stream, and shrinks when the noise level rises: drift.

    With the ``dictionary_step`` "nonnegative" all of this is done with nonnegative components, codes and outliers.

    All numbers are in units in which the median entry of the first samples is about one.

    Cost of a sample: encoding, some 12 m q flops, and 4 m q for the statistics; of a batch: 2 m q^2 for the step.
    Memory: 2 m q numbers, or m q with recursive steps, and ``start_size`` waiting samples, eight times as many at most.
    """

    settings: TrackerSettings
    rng: np.random.Generator
    dictionary: Dictionary
    reach: Float64Array
    """(m,): how much wider than the outlier penalty the bound on deviations is, 1 or more."""
    waiting: Array
    """Samples not learnt from yet: those of the start, or strangers."""
    start_size: int
    """Number of samples to wait for; it grows if they do not tell anything."""
    starting: bool = True
    solved_at: int = 0
    """Number of waiting samples when they were last solved."""
    doubt: int = 0
    """Strangers, net of ordinary samples."""
    units: Units | None = None
    """Of all numbers; None until there is one that is not zero."""
    noise: NoiseTracker = field(default_factory=NoiseTracker)
    n_seen: int = 0
    n_jumps: int = 0
    _some: IndexArray = field(default_factory=lambda: np.zeros(0, np.intp), repr=False)

    @classmethod
    def fresh(cls, settings: TrackerSettings, n_features: int, dtype: Any, rng: np.random.Generator) -> Self:
        """A tracker that has seen nothing."""
        dictionary = Dictionary.empty(n_features, dtype, settings.dictionary_step)
        return cls(settings, rng, dictionary, np.ones(n_features), dictionary.components, settings.start_size)

    @classmethod
    def from_statistics(
        cls,
        settings: TrackerSettings,
        rng: np.random.Generator,
        components: Array,
        statistics: Statistics,
        n_seen: int,
        units: Units,
        noise: tuple[float, float],
    ) -> Self:
        """A tracker that goes on from samples summed up elsewhere; ``noise`` is the level and its floor."""
        tracker = cls.fresh(settings, components.shape[1], components.dtype, rng)
        tracker.units, tracker.n_seen, tracker.starting = units, n_seen, False
        tracker.dictionary.adopt(components, statistics)
        tracker._begin(n_seen, *noise)
        return tracker

    def copied(self) -> Self:
        """The same state, to go on from."""
        other = copy(self)
        other.rng, other.dictionary, other.noise = deepcopy(self.rng), copy(self.dictionary), copy(self.noise)
        other.reach = self.reach.copy()
        return other

    def __post_init__(self) -> None:
        self._some = some_features(self.dictionary.n_features, _SAMPLED)

    @property
    def penalties(self) -> tuple[float, Any]:
        """Rank and outlier penalty for the present noise level and window w, in the units of the tracker.

        As for a matrix of w samples; but what the rank penalty takes off q components, lam_* sqrt(q / (m w)) for each
        entry, must not count as outlier, which matters when the window is short.
        """
        rank_penalty, outlier_penalty = self._given_penalties()
        window, m, nonnegative = self.dictionary.window, self.dictionary.n_features, self.dictionary.nonnegative
        if rank_penalty is None:
            of_noise = nonnegative_from_noise if nonnegative else from_noise
            rank_penalty = of_noise(self.noise.level, window, m).rank_penalty or 1.0
        if outlier_penalty is None:
            short = max(1.0, _COVERED * sqrt(len(self.dictionary) / window))
            outlier_penalty = matching_outlier_penalty(short * rank_penalty, window, m, nonnegative=nonnegative)
        return rank_penalty, outlier_penalty

    def learn(self, X: Array) -> None:
        """Take in a batch of samples, in their order."""
        self.n_seen += len(X)
        X = without_empty_rows(X)
        self.units = self.units or units_of(X)
        with np.errstate(over="ignore"):
            X = self._known_units.to_units(X)
        np.clip(X, -_LARGEST, _LARGEST, out=X)
        while len(X):
            X = self._wait(X) if self.starting else self._follow(X)

    @property
    def dtype(self) -> Any:
        """Of the samples."""
        return self.dictionary.components.dtype

    @property
    def has_learnt_nothing(self) -> bool:
        """Whether no entry was known so far."""
        return self.noise.age == 0

    @property
    def learnt(self) -> Learnt:
        """What was learnt so far, in the units of the data."""
        units, penalties = self._known_units, self.penalties
        return Learnt(
            units.factors_from_units(self.dictionary.components), *map(units.from_units, (*penalties, self.noise.level))
        )

    @property
    def _known_units(self) -> Units:
        """Those of the data, as long as there are no others."""
        return self.units or Units()

    def settle(self) -> None:
        """Solve for all samples of the start that have come, few as they may be."""
        if self.starting and len(self.waiting) > self.solved_at:
            self._solve_waiting()

    def _wait(self, X: Array) -> Array:
        """Let samples of the start wait until they are enough; return those that are left over."""
        room = self.start_size - len(self.waiting)
        self.waiting = np.concatenate([self.waiting, X[:room]])
        count = len(self.waiting)
        full = count >= self.start_size
        if full or count >= _GROWTH * self.solved_at:
            self._solve_waiting()
        if full and len(self.dictionary):
            self._begin_to_follow()
        elif full and count < _LONGEST_START * self.settings.start_size:
            self.start_size *= 2
        elif full:  # nothing repeats yet
            self.waiting = self.waiting[(count + 1) // 2 :]
            self.solved_at = len(self.waiting)
        return X[room:]

    def _solve_waiting(self) -> None:
        self._suit_units_to_waiting()
        rank_penalty, outlier_penalty = self._given_penalties()
        self._adopt(self._solution(rank_penalty, outlier_penalty))
        self.solved_at = len(self.waiting)

    def _suit_units_to_waiting(self) -> None:
        """Change the units if the waiting samples are much larger than those that they were made for."""
        larger = units_of(self.waiting)
        if larger is None or larger.root < _MUCH_LARGER:
            return
        self.units = Units(self._known_units.root * larger.root)
        self.waiting = larger.to_units(self.waiting)
        self.dictionary.to_units(larger)
        self.noise.to_units(larger)

    def _begin_to_follow(self) -> None:
        self.starting = False
        self._dismiss_waiting()

    def _dismiss_waiting(self) -> None:
        self.waiting = self.waiting[:0].copy()
        self.solved_at = self.doubt = 0

    def _solution(self, rank_penalty: float | None, outlier_penalty: Any) -> Decomposition:
        """(4) for the waiting samples."""
        return robust_start(
            self.waiting, self.settings.n_components, rank_penalty, outlier_penalty, tol=_SOLVED, random_state=self.rng,
            nonnegative=self.dictionary.nonnegative,
        )  # fmt: skip

    def _adopt(self, part: Decomposition) -> None:
        """Begin anew with a solution for the waiting samples."""
        X = self.waiting
        self.dictionary.adopt(part.components, summary_of(part, X))
        signs = {"nonnegative": self.dictionary.nonnegative}
        self._begin(len(X), *noise_and_floor(part, X, automatic=self.settings.rank_penalty is None, **signs))

    def _begin(self, n: int, level: float, floor: float) -> None:
        """Set back what belongs to other components than the present ones, fitted to n samples."""
        self.noise.restart(n, level, floor)
        self.reach[:] = 1.0
        self.dictionary.begin(self.penalties[0])

    def _follow(self, X: Array) -> Array:
        """Learn from the ordinary samples, and wonder about the others."""
        rank_penalty, outlier_penalty = self.penalties
        lam = np.broadcast_to(np.asarray(outlier_penalty), X.shape[1:]).astype(X.dtype)
        sampled, atoms = np.take(X, self._some, axis=1), np.take(self.dictionary.components, self._some, axis=1)
        near = ~_mostly_above(np.abs(sampled - self.dictionary.code @ atoms) / lam[self._some], _NEAR)
        codes = self.dictionary.encode(X, near, rank_penalty, lam, self.settings.n_layers)
        deviations = np.abs(sampled - self.dictionary.unshrunk(codes, rank_penalty) @ atoms)
        strange = _mostly_above(deviations, _FAR * self.noise.level)
        if strange.any():
            ordinary = ~strange
            strangers, X, codes, deviations = X[strange], X[ordinary], codes[ordinary], deviations[ordinary]
        if len(X):
            self._improve(X, codes, lam)
            freedom = max(1 - codes.shape[1] / X.shape[1], 1 / X.shape[1])
            self.noise.update(deviations, freedom, self.settings.start_size)
        if self.starting:  # all components faded away
            return X[:0]
        if strange.any():
            self._wonder(strangers, len(X))
        elif self.doubt:
            self._calm_down(len(X))
        return X[:0]

    def _improve(self, X: Array, codes: Array, lam: Array) -> None:
        """The recurrence: statistics, then a dictionary step."""
        cleaned, beyond = np.empty_like(X), np.empty(X.shape[1], np.int64)
        bound = lam
        if self.reach.max() > 1:
            bound = np.maximum(lam, np.minimum(self.reach * lam, _WIDEST * self.dictionary.typical_entry)).astype(
                X.dtype
            )
        limit = np.maximum(bound, X.dtype.type(_OFF * self.noise.level))
        below = np.full_like(bound, np.inf) if self.dictionary.nonnegative else bound
        cleaning_pass(X, codes, self.dictionary.components, bound, below, limit, cleaned, beyond)
        forgetting = self.settings.forgetting
        block = Statistics.of(codes, cleaned, self.noise.forgetting(len(X)) if forgetting is None else forgetting)
        before = self.dictionary.add(block)
        self.dictionary.step(before, block, self.penalties[0])
        self.dictionary.code = codes[-1]
        swing = (2 * beyond / len(X) - 1) * min(1.0, len(X) / _SURE)
        np.clip(self.reach * _SWING**swing, 1.0, _LARGEST_REACH, out=self.reach)
        self.dictionary.unbalanced += len(X)
        if self.dictionary.out_of_balance:
            self._seek_direction(X, codes, bound)
            self._balance()

    def _seek_direction(self, X: Array, codes: Array, bound: Array) -> None:
        """Open a component if what the others leave is not all noise, but has a direction in common.

        A new cause that comes slowly raises the noise level, so that no sample ever is a stranger. The leading singular
        value of the deviations, outliers left out, tells: of n samples of pure noise it is sigma (sqrt n + sqrt m).
        """
        n, m = X.shape
        if n < _PATIENCE or len(self.dictionary) >= self._most_components:
            return
        rest = X - codes @ self.dictionary.components
        rest[~(np.abs(rest) < bound)] = 0
        direction, strength = leading_direction(rest, self.rng)
        if self.dictionary.nonnegative:
            direction, strength = nonnegative_direction(rest, direction)
        if strength > _COHERENT * self.noise.level * (sqrt(n) + sqrt(m)):
            value = strength * sqrt(max(self.dictionary.statistics.weight / n, 1.0))
            self.dictionary.open_direction(direction, value)

    @property
    def _most_components(self) -> int:
        return min(self.settings.n_components or self.settings.start_size // 2, self.dictionary.n_features)

    def _balance(self) -> None:
        self.dictionary.balance(self.penalties[0])
        if not len(self.dictionary):
            self.starting = True
            self._dismiss_waiting()

    def _calm_down(self, n_ordinary: int) -> None:
        self.doubt = max(self.doubt - n_ordinary, 0)
        if self.doubt == 0:
            self._dismiss_waiting()

    def _wonder(self, strangers: Array, n_ordinary: int) -> None:
        """Let strangers wait; if there are many of them, see what they have in common."""
        self.waiting = np.concatenate([self.waiting, strangers])[-self.settings.start_size :]
        self.doubt += len(strangers)
        self._calm_down(n_ordinary)
        count = len(self.waiting)
        full = count >= self.settings.start_size
        if self.doubt >= min(_PATIENCE, self.settings.start_size) and (full or count >= _GROWTH * self.solved_at):
            self.solved_at = count
            self._reconsider(full)

    def _reconsider(self, patience_is_over: bool) -> None:
        """Open what the strangers have in common; if that is nothing and they are many, begin anew with them."""
        n = len(self.waiting)
        self._suit_units_to_waiting()
        rank_penalty, outlier_penalty = self._given_penalties()
        from_level = from_noise(self.noise.level, n, self.dictionary.n_features)
        part = self._solution(rank_penalty or from_level.rank_penalty, outlier_penalty)
        still_strange = _mostly_above(np.abs(self.waiting - part.low_rank), _FAR * self.noise.level)
        if 0 < 2 * part.rank <= n and 2 * np.count_nonzero(still_strange) < n:
            self._open(part)
        elif not patience_is_over:
            return
        elif (part := self._solution(rank_penalty, outlier_penalty)).rank:
            self._adopt(part)
        self.n_jumps += part.rank > 0
        self._dismiss_waiting()

    def _open(self, part: Decomposition) -> None:
        """Put the components of a solution for the waiting samples before the old ones, as far as there is room."""
        self.dictionary.put_first(part.components, summary_of(part, self.waiting), self._most_components)
        self._begin(len(part.codes), self.noise.level, self.noise.floor)
        self.dictionary.complete()
        self._balance()

    def _given_penalties(self) -> tuple[float | None, Any]:
        """The penalties that were given, in the units of the tracker."""
        units, settings = self._known_units, self.settings
        penalties = units.to_units(settings.rank_penalty), units.to_units(settings.outlier_penalty)
        given = [1.0 if one is None else one for one in penalties]
        refuse_vanishing(given[0], np.asarray(given[1], np.float64))
        return penalties

    def use(self, settings: TrackerSettings) -> None:
        """Go on with other settings."""
        self.settings = settings
        self.dictionary.use(settings.dictionary_step)

    def _to_store(self) -> dict[str, Any]:
        """Everything needed to go on exactly as if nothing had happened."""
        return to_store(self)

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        """What `_to_store` gave, brought back to life with the ``settings``, which are stored elsewhere."""
        settings = content["settings"]
        return cls(settings=settings, **from_store(content, settings.dictionary_step))


def _mostly_above(deviations: Array, limit: float) -> BoolArray:
    """Rows most of whose known entries are above a limit."""
    return 2 * np.count_nonzero(deviations > limit, axis=1) > np.count_nonzero(~np.isnan(deviations), axis=1)
