"""The tracker: state and recurrence of a stream, as one value that goes from batch to batch."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..._fields import from_store, record_of, to_store
from ..._rules import FLOATS, LEAST, ArrayOf, Count, Either, Flag, Number, OneOf, Record
from ..._types import Array, BoolArray, Float64Array, IndexArray
from ...kernels.stream import cleaning_pass
from ..decomposition.problem import refuse_vanishing
from ..decomposition.result import Decomposition
from ..linalg.norms import leading_direction
from ..linalg.units import Units
from ..penalties import from_noise, matching_outlier_penalty, nonnegative_from_noise
from ..solvers.projection import some_features
from .dictionary import Dictionary
from .noise import NoiseLevel, noise_and_floor
from .nonnegative import nonnegative_direction
from .start import robust_start, summary_of, units_of, without_empty_rows
from .statistics import Statistics


@dataclass(frozen=True)
class StartLimits:
    """How long samples of the start wait, and how well they are solved."""

    tolerance: float = 1e-2
    """Of the first solution, which later samples improve."""
    longest: int = 8
    """The start may take this many times the samples that it was meant to take."""
    growth: float = 1.5
    """Waiting samples are solved again whenever their number has grown by this factor."""
    unit_growth: float = 2.0**10
    """The units are changed where their root would grow by this factor."""


@dataclass(frozen=True)
class StrangerRule:
    """Which samples are strangers, and when there are enough of them to see what they have in common."""

    noise_levels: float = 5.0
    """A stranger is off by more than this number of noise levels in most of its entries."""
    n_features: int = 200
    """Strangers and noise are judged by this number of features."""
    patience: int = 10
    """The stream may have jumped after this number of strangers, net of ordinary samples."""


@dataclass(frozen=True)
class CleaningBounds:
    """How far from the components an entry may be to be learnt from, and when its feature is taken to be wrong.

    A sensor that sends nonsense must not bend the others: no bound exceeds a few typical entries.
    """

    covered: float = 3.0
    """The outlier penalty is at least this many times what the rank penalty takes off an entry."""
    noise_levels: float = 2.0
    """An entry off by more than this number of noise levels speaks against its feature of the dictionary."""
    swing: float = 8.0
    """The bound of a feature widens by this factor if it is off in all samples of a large batch."""
    large_batch: int = 32
    """Smaller batches than this change the bounds by less."""
    widest: float = 1e6
    """A bound is at most this many times the outlier penalty."""
    typical_entries: float = 3.0
    """A bound that is wider than the outlier penalty is at most this many typical entries of the low-rank part."""


START, STRANGERS, BOUNDS = StartLimits(), StrangerRule(), CleaningBounds()
_NEAR = 2.0
"""The last code of the batch before is a good start for a sample most of whose entries it explains to this many outlier
penalties."""
_COHERENT = 1.5
"""How far above that of noise the leading singular value of deviations is if they have a direction in common."""
_LARGEST_ENTRY = 1e15
"""Entries beyond this are cut: outliers they remain, and their squares do not overflow."""
_LARGEST_ROOT = 2.0**520
"""No data are larger: their entries are squares of it."""
_WORD = Count(0, 2**128 - 1)
_GENERATOR = Record(
    {
        "bit_generator": OneOf("PCG64"),
        "state": Record({"state": _WORD, "inc": _WORD}),
        "has_uint32": Flag(),
        "uinteger": Count(0, 2**32 - 1),
    }
)
"""The state of a generator of random numbers."""


@dataclass(frozen=True)
class TrackerSettings:
    """How to follow a stream; None leaves the choice to the data."""

    n_components: int | None = None
    rank_penalty: float | None = None
    outlier_penalty: Any = None
    forgetting: float | None = None
    dictionary_step: str = "block"
    """"block", "direct" or "recursive"; "nonnegative" for components, codes and outliers without negative entries."""
    start_size: int = 100
    n_layers: int | None = None
    """Passes of Algorithm 1 by which samples are encoded; None: exactly."""


class Learnt(NamedTuple):
    """What a stream taught, in the units of the data."""

    components: Array
    rank_penalty: float
    outlier_penalty: Any
    noise_level: float


@dataclass(frozen=True, eq=False)
class Tracker:
    """Components U that follow a stream, in memory that does not grow with it.

    A value: `learn` gives the tracker after some more samples, and this one stays as it is. No array of it is ever
    written to, so that one that fails on the way has changed nothing.

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
    """Not part of a file: an estimator makes them from its parameters."""
    dictionary: Dictionary
    waiting: Annotated[Array, ArrayOf(FLOATS, "waiting", "m", nan=True, alike="stream")]
    """Samples not learnt from yet: those of the start, or strangers."""
    reach: Annotated[Float64Array, ArrayOf(("float64",), "m", low=1.0)]
    """(m,): how much wider than the outlier penalty the bound on deviations is, 1 or more."""
    start_size: Annotated[int, Count(1)]
    """Number of samples to wait for; it grows if they do not tell anything."""
    random_state: Annotated[dict[str, Any], _GENERATOR]
    """Where the generator of random numbers is."""
    starting: Annotated[bool, Flag()] = True
    solved_at: Annotated[int, Count()] = 0
    """Number of waiting samples when they were last solved."""
    doubt: Annotated[int, Count()] = 0
    """Strangers, net of ordinary samples."""
    unit_root: Annotated[float, Either(OneOf(0.0), Number(1 / _LARGEST_ROOT, _LARGEST_ROOT))] = 0.0
    """Of the units of all numbers; 0 until there is a sample that is not zero."""
    noise: NoiseLevel = field(default_factory=NoiseLevel)
    n_seen: Annotated[int, Count()] = 0
    n_jumps: Annotated[int, Count()] = 0

    @classmethod
    def fresh(cls, settings: TrackerSettings, n_features: int, dtype: Any, rng: np.random.Generator) -> "Tracker":
        """A tracker that has seen nothing."""
        dictionary = Dictionary.empty(n_features, dtype, settings.dictionary_step)
        state = dict(rng.bit_generator.state)
        return cls(settings, dictionary, dictionary.components, np.ones(n_features), settings.start_size, state)

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
    ) -> "Tracker":
        """A tracker that goes on from samples summed up elsewhere; ``noise`` is the level and its floor."""
        fresh = cls.fresh(settings, components.shape[1], components.dtype, rng)
        dictionary = fresh.dictionary.replaced_by(components, statistics)
        tracker = replace(fresh, unit_root=units.root, n_seen=n_seen, starting=False, dictionary=dictionary)
        return _restart(tracker, n_seen, *noise)

    @property
    def penalties(self) -> tuple[float, Any]:
        """Rank and outlier penalty for the present noise level and window w, in the units of the tracker.

        As for a matrix of w samples; but what the rank penalty takes off q components, lam_* sqrt(q / (m w)) for each
        entry, must not count as outlier, which matters when the window is short.
        """
        rank_penalty, outlier_penalty = self.given_penalties
        window, m, nonnegative = self.dictionary.window, self.dictionary.n_features, self.dictionary.nonnegative
        if rank_penalty is None:
            of_noise = nonnegative_from_noise if nonnegative else from_noise
            rank_penalty = of_noise(self.noise.level, window, m).rank_penalty or 1.0
        if outlier_penalty is None:
            short = max(1.0, BOUNDS.covered * sqrt(len(self.dictionary) / window))
            outlier_penalty = matching_outlier_penalty(short * rank_penalty, window, m, nonnegative=nonnegative)
        return rank_penalty, outlier_penalty

    @property
    def given_penalties(self) -> tuple[float | None, Any]:
        """The penalties that were given, in the units of the tracker."""
        units, settings = self.known_units, self.settings
        penalties = units.to_units(settings.rank_penalty), units.to_units(settings.outlier_penalty)
        given = [1.0 if one is None else one for one in penalties]
        refuse_vanishing(given[0], np.asarray(given[1], np.float64))
        return penalties

    @property
    def most_components(self) -> int:
        """Components at most."""
        return min(self.settings.n_components or self.settings.start_size // 2, self.dictionary.n_features)

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
        units, penalties = self.known_units, self.penalties
        return Learnt(
            units.factors_from_units(self.dictionary.components), *map(units.from_units, (*penalties, self.noise.level))
        )

    @property
    def units(self) -> Units | None:
        """Of all numbers; None until there is a sample that is not zero."""
        return Units(self.unit_root) if self.unit_root else None

    @property
    def known_units(self) -> Units:
        """Those of all numbers; as long as there are none, those of the data."""
        return self.units or Units()

    def learn(self, X: Array) -> "Tracker":
        """The tracker after a batch of samples, in their order."""
        n_seen = self.n_seen + len(X)
        X = without_empty_rows(X)
        units = self.units or units_of(X)
        tracker = replace(self, n_seen=n_seen, unit_root=units.root if units else 0.0)
        with np.errstate(over="ignore"):
            X = tracker.known_units.to_units(X)
        np.clip(X, -_LARGEST_ENTRY, _LARGEST_ENTRY, out=X)
        while tracker.starting and len(X):
            tracker, X = _wait(tracker, X)
        return _follow(tracker, X) if len(X) else tracker

    def settled(self) -> "Tracker":
        """With a solution for all samples of the start that have come, few as they may be."""
        return _solve_waiting(self) if self.starting and len(self.waiting) > self.solved_at else self

    def with_settings(self, settings: TrackerSettings) -> "Tracker":
        """The same state, to go on from with other settings."""
        return replace(self, settings=settings, dictionary=self.dictionary.with_steps(settings.dictionary_step))

    def generator(self) -> np.random.Generator:
        """Random numbers from where the last ones ended."""
        rng = np.random.Generator(np.random.PCG64(0))
        rng.bit_generator.state = self.random_state
        return rng

    def with_generator(self, rng: np.random.Generator) -> "Tracker":
        """With random numbers from where this generator is."""
        return replace(self, random_state=dict(rng.bit_generator.state))

    def _to_store(self) -> dict[str, Any]:
        """Everything needed to go on exactly as if nothing had happened."""
        return to_store(self)

    @classmethod
    def _from_store(cls, content: dict[str, Any], settings: TrackerSettings) -> "Tracker":
        """What `_to_store` gave, brought back to life with settings, which are stored elsewhere."""
        tracker = from_store(cls, content, settings=settings)
        noise = tracker.noise
        has_noise = min(noise.level, noise.least, noise.age) >= LEAST
        if not tracker.starting and not (len(tracker.dictionary) and has_noise):
            raise ValueError("a stream that has started needs components, a noise level and an age")
        if tracker.starting and len(tracker.waiting) >= tracker.start_size:
            raise ValueError("a stream that is starting has fewer samples than it waits for")
        return tracker


# The start: samples wait, and are solved together


def _wait(tracker: Tracker, X: Array) -> tuple[Tracker, Array]:
    """Let samples of the start wait until they are enough; also gives those that are left over."""
    room = tracker.start_size - len(tracker.waiting)
    tracker = replace(tracker, waiting=np.concatenate([tracker.waiting, X[:room]]))
    count = len(tracker.waiting)
    full = count >= tracker.start_size
    if full or count >= START.growth * tracker.solved_at:
        tracker = _solve_waiting(tracker)
    if full and len(tracker.dictionary):
        tracker = _dismiss_waiting(replace(tracker, starting=False))
    elif full and count < START.longest * tracker.settings.start_size:
        tracker = replace(tracker, start_size=2 * tracker.start_size)
    elif full:  # nothing repeats yet
        waiting = tracker.waiting[(count + 1) // 2 :]
        tracker = replace(tracker, waiting=waiting, solved_at=len(waiting))
    return tracker, X[room:]


def _solve_waiting(tracker: Tracker) -> Tracker:
    """Take components and noise from the waiting samples."""
    tracker = _suit_units(tracker)
    tracker, part = _solution(tracker, *tracker.given_penalties)
    return replace(_begin_with(tracker, part), solved_at=len(tracker.waiting))


def _suit_units(tracker: Tracker) -> Tracker:
    """Change the units if the waiting samples are much larger than those that they were made for."""
    larger = units_of(tracker.waiting)
    if larger is None or larger.root < START.unit_growth:
        return tracker
    return replace(
        tracker,
        unit_root=tracker.known_units.root * larger.root,
        waiting=larger.to_units(tracker.waiting),
        dictionary=tracker.dictionary.to_units(larger),
        noise=tracker.noise.to_units(larger),
    )


def _dismiss_waiting(tracker: Tracker) -> Tracker:
    return replace(tracker, waiting=tracker.waiting[:0].copy(), solved_at=0, doubt=0)


def _solution(tracker: Tracker, rank_penalty: float | None, outlier_penalty: Any) -> tuple[Tracker, Decomposition]:
    """(4) for the waiting samples; and the tracker, whose generator has moved on."""
    rng = tracker.generator()
    part = robust_start(
        tracker.waiting, tracker.settings.n_components, rank_penalty, outlier_penalty, tol=START.tolerance,
        random_state=rng, nonnegative=tracker.dictionary.nonnegative,
    )  # fmt: skip
    return tracker.with_generator(rng), part


def _begin_with(tracker: Tracker, part: Decomposition) -> Tracker:
    """Begin again with a solution for the waiting samples."""
    X, signs = tracker.waiting, {"nonnegative": tracker.dictionary.nonnegative}
    dictionary = tracker.dictionary.replaced_by(part.components, summary_of(part, X))
    noise = noise_and_floor(part, X, automatic=tracker.settings.rank_penalty is None, **signs)
    return _restart(replace(tracker, dictionary=dictionary), len(X), *noise)


def _restart(tracker: Tracker, n: int, level: float, floor: float) -> Tracker:
    """Set back what belongs to other components than the present ones, which were fitted to n samples."""
    noise, reach = NoiseLevel.of_start(n, level, floor), np.ones_like(tracker.reach)
    tracker = replace(tracker, noise=noise, reach=reach)
    return replace(tracker, dictionary=tracker.dictionary.restarted(tracker.penalties[0]))


# Ordinary samples: the recurrence


def _follow(tracker: Tracker, X: Array) -> Tracker:
    """Learn from the ordinary samples, and keep the others for a while."""
    dictionary, some = tracker.dictionary, _judged_features(X.shape[1])
    rank_penalty, outlier_penalty = tracker.penalties
    lam = np.broadcast_to(np.asarray(outlier_penalty), X.shape[1:]).astype(X.dtype)
    sampled, atoms = np.take(X, some, axis=1), np.take(dictionary.components, some, axis=1)
    near = ~_mostly_above(np.abs(sampled - dictionary.code @ atoms) / lam[some], _NEAR)
    codes = dictionary.encode(X, near, rank_penalty, lam, tracker.settings.n_layers)
    deviations = np.abs(sampled - dictionary.unshrunk(codes, rank_penalty) @ atoms)
    strange = _mostly_above(deviations, STRANGERS.noise_levels * tracker.noise.level)
    if strange.any():
        ordinary = ~strange
        strangers, X, codes, deviations = X[strange], X[ordinary], codes[ordinary], deviations[ordinary]
    if len(X):
        tracker = _improve(tracker, X, codes, lam)
        freedom = max(1 - codes.shape[1] / X.shape[1], 1 / X.shape[1])
        noise = tracker.noise.update(deviations, freedom, tracker.settings.start_size)
        tracker = replace(tracker, noise=noise)
    if tracker.starting:  # all components faded away
        return tracker
    if strange.any():
        return _collect_strangers(tracker, strangers, len(X))
    return _calm_down(tracker, len(X)) if tracker.doubt else tracker


def _improve(tracker: Tracker, X: Array, codes: Array, lam: Array) -> Tracker:
    """The recurrence: statistics, then a dictionary step."""
    bound, cleaned, beyond = _bound(tracker, lam), np.empty_like(X), np.empty(X.shape[1], np.int64)
    limit = np.maximum(bound, X.dtype.type(BOUNDS.noise_levels * tracker.noise.level))
    below = np.full_like(bound, np.inf) if tracker.dictionary.nonnegative else bound
    cleaning_pass(X, codes, tracker.dictionary.components, bound, below, limit, cleaned, beyond)
    given = tracker.settings.forgetting
    block = Statistics.of(codes, cleaned, tracker.noise.forgetting(len(X)) if given is None else given)
    before = tracker.dictionary
    tracker = replace(tracker, dictionary=before.add(block))
    moved = tracker.dictionary.step(before.statistics, block, tracker.penalties[0])
    swing = (2 * beyond / len(X) - 1) * min(1.0, len(X) / BOUNDS.large_batch)
    tracker = replace(
        tracker,
        dictionary=replace(moved, code=codes[-1], unbalanced=moved.unbalanced + len(X)),
        reach=np.clip(tracker.reach * BOUNDS.swing**swing, 1.0, BOUNDS.widest),
    )
    if tracker.dictionary.out_of_balance:
        return _balance(_open_common_direction(tracker, X, codes, bound))
    return tracker


def _bound(tracker: Tracker, lam: Array) -> Array:
    """How far entries may be off to be learnt from as they are: further where the dictionary is wrong."""
    if tracker.reach.max() <= 1:
        return lam
    widest = BOUNDS.typical_entries * tracker.dictionary.typical_entry
    return np.maximum(lam, np.minimum(tracker.reach * lam, widest)).astype(lam.dtype)


def _open_common_direction(tracker: Tracker, X: Array, codes: Array, bound: Array) -> Tracker:
    """Open a component if what the others leave is not all noise, but has a direction in common.

    A new cause that comes slowly raises the noise level, so that no sample ever is a stranger. The leading singular
    value of the deviations, outliers left out, tells: of n samples of pure noise it is sigma (sqrt n + sqrt m).
    """
    (n, m), dictionary = X.shape, tracker.dictionary
    if n < STRANGERS.patience or len(dictionary) >= tracker.most_components:
        return tracker
    rest = X - codes @ dictionary.components
    rest[~(np.abs(rest) < bound)] = 0
    rng = tracker.generator()
    direction, strength = leading_direction(rest, rng)
    if dictionary.nonnegative:
        direction, strength = nonnegative_direction(rest, direction)
    tracker = tracker.with_generator(rng)
    if not strength > _COHERENT * tracker.noise.level * (sqrt(n) + sqrt(m)):
        return tracker
    value = strength * sqrt(max(dictionary.statistics.weight / n, 1.0))
    return replace(tracker, dictionary=dictionary.with_direction(direction, value))


def _balance(tracker: Tracker) -> Tracker:
    """Balance the components; if all have faded away, the stream starts again."""
    tracker = replace(tracker, dictionary=tracker.dictionary.balance(tracker.penalties[0]))
    return tracker if len(tracker.dictionary) else _dismiss_waiting(replace(tracker, starting=True))


# Strangers: they wait until it is clear what they have in common


def _calm_down(tracker: Tracker, n_ordinary: int) -> Tracker:
    """Lower the doubt after some ordinary samples; where none is left, strangers are forgotten."""
    doubt = max(tracker.doubt - n_ordinary, 0)
    return replace(tracker, doubt=doubt) if doubt else _dismiss_waiting(tracker)


def _collect_strangers(tracker: Tracker, strangers: Array, n_ordinary: int) -> Tracker:
    """Let strangers wait; if there are many of them, see what they have in common."""
    start_size = tracker.settings.start_size
    waiting = np.concatenate([tracker.waiting, strangers])[-start_size:]
    tracker = _calm_down(replace(tracker, waiting=waiting, doubt=tracker.doubt + len(strangers)), n_ordinary)
    count = len(tracker.waiting)
    full, in_doubt = count >= start_size, tracker.doubt >= min(STRANGERS.patience, start_size)
    if in_doubt and (full or count >= START.growth * tracker.solved_at):
        return _explain_strangers(replace(tracker, solved_at=count), patience_is_over=full)
    return tracker


def _explain_strangers(tracker: Tracker, *, patience_is_over: bool) -> Tracker:
    """Open what the strangers have in common; if that is nothing and they are many, begin again with them."""
    n = len(tracker.waiting)
    tracker = _suit_units(tracker)
    rank_penalty, outlier_penalty = tracker.given_penalties
    from_level = from_noise(tracker.noise.level, n, tracker.dictionary.n_features)
    tracker, part = _solution(tracker, rank_penalty or from_level.rank_penalty, outlier_penalty)
    far = STRANGERS.noise_levels * tracker.noise.level
    still_strange = _mostly_above(np.abs(tracker.waiting - part.low_rank), far)
    if 0 < 2 * part.rank <= n and 2 * np.count_nonzero(still_strange) < n:
        tracker = _put_first(tracker, part)
    elif not patience_is_over:
        return tracker
    else:
        tracker, part = _solution(tracker, rank_penalty, outlier_penalty)
        tracker = _begin_with(tracker, part) if part.rank else tracker
    return _dismiss_waiting(replace(tracker, n_jumps=tracker.n_jumps + (part.rank > 0)))


def _put_first(tracker: Tracker, part: Decomposition) -> Tracker:
    """Put the components of a solution for the waiting samples before the old ones, as far as there is room."""
    sums = summary_of(part, tracker.waiting)
    dictionary = tracker.dictionary.behind(part.components, sums, tracker.most_components)
    noise = tracker.noise
    tracker = _restart(replace(tracker, dictionary=dictionary), len(part.codes), noise.level, noise.floor)
    return _balance(replace(tracker, dictionary=tracker.dictionary.completed()))


TRACKER = record_of(Tracker)
"""What a file holds of a tracker."""


def _nonnegative_rules() -> Record:
    """The same of one whose components, codes and samples are nonnegative."""
    dictionary = dict(record_of(Dictionary).rules)
    sums = {**dictionary["statistics"].rules, "A": ArrayOf(("float64",), "q", "q", low=0.0)}  # type: ignore[attr-defined]
    dictionary |= {
        "components": ArrayOf(FLOATS, "q", "m", low=0.0, alike="stream"),
        "statistics": Record({**sums, "B": ArrayOf(FLOATS, "q", "m")}),
        "code": ArrayOf(FLOATS, "q", low=0.0, alike="stream"),
        "kind": OneOf("nonnegative"),
    }
    waiting = ArrayOf(FLOATS, "waiting", "m", low=0.0, nan=True, alike="stream")
    return Record({**TRACKER.rules, "dictionary": Record(dictionary), "waiting": waiting})


NONNEGATIVE_TRACKER = _nonnegative_rules()


@lru_cache(maxsize=64)
def _judged_features(n_features: int) -> IndexArray:
    """Features on which noise and strangers are judged."""
    return some_features(n_features, STRANGERS.n_features)


def _mostly_above(deviations: Array, limit: float) -> BoolArray:
    """Rows most of whose known entries are above a limit."""
    return 2 * np.count_nonzero(deviations > limit, axis=1) > np.count_nonzero(~np.isnan(deviations), axis=1)
