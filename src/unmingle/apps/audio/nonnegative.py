"""Methods with nonnegative spectra: those of a passage, or spectra that follow the song.

The noise of a song is not what its music is told from, so that penalties from the noise level, right for tables, are
far too small here. With magnitudes of mean square 1, sigma is what a bin may be off by, and for n frames::

    lam = sqrt(2) sigma,   lam_* = sqrt(2 n) sigma
"""

import warnings
from dataclasses import dataclass
from itertools import islice
from math import sqrt
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np

from ..._fields import check_settings
from ..._rules import ArrayOf, Count, Number
from ..._threads import limit_blas_threads
from ..._types import Array, Float32Array, Float64Array
from ...core.online.nonnegative import nonnegative_step, scale_atoms
from ...core.online.statistics import Statistics
from ...core.penalties import Penalties
from ...core.solvers.nmf import nmf_iterates
from ...core.solvers.nonnegative import nonnegative_newton
from .method import FollowingMethod, Method, Parts
from .stft import BINS

if TYPE_CHECKING:
    from ...estimators.robust_nmf import RobustNMF


@dataclass(frozen=True)
class PassageFit:
    """How robust NMF takes a passage apart."""

    sigma: float = 0.1
    """What a bin may be off by. Chosen among 0.03, 0.1 and 0.3 on 12 training clips of MIR-1K: best for either of their
    singers, or 0.02 dB below."""
    sweeps: int = 100
    """Sweeps at most."""
    tol: float = 1e-2
    """Where a sweep changes so little, it ends: not quite converged is no harm to a mask."""


@dataclass(frozen=True)
class Lessons:
    """How spectra follow a song: chosen on training clips of MIR-1K, by what is best for the worse of two singers."""

    sigma: float = 0.3
    """What a bin may be off by, chosen among 0.03, 0.1 and 0.3 on 17 clips."""
    window: int = 100
    """Penalties are those of this number of frames, chosen among 30, 100 and 400 on the same clips."""
    frames: int = 8
    """Frames of a lesson, chosen there among 4 to 32."""
    start: int = 64
    """Frames of the start. With 40 to 80 frames and 1 to 3 sweeps, on 58 clips, more of either gained up to 0.14 dB and
    cost more time."""
    sweeps: int = 3
    """Sweeps over the frames of the start in each of its lessons, chosen with them."""
    step_between: int = 2
    """Every other frame of a lesson becomes a spectrum. There 4 was worse for both singers; 1 was worse for one of them
    and better for the other."""
    forgetting: float = 1 - 1 / 200
    """What each frame multiplies the weight of earlier ones by: the window is 200 frames, 3.2 s. Of 100, 150, 200 and
    300, on seven whole songs of the same singers, shorter ones were better for one singer and longer ones for none."""
    exact: float = 1e-4
    """Relative gap to which frames are encoded for learning."""
    faded: float = 1e-3
    """Spectra that weigh less than this share of the rank penalty are dropped."""


PASSAGE, LESSONS = PassageFit(), Lessons()
LOUDEST = 1e6
"""Frames are over their running level: even the first after silence is far below this many times it."""
_LARGEST_SUM = LOUDEST**3
_NEVER = 1e6
"""An outlier penalty that nothing is worth."""


def penalties_at_level_one(sigma: float, n: float) -> Penalties:
    """The penalties for n frames."""
    return Penalties(sqrt(2 * n) * sigma, sqrt(2) * sigma)


