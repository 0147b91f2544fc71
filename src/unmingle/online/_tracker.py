"""The tracker: state and recurrence."""

from dataclasses import dataclass, field, fields
from math import sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .. import kernels, solvers
from ..decomposition import Decomposition
from ..encoder import Encoder
from ..linalg import leading_direction
from ..penalties import Penalties, from_noise
from ._noise import Pace
from ._settings import Settings
from ._start import mostly_above, noise_and_floor, robust_start, root_of, summary_of, without_empty_rows
from ._statistics import Statistics, balance, block_coordinate_step, direct_step, recursive_step
from ._stored import check_state

Array = NDArray[np.floating[Any]]

_EXACT = 1e-4
"""Relative gap to which samples are encoded for learning."""
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
_WINDOWS_UNBALANCED, _SAMPLES_UNBALANCED = 3.0, 60
"""Windows, and samples per component, of which the lesser number may pass before the factors are balanced again."""
_FADED = 1e-3
"""Components whose singular value is below this share of the rank penalty are dropped."""
_MUCH_LARGER = 2.0**10
"""Growth of the root of the units at which they are changed."""
_LARGEST = 1e15
"""Entries beyond this are cut: outliers they remain, and their squares do not overflow."""
_NOT_STORED = ("settings", "rng", "statistics", "pace", "_some")


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

    All numbers are in units of ``root ** 2``, a power of two near the median entry of the first samples.

    Cost of a sample: encoding, some 12 m q flops, and 4 m q for the statistics; of a batch: 2 m q^2 for the step.
    Memory: 2 m q numbers, or m q with recursive steps, and ``start_size`` waiting samples, eight times as many at most.
    """

    settings: Settings
    rng: np.random.Generator
    components: Array
    statistics: Statistics
    code: Array
    """Of the last ordinary sample: where the next one starts."""
    reach: NDArray[np.float64]
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
    root: float = 0.0
    pace: Pace = field(default_factory=Pace)
    step_penalty: float = 0.0
    """Rank penalty of the last dictionary step."""
    unbalanced: int = 0
    n_seen: int = 0
    n_jumps: int = 0
    _some: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp), repr=False)

    @classmethod
    def fresh(cls, settings: Settings, n_features: int, dtype: Any, rng: np.random.Generator) -> Self:
        """A tracker that has seen nothing."""
        nothing = np.zeros((0, n_features), dtype)
        return cls(
            settings,
            rng,
            nothing,
            Statistics.empty(0, 0),
            np.zeros(0, dtype),
            np.ones(n_features),
            nothing,
            settings.start_size,
        )

    @classmethod
    def from_statistics(
        cls,
        settings: Settings,
        rng: np.random.Generator,
        components: Array,
        statistics: Statistics,
        n_seen: int,
        root: float,
        noise: tuple[float, float],
    ) -> Self:
        """A tracker that goes on from samples summed up elsewhere; ``noise`` is the level and its floor."""
        tracker = cls.fresh(settings, components.shape[1], components.dtype, rng)
        tracker.components, tracker.root, tracker.n_seen, tracker.starting = components, root, n_seen, False
        tracker.statistics = tracker._storable(statistics)
        tracker._begin(n_seen, *noise)
        return tracker

    def __post_init__(self) -> None:
        self._some = solvers.some_features(self.components.shape[1], _SAMPLED)

    @property
    def penalties(self) -> tuple[float, Any]:
        """Rank and outlier penalty for the present noise level and window w, in the units of the tracker.

        As for a matrix of w samples; but what the rank penalty takes off q components, lam_* sqrt(q / (m w)) for each
        entry, must not count as outlier, which matters when the window is short.
        """
        rank_penalty, outlier_penalty = self._given_penalties()
        window, m = max(self.statistics.weight, 1.0), self.components.shape[1]
        if rank_penalty is None:
            rank_penalty = self._from_noise(window).rank_penalty or 1.0
        if outlier_penalty is None:
            short = max(1.0, _COVERED * sqrt(len(self.components) / window))
            outlier_penalty = short * rank_penalty / sqrt(max(window, m))
        return rank_penalty, outlier_penalty

    def learn(self, X: Array) -> None:
        """Take in a batch of samples, in their order."""
        self.n_seen += len(X)
        X = without_empty_rows(X)
        if self.root == 0.0:
            self.root = root_of(X)
        with np.errstate(over="ignore"):
            X = X * X.dtype.type(1 / (self.root or 1.0) ** 2)
        np.clip(X, -_LARGEST, _LARGEST, out=X)
        while len(X):
            X = self._wait(X) if self.starting else self._follow(X)

    @property
    def has_learnt_nothing(self) -> bool:
        """Whether no entry was known so far."""
        return self.pace.age == 0

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
        if full and len(self.components):
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
        larger = root_of(self.waiting)
        if larger < _MUCH_LARGER:
            return
        self.root *= larger
        self.waiting = self.waiting / larger / larger
        self.components, self.code = self.components / larger, self.code / larger
        sums = self.statistics
        self.statistics = sums._replace(A=sums.A / larger**2, B=sums.B / larger**3)
        self.pace.rescale(1 / larger**2)
        self.step_penalty /= larger**2

    def _begin_to_follow(self) -> None:
        self.starting = False
        self._dismiss_waiting()

    def _dismiss_waiting(self) -> None:
        self.waiting = self.waiting[:0].copy()
        self.solved_at = self.doubt = 0

    def _solution(self, rank_penalty: float | None, outlier_penalty: Any) -> Decomposition:
        """(4) for the waiting samples."""
        return robust_start(
            self.waiting, self.settings.n_components, rank_penalty, outlier_penalty, tol=_SOLVED, random_state=self.rng
        )

    def _adopt(self, part: Decomposition) -> None:
        """Begin anew with a solution for the waiting samples."""
        X = self.waiting
        self.components = part.components
        self.statistics = self._storable(summary_of(part, X))
        self._begin(len(X), *noise_and_floor(part, X, automatic=self.settings.rank_penalty is None))

    def _begin(self, n: int, noise: float, floor: float) -> None:
        """Set back what belongs to other components than the present ones, fitted to n samples."""
        self.pace.restart(n, noise, floor)
        self.reach[:] = 1.0
        self.code = np.zeros(len(self.components), self.components.dtype)
        self.unbalanced = 0
        self.step_penalty = self.penalties[0]

    def _storable(self, statistics: Statistics) -> Statistics:
        """Without B, if nothing needs it."""
        recursive = self.settings.dictionary_step == "recursive"
        return statistics._replace(B=statistics.B[:, :0]) if recursive else statistics

    def _follow(self, X: Array) -> Array:
        """Learn from the ordinary samples, and wonder about the others."""
        rank_penalty, outlier_penalty = self.penalties
        lam = np.broadcast_to(np.asarray(outlier_penalty), X.shape[1:]).astype(X.dtype)
        sampled, atoms = np.take(X, self._some, axis=1), np.take(self.components, self._some, axis=1)
        near = ~mostly_above(np.abs(sampled - self.code @ atoms) / lam[self._some], _NEAR)
        codes = self._encode(X, near, rank_penalty, lam)
        deviations = np.abs(sampled - self._unshrunk(codes, rank_penalty) @ atoms)
        strange = mostly_above(deviations, _FAR * self.pace.noise)
        if strange.any():
            ordinary = ~strange
            strangers, X, codes, deviations = X[strange], X[ordinary], codes[ordinary], deviations[ordinary]
        if len(X):
            self._improve(X, codes, lam)
            freedom = max(1 - codes.shape[1] / X.shape[1], 1 / X.shape[1])
            self.pace.hear(deviations, freedom, self.settings.start_size)
        if self.starting:  # all components faded away
            return X[:0]
        if strange.any():
            self._wonder(strangers, len(X))
        elif self.doubt:
            self._calm_down(len(X))
        return X[:0]

    def _encode(self, X: Array, near: NDArray[np.bool_], lam_star: float, lam: Array) -> Array:
        """Codes (5): from the last code where that is near, since it explains most of a sample; else from nothing."""
        codes = np.empty((len(X), len(self.components)), X.dtype)
        for rows, warm in ((near, True), (~near, False)):
            if rows.any():
                some = X if rows.all() else X[rows]
                start = np.tile(self.code, (len(some), 1)) if warm else None
                codes[rows] = self._codes(some, start, lam_star, lam)
        return codes

    def _codes(self, X: Array, start: Array | None, lam_star: float, lam: Array) -> Array:
        if self.settings.n_layers is None:
            return next(solvers.newton(X, self.components, lam_star, lam, start, tol=_EXACT)).codes
        encoder = Encoder.from_components(
            self.components, rank_penalty=lam_star, outlier_penalty=lam, n_layers=self.settings.n_layers
        )
        return encoder.encode(X, init=start)[0]

    def _typical_entry(self) -> float:
        """Root mean square of the entries of the low-rank part, over the window."""
        energy = float(np.sum(self.statistics.A * (self.components @ self.components.T)))
        return sqrt(max(energy, 0.0) / (max(self.statistics.weight, 1.0) * self.components.shape[1]))

    def _unshrunk(self, codes: Array, lam_star: float) -> Array:
        """Codes nearly freed of what the rank penalty takes off them, lest it count as noise and raise itself."""
        sizes = np.einsum("ij,ij->i", self.components, self.components)
        return codes * np.minimum(1 + lam_star / np.maximum(sizes, np.finfo(sizes.dtype).tiny), 2).astype(codes.dtype)

    def _improve(self, X: Array, codes: Array, lam: Array) -> None:
        """The recurrence: statistics, then a dictionary step."""
        cleaned, beyond = np.empty_like(X), np.empty(X.shape[1], np.int64)
        bound = lam
        if self.reach.max() > 1:
            bound = np.maximum(lam, np.minimum(self.reach * lam, _WIDEST * self._typical_entry())).astype(X.dtype)
        limit = np.maximum(bound, X.dtype.type(_OFF * self.pace.noise))
        kernels.cleaning_pass(X, codes, self.components, bound, limit, cleaned, beyond)
        forgetting = self.settings.forgetting
        block = Statistics.of(codes, cleaned, self.pace.forgetting(len(X)) if forgetting is None else forgetting)
        before = self.statistics
        self.statistics = before.merge(self._storable(block))
        self.components = self._step(before, block).astype(X.dtype)
        self.code = codes[-1]
        swing = (2 * beyond / len(X) - 1) * min(1.0, len(X) / _SURE)
        np.clip(self.reach * _SWING**swing, 1.0, _LARGEST_REACH, out=self.reach)
        self.unbalanced += len(X)
        enough = min(_WINDOWS_UNBALANCED * self.statistics.weight, _SAMPLES_UNBALANCED * codes.shape[1])
        if self.unbalanced >= enough:
            self._seek_direction(X, codes, bound)
            self._balance()

    def _seek_direction(self, X: Array, codes: Array, bound: Array) -> None:
        """Open a component if what the others leave is not all noise, but has a direction in common.

        A new cause that comes slowly raises the noise level, so that no sample ever is a stranger. The leading singular
        value of the deviations, outliers left out, tells: of n samples of pure noise it is sigma (sqrt n + sqrt m).
        """
        n, m = X.shape
        if n < _PATIENCE or len(self.components) >= self._most_components:
            return
        rest = X - codes @ self.components
        rest[~(np.abs(rest) < bound)] = 0
        direction, strength = leading_direction(rest, self.rng)
        if strength > _COHERENT * self.pace.noise * (sqrt(n) + sqrt(m)):
            value = strength * sqrt(max(self.statistics.weight / n, 1.0))
            self.components = np.concatenate([self.components, X.dtype.type(sqrt(value)) * direction[None]])
            self.code = np.append(self.code, X.dtype.type(0))
            self.statistics = self.statistics._replace(A=linalg.block_diag(self.statistics.A, value))
            self.statistics = self._storable(self._with_B())

    @property
    def _most_components(self) -> int:
        return min(self.settings.n_components or self.settings.start_size // 2, self.components.shape[1])

    def _step(self, before: Statistics, block: Statistics) -> Array:
        last_lam_star, self.step_penalty = self.step_penalty, self.penalties[0]
        lam_star = self.step_penalty
        match self.settings.dictionary_step:
            case "direct":
                return direct_step(self.statistics, lam_star)
            case "recursive":
                return recursive_step(before, block, self.components, lam_star, last_lam_star)
            case _:
                return block_coordinate_step(self.statistics, self.components, lam_star)

    def _balance(self) -> None:
        """Orthogonal components of falling norm again; those that faded away are dropped."""
        self.unbalanced = 0
        implied = self.settings.dictionary_step == "recursive"
        balanced = balance(self._with_B() if implied else self.statistics, self.components)
        alive = balanced.singular_values > _FADED * self.penalties[0]
        statistics = balanced.statistics.select(alive)
        components = direct_step(statistics, self.step_penalty) if implied else balanced.components[alive]
        self.components = components.astype(self.components.dtype)
        self.code = (self.code @ balanced.change[:, alive]).astype(self.components.dtype)
        self.statistics = self._storable(statistics)
        if not alive.any():
            self.starting = True
            self._dismiss_waiting()

    def _with_B(self) -> Statistics:
        """The statistics with the B that the components solve (9) for."""
        return self.statistics._replace(B=self.statistics.system(self.step_penalty) @ self.components)

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
        part = self._solution(rank_penalty or self._from_noise(n).rank_penalty, outlier_penalty)
        still_strange = mostly_above(np.abs(self.waiting - part.low_rank), _FAR * self.pace.noise)
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
        n = len(part.codes)
        new, old = summary_of(part, self.waiting), balance(self.statistics, self.components)
        room = slice(max(self._most_components - part.rank, 0))
        faded = old.statistics.forget(n / max(self.statistics.weight, 1.0))
        self.components = np.concatenate([part.components, old.components[room]])
        A = linalg.block_diag(new.A, faded.A[room, room])
        together = Statistics(A, np.zeros((len(A), 0)), float(n), 0.0)
        self.statistics = together
        self._begin(n, self.pace.noise, self.pace.floor)
        self.statistics = self._storable(self._with_B())
        self._balance()

    def _given_penalties(self) -> tuple[float | None, Any]:
        """The penalties that were given, in the units of the tracker."""
        unit = (self.root or 1.0) ** 2
        rank_penalty, outlier_penalty = self.settings.rank_penalty, self.settings.outlier_penalty
        return (
            None if rank_penalty is None else rank_penalty / unit,
            None if outlier_penalty is None else outlier_penalty / unit,
        )

    def _from_noise(self, window: float) -> Penalties:
        return from_noise(self.pace.noise, window, self.components.shape[1])

    def use(self, settings: Settings) -> None:
        """Go on with other settings."""
        self.settings = settings
        if not self.statistics.B.shape[1] and settings.dictionary_step != "recursive" and len(self.components):
            self.statistics = self._with_B()
        self.statistics = self._storable(self.statistics)

    def _to_store(self) -> dict[str, Any]:
        """Everything needed to go on exactly as if nothing had happened."""
        content = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NOT_STORED}
        sums = self.statistics
        content |= {"A": sums.A, "B": sums.B, "weight": sums.weight, "decay": sums.decay}
        return content | {"pace": vars(self.pace), "rng": self.rng.bit_generator.state}

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        """What `_to_store` gave, brought back to life with the ``settings``, which are stored elsewhere."""
        values = dict(content)
        pace = Pace(**values.pop("pace"))
        check_state(values, pace)
        sums = Statistics(*(values.pop(name) for name in ("A", "B", "weight", "decay")))
        rng = np.random.default_rng()
        rng.bit_generator.state = values.pop("rng")
        return cls(rng=rng, statistics=sums, pace=pace, **values)