def nmf_of(magnitudes: Array, n_components: int, sigma: float, outlier_penalty: float | None = None) -> "RobustNMF":
    """Robust NMF of magnitudes of level one."""
    from ...estimators.robust_nmf import RobustNMF

    penalties = penalties_at_level_one(sigma, len(magnitudes))
    model = RobustNMF(
        n_components,
        rank_penalty=penalties.rank_penalty,
        outlier_penalty=outlier_penalty or penalties.outlier_penalty,
        tol=PASSAGE.tol,
        max_iter=PASSAGE.sweeps,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(magnitudes)


@dataclass(frozen=True)
class RepeatedSpectra(Method):
    """Robust NMF: spectra U >= 0 whose sums repeat, and outliers O >= 0."""

    n_components: Annotated[int, Count(1)] = 25

    name: ClassVar = "nmf"
    summary: ClassVar = "robust NMF of each passage: a few spectra that repeat, and what stands out"

    def __post_init__(self) -> None:
        check_settings(self)

    def parts(self, magnitudes: Array) -> Parts:
        """The parts of a passage; silence has none."""
        level = sqrt(np.mean(np.square(magnitudes, dtype=np.float64)))
        if level == 0:
            return Parts(np.zeros_like(magnitudes), np.zeros_like(magnitudes))
        scaled = magnitudes / magnitudes.dtype.type(level)
        part = nmf_of(scaled, self.n_components, PASSAGE.sigma).decompose(scaled)
        return Parts(part.outliers, part.low_rank)


@dataclass(frozen=True, eq=False)
class Spectra:
    """Nonnegative spectra U, and the sums over past frames that they are learnt from.

    Frames themselves are the first spectra: some of every lesson, until there are as many as wanted. The frames of the
    start are kept, and each of its lessons takes a few sweeps of robust NMF over all of them, from where the last one
    ended. Later lessons are steps as those of `unmingle.OnlineRobustNMF`: frames are encoded and enter the sums, where
    the past fades, and U follows. Spectra that are not heard any more fade and make room for new ones.
    """

    components: Annotated[Float32Array, ArrayOf(("float32",), "q", "m", low=0.0, high=LOUDEST)]
    first: Annotated[Float32Array, ArrayOf(("float32",), "first", "m", low=0.0, high=LOUDEST)]
    """Frames of the start; none once it is over."""
    A: Annotated[Float64Array, ArrayOf(("float64",), "q", "q", low=0.0, high=_LARGEST_SUM)]
    B: Annotated[Float64Array, ArrayOf(("float64",), "q", "m", low=-_LARGEST_SUM, high=_LARGEST_SUM)]
    weight: Annotated[float, Number(0.0, _LARGEST_SUM)]
    decay: Annotated[float, Number(0.0, 1.0)]
    """The last four are the sums, see `unmingle.core.online.statistics.Statistics`."""

    def __post_init__(self) -> None:
        if len(self.first) != (self.weight if self.weight < LESSONS.start else 0):
            raise ValueError("the frames of the start should be those that the sums are of")

    @classmethod
    def none(cls, n_bins: int) -> Self:
        """Before the first lesson."""
        nothing = np.zeros((0, n_bins), np.float32)
        return cls(nothing, nothing, **Statistics.empty(0, n_bins)._asdict())

    @property
    def sums(self) -> Statistics:
        """The sums over past frames."""
        return Statistics(self.A, self.B, self.weight, self.decay)

    def learn(self, frames: Float32Array, most: int, penalties: Penalties) -> "Spectra":
        """The spectra after a lesson of some frames, not all of them silent; ``most`` limits their number."""
        rank_penalty, lam = penalties.rank_penalty, np.full(frames.shape[1], penalties.outlier_penalty, frames.dtype)
        new = frames[frames.any(axis=1)][:: LESSONS.step_between][: most - len(self.components)]
        components, sums = _opened(self.components, self.sums, new)
        if sums.weight < LESSONS.start:
            known = np.concatenate([self.first, frames])
            components, sums = _learnt_from_start(known, components, rank_penalty, lam)
            first = known if len(known) < LESSONS.start else known[:0]
        else:
            components, sums = _followed(frames, components, sums, rank_penalty, lam)
            first = self.first
        balanced = scale_atoms(sums, components)  # each spectrum becomes as long as its codes
        alive = balanced.singular_values > LESSONS.faded * rank_penalty
        return Spectra(balanced.components[alive], first, **balanced.statistics.select(alive)._asdict())


def _opened(components: Float32Array, sums: Statistics, frames: Float32Array) -> tuple[Float32Array, Statistics]:
    """Let frames be spectra, as long as their codes; the sums know nothing of them yet."""
    lengths = np.linalg.norm(frames.astype(np.float64), axis=1, keepdims=True)
    components = np.concatenate([components, (frames / np.sqrt(lengths)).astype(frames.dtype)])
    A, B = np.pad(sums.A, (0, len(frames))), np.pad(sums.B, ((0, len(frames)), (0, 0)))
    return components, sums._replace(A=A, B=B)


def _learnt_from_start(
    known: Float32Array, start: Float32Array, rank_penalty: float, lam: Float32Array
) -> tuple[Float32Array, Statistics]:
    """Learn from all frames of the start so far."""
    chance = np.random.default_rng(0)  # not needed from this start
    sweeps = nmf_iterates(known, rank_penalty, lam, n_components=len(start), init=start, rng=chance)
    *_, found = islice(sweeps, LESSONS.sweeps)
    return found.components, _summed(known, found.codes, found.components, lam, 1.0)


def _followed(
    frames: Float32Array, components: Float32Array, sums: Statistics, rank_penalty: float, lam: Float32Array
) -> tuple[Float32Array, Statistics]:
    """Learn from these frames and from the sums."""
    codes = next(nonnegative_newton(frames, components, rank_penalty, lam, tol=LESSONS.exact)).codes
    sums = sums.merge(_summed(frames, codes, components, lam, LESSONS.forgetting))
    return nonnegative_step(sums, components, rank_penalty), sums


def _summed(
    frames: Float32Array, codes: Array, components: Float32Array, lam: Float32Array, forgetting: float
) -> Statistics:
    """Sums over frames, the voice taken off."""
    return Statistics.of(codes, np.minimum(frames, codes @ components + lam), forgetting)


@dataclass(frozen=True, eq=False)
class AdaptiveMemory:
    """What `Adaptive` remembers of a song."""

    waiting: Annotated[Float32Array, ArrayOf(("float32",), "frames", "m", low=0.0, high=LOUDEST)] | None = None
    """Frames that are no lesson yet."""
    spectra: Spectra | None = None

    def __post_init__(self) -> None:
        if self.n_waiting >= LESSONS.frames:
            raise ValueError(f"at most {LESSONS.frames - 1} frames wait for the next lesson, not {self.n_waiting}")

    @property
    def n_waiting(self) -> int:
        """How many frames wait."""
        return 0 if self.waiting is None else len(self.waiting)


@dataclass(frozen=True, eq=False)
class Adaptive(FollowingMethod):
    """Nonnegative spectra that follow the song, learnt by `Spectra`; nothing is trained beforehand.

    A frame x, over the running level, is taken apart by the present spectra U (q of them)::

        min over s, o >= 0 of  1/2 ||x - Us - o||^2 + lam_*/2 ||s||^2 + lam sum(o)

    Us is music, o is voice. After every 8 frames U learns from them. Before the first lesson, 0.13 s, all is music.
    With ``music``, which `learn` finds, U is that and stays.
    """

    n_components: Annotated[int, Count(1, BINS)] = 25
    music: Annotated[Float32Array, ArrayOf(("float32",), "known", "m", low=0.0, high=LOUDEST)] | None = None
    """Spectra of a passage without voice."""

    name: ClassVar = "adapt"
    summary: ClassVar = "learns the accompaniment of this song while it plays, frame by frame"
    Memory: ClassVar = AdaptiveMemory

    def __post_init__(self) -> None:
        check_settings(self)

    def learn(self, magnitudes: Array) -> "Adaptive":
        """The method with spectra from frames without voice, found by NMF; they stay."""
        return Adaptive(self.n_components, nmf_of(magnitudes, self.n_components, LESSONS.sigma, _NEVER).components_)

    def check_memory(self, memory: AdaptiveMemory) -> None:
        """Refuse more spectra than wanted."""
        if memory.spectra is not None and len(memory.spectra.components) > self.n_components:
            raise ValueError(f"there should be at most {self.n_components} spectra")

    def step(self, memory: AdaptiveMemory, magnitudes: Float32Array) -> tuple[AdaptiveMemory, Parts]:
        """The parts of the next frames, each by what the frames before it taught."""
        with limit_blas_threads(magnitudes.size):
            if self.music is not None:
                return memory, _parts_by(self.music, magnitudes)
            blocks, done = [], 0
            while done < len(magnitudes):
                block = magnitudes[done : done + LESSONS.frames - memory.n_waiting]
                known = magnitudes[:0] if memory.spectra is None else memory.spectra.components
                blocks.append(_parts_by(known, block))
                memory = self._after(memory, block)
                done += len(block)
        parts = Parts(*map(np.concatenate, zip(*blocks, strict=True))) if blocks else Parts(magnitudes, magnitudes)
        return memory, parts

    def _after(self, memory: AdaptiveMemory, block: Float32Array) -> AdaptiveMemory:
        """Let frames wait until they are a lesson."""
        lesson = block if memory.waiting is None else np.concatenate([memory.waiting, block])
        if len(lesson) < LESSONS.frames:
            return AdaptiveMemory(lesson, memory.spectra)
        if not lesson.any():
            return AdaptiveMemory(None, memory.spectra)
        spectra = Spectra.none(lesson.shape[1]) if memory.spectra is None else memory.spectra
        penalties = penalties_at_level_one(LESSONS.sigma, LESSONS.window)
        return AdaptiveMemory(None, spectra.learn(lesson, self.n_components, penalties))


def _parts_by(components: Array, magnitudes: Array) -> Parts:
    """The parts by these spectra; without any all is music."""
    if not len(components):
        return Parts(np.zeros_like(magnitudes), magnitudes)
    rank_penalty, lam = penalties_at_level_one(LESSONS.sigma, LESSONS.window)
    penalty = np.full(magnitudes.shape[1], lam, magnitudes.dtype)
    one_by_one = (  # rounded alike, whether frames come one by one or together
        next(nonnegative_newton(frame[None], components, rank_penalty, penalty)).codes for frame in magnitudes
    )
    codes = np.concatenate(list(one_by_one))
    music = codes.astype(np.float64) @ components.astype(np.float64)
    return Parts(np.maximum(magnitudes - music - lam, 0).astype(magnitudes.dtype), music.astype(magnitudes.dtype))
