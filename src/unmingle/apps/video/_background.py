"""The background of a fixed camera: a low-rank model of frames with the noise of every pixel."""

from dataclasses import InitVar, dataclass, field
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from ..._rules import ArrayOf, Count, Number
from ..._threads import limit_blas_threads
from ..._types import AnyArray, BoolArray, Float32Array, Float64Array
from ...core.encoder.encoder import Encoder
from ...core.solvers.projection import newton
from ...kernels.video_detection import Scenery, frame_codes, zeros_for
from ...kernels.video_learning import LearningState, learn_from_frame
from ...media.planes import middle_of
from ._format import PIXEL_TYPES, FrameFormat
from ._start import NumbersOfCamera, first_background, noise_around


@dataclass(frozen=True)
class NoiseRules:
    """How large the noise of an entry is taken to be, and how fast it is learnt.

    The levels and rates were held to other values on labelled films, leaving one film out each time: `python -m lab
    video-constants`.
    """

    least: float = 3.5 / 255.0
    """No standard deviation below this is believed: a threshold of ten of 255 steps, by default."""
    least_colour: float = 3.0 / 255.0
    """No standard deviation of a colour difference below this is believed."""
    rate: float = 0.1
    """A variance rises towards a new square by this part of the way."""
    samples: int = 20
    """A variance that rises at this rate is as good as that of this number of frames: Student's distribution."""
    slow_rate: float = 0.004
    """The rate near foreground, so that a place that always moves is understood in the end."""
    fall: float = 0.5
    """A variance falls at this part of its rate, so that a tree is remembered between two gusts."""
    probes: int = 1000
    """The typical noise, and the light, are judged by this number of entries, which are drawn once."""


@dataclass(frozen=True)
class CodeRules:
    """How the codes of a frame are found, and how the components follow them.

    ``outliers_from`` and ``refresh_every`` are compromises between the F of the mask on labelled films and time.
    """

    rank_penalty: float = 0.1
    """lam_* is far below what a frame weighs, so that it only keeps components alive that are used."""
    outliers_from: float = 2.6
    """A deviation is an outlier for codes and components from this number of standard deviations on."""
    mean_every: int = 4
    """The codes of every frame of this number that is learnt enter their mean."""
    mean_rate: float = 0.5
    """The mean of the codes moves towards those of a frame by this part of the way."""
    min_strength: float = 1e-4
    """A frame is black if its codes are below this share of their usual strength."""
    refresh_every: int = 32
    """What depends on all components is brought up to date after this number of frames; twice as many cost F."""
    largest_lag: float = 1e3
    """Components in a file may have grown by this factor since their step was found, and no more."""


NOISE, CODES = NoiseRules(), CodeRules()
_LARGEST = 1e6
"""Pixels are at most 1: no number of a background is near this."""


def _floats(*shape: str) -> ArrayOf:
    return ArrayOf(("float32",), *shape, low=-_LARGEST, high=_LARGEST)


def _pixels(low: float) -> ArrayOf:
    return ArrayOf(PIXEL_TYPES, "m", low=low, high=1.0, alike="pixels")


@dataclass(eq=False)
class Background:
    """A low-rank model of frames: U', the noise of each entry, and what learning needs to know.

    Entries are the brightness of all pixels, then two planes of colour where there are.

    This is the one mutable part of a scene. Its arrays are large (`components` are 62 MB at 1080p), so the kernels
    change them in place: `learn`, `relight` and `replace_by` do so, and therefore a `SceneState` says which background
    a scene has, not what was in it. Looking at a frame changes only `codes`, the place where codes are worked on (those
    of a frame are kept in the state), unless the frame shows other light and is to be learnt from: then `follow_light`
    calls `relight` or `replace_by`.
    """

    form: InitVar[FrameFormat]
    codes: Float32Array
    """(q,): s of the frame that is looked at. Set by `step` from the state, and copied into the next one."""
    components: Annotated[Float32Array, _floats("q", "m")]
    """(q, m): U'."""
    variance: Annotated[Float32Array, ArrayOf(("float32",), "m", low=0.0, high=_LARGEST)]
    """(m,): of the deviation of each entry."""
    squares: Annotated[Float64Array, ArrayOf(("float64",), "q", "q", low=-(_LARGEST**2), high=_LARGEST**2)]
    """(q, q): A, the faded sum of s s'."""
    last: Annotated[AnyArray, _pixels(0.0)]
    """(m,): the frame that was learnt last."""
    last_deviation: Annotated[AnyArray, _pixels(-1.0)]
    """(m,): how it deviated from the background."""
    seen: Annotated[NDArray[np.uint16], ArrayOf(("uint16",), "pixels")]
    """For each pixel, for how many frames its background was seen."""
    waited: Annotated[NDArray[np.uint16], ArrayOf(("uint16",), "pixels")]
    """For each pixel near foreground, for how many frames it has not changed."""
    sample: Annotated[NDArray[np.int32], ArrayOf(("int32",), "sample")]
    """The pixels that codes are found from; empty for all."""
    mean_codes: Annotated[Float32Array, _floats("q")]
    """(q,): the mean of the codes of late."""
    step: Annotated[Float32Array, _floats("q", "q")] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    """(q, q): (U'U + lam_* I)^-1 for the sample, up to date now and then."""
    weight: Annotated[float, Number(1e-9, _LARGEST**2)] = 0.0
    """The faded number of frames learnt."""
    outlier_penalty: Annotated[float, Number(0.0, _LARGEST)] = 0.0
    """lam: from the noise, up to date now and then."""
    learnt: Annotated[int, Count()] = 0
    """Frames learnt since then."""
    stride: Annotated[int, Count(1, 2**20)] = 1
    """Without a sample, codes are found from every stride-th row."""

    def __post_init__(self, form: FrameFormat) -> None:
        self.format = form
        self.scale = 1.0 / white_of(self.last.dtype)
        self.pixels = self.format.pixels
        self.zeros = zeros_for(len(self.components))
        self.sampled = np.take(self.components, self.sample, axis=1) if self.sample.size else self.components
        self.code_pixels = self._pixels_for_codes()
        self.code_penalty = self._penalty_for(self.code_pixels.size or self.pixels)
        chances = np.random.default_rng(0).random(NOISE.probes)
        entries = self.sample if self.sample.size else np.arange(self.pixels, dtype=np.int32)
        self.probe = entries[(chances * entries.size).astype(np.intp)]
        self._learning = LearningState(
            lam_star=CODES.rank_penalty,
            least=(NOISE.least**2, NOISE.least_colour**2),
            rates=noise_rates(),
            scale=self.scale,
            white=self.format.white,
            codes=self.codes,
            atoms=self.components,
            squares=self.squares,
            variance=self.variance,
            last=self.last,
            last_deviation=self.last_deviation,
            seen=self.seen,
            waited=self.waited,
            sample=self._sample_or_none,
            sampled=self.sampled,
            zeros=self.zeros,
        )
        if self.step.size:
            self._check_step()
            self._update_scenery()
        else:
            self._refresh()

    @classmethod
    def start(
        cls, rows: AnyArray, n_components: int, form: FrameFormat, sample: NDArray[np.int32], stride: int,
        encoder: Encoder | None,
    ) -> Self:  # fmt: skip
        """Learn the background of a few frames, the rows; things may move in them.

        A trained network brings components of its own.
        """
        scale = 1.0 / white_of(rows.dtype)
        camera = NumbersOfCamera(scale, middle_of(rows.dtype) * scale, form.pixels)
        if encoder is None:
            components, codes = first_background(rows, camera, n_components, NOISE.least)
        else:
            components = np.array(encoder.components, dtype=np.float32)
            codes = encoder.encode(rows * np.float32(scale))[0].astype(np.float64)
        return cls(
            form=form,
            components=components,
            codes=codes[-1].astype(np.float32),
            mean_codes=codes[-1].astype(np.float32),
            variance=noise_around(rows, camera, components, codes) ** 2,
            squares=codes.T @ codes,
            last=rows[-1].copy(),
            last_deviation=np.zeros_like(rows[-1]),
            seen=np.full(form.pixels, 2 * len(rows), dtype=np.uint16),
            waited=np.zeros(form.pixels, dtype=np.uint16),
            sample=sample,
            stride=stride,
            weight=float(len(rows)),
        )

    @property
    def noise(self) -> float:
        """The typical standard deviation of an entry, in [0, 1]."""
        return float(np.sqrt(np.partition(self.variance[self.probe], NOISE.probes // 2)[NOISE.probes // 2]))

    @property
    def rank(self) -> int:
        """Directions of the background that are stronger than noise could be: sigma > noise (sqrt m + sqrt n)."""
        m, atoms = self.pixels, self.components[:, : self.pixels]
        gram = np.einsum("im,jm->ij", atoms, atoms, dtype=np.float64)
        strengths = np.sqrt(np.maximum(np.linalg.eigvals(self.squares @ gram).real, 0.0))
        return int(np.sum(strengths > max(self.noise, NOISE.least) * (np.sqrt(m) + np.sqrt(self.weight))))

    def encode_exactly(self, x: AnyArray, excluded: BoolArray | None) -> None:
        """Solve (5) for the codes of a frame; excluded pixels have no say."""
        values, atoms = self._entries(x, excluded)
        if not values.size:
            return
        lam_star = self._penalty_for(values.size)
        lam = np.full(values.size, self.outlier_penalty, dtype=np.float32)
        samples, atoms = (values * np.float32(self.scale))[None], np.ascontiguousarray(atoms[:, : values.size])
        with limit_blas_threads(atoms.size):
            self.codes[:] = next(newton(samples, atoms, lam_star, lam, self.codes[None], tol=1e-6)).codes[0]

    def encode_by_network(self, encoder: Encoder, x: AnyArray, excluded: BoolArray | None) -> None:
        """Find the codes of a frame by a network."""
        samples = (x[: self.pixels] * np.float32(self.scale))[None]
        if excluded is not None:
            samples[0, excluded] = np.nan
        self.codes[:] = encoder.encode(samples, init=self.codes[None])[0][0]

    def encode_without(self, x: AnyArray, n_layers: int, excluded: BoolArray) -> None:
        """Find the codes of a frame by layers; excluded pixels have no say."""
        self._layers(*self._entries(x, excluded), n_layers, self.outlier_penalty)

    def encode_from_afar(self, x: AnyArray, excluded: BoolArray | None = None) -> None:
        """Find the codes of a frame that has little in common with the last one: the threshold falls to its value."""
        values, atoms = self._entries(x, excluded)
        for widening in (32, 8, 2, 1):
            self._layers(values, atoms, 3, widening * self.outlier_penalty)

    def learn(
        self, x: AnyArray, deviation: AnyArray, near: AnyArray, factor: float, frames: int, forgetting: float,
        patience: int, fixed: bool,
    ) -> tuple[int, int]:  # fmt: skip
        """Take in a frame where no foreground is near, and foreground that has not changed for longer than `patience`.

        Fixed components stay as they are. Returns the numbers of pixels near foreground, and of those that did not
        change.
        """
        if not fixed:
            self._revive_components(near)
        lam = 0.0 if fixed else self.outlier_penalty
        inside, still, absorbed, kept = learn_from_frame(
            x, self.format.height, self.format.width, deviation, near, frames, 0 if fixed else patience, forgetting,
            CODES.min_strength / self.weight, lam, factor, *self._learning,
        )  # fmt: skip
        self.weight = kept * self.weight + 1.0
        self.learnt += 1
        if self.learnt % CODES.mean_every == 0:
            self.mean_codes += np.float32(CODES.mean_rate) * (self.codes - self.mean_codes)
        if self.learnt == CODES.refresh_every or absorbed > 0.005 * self.pixels:
            self._refresh()
        return inside, still

    def relight(self, gain: float, offset: float) -> None:
        """Brighten the background: Us <- gain Us + offset."""
        self.codes *= np.float32(gain)
        direction = self.codes / np.float32(max(float(self.codes @ self.codes), 1e-30))
        self.components[:, : self.pixels] += direction[:, None] * np.float32(offset)
        if self.sample.size:
            np.take(self.components, self.sample, axis=1, out=self.sampled)
        self._refresh()

    def picture_under(self, codes: Float32Array) -> AnyArray:
        """Us for some codes, in the numbers of the camera."""
        values = (codes @ self.components + self._middles()) / np.float32(self.scale)
        if self.last.dtype.kind == "f":
            return np.clip(values, 0.0, 1.0)
        return np.asarray(np.rint(np.clip(values, 0.0, 1.0 / self.scale)), dtype=self.last.dtype)

    def replace_by(self, picture: AnyArray) -> None:
        """Make a picture the background under the mean codes, Us <- picture, by the least change of U."""
        codes = self.mean_codes
        self.codes[:] = codes
        shift = picture * np.float32(self.scale) - self._middles() - codes @ self.components
        direction = codes / np.float32(max(float(codes @ codes), 1e-30))
        for atom, part in zip(self.components, direction, strict=True):
            atom += part * shift
        if self.sample.size:
            np.take(self.components, self.sample, axis=1, out=self.sampled)
        self._refresh()

    def _middles(self) -> Float32Array:
        """What stands for zero at each entry: black, and no colour."""
        middles = np.zeros(self.last.size, dtype=np.float32)
        middles[self.pixels :] = middle_of(self.last.dtype) * self.scale
        return middles

    def _revive_components(self, near: AnyArray) -> None:
        """Give components that have vanished, after a black start, a code by which they can learn when light comes."""
        if abs(self.codes[0]) > 1e-6:  # so it is but for a black start, and the rest takes time
            return
        vanished = np.abs(self.codes).max() < 1e-6 and np.abs(self.components).max() < 1e-6
        if vanished and 2 * np.count_nonzero(near == 1) > near.size:
            self.components[0] = self.sampled[0] = 0.0
            self.codes[0] = 0.5 * (self.pixels / 30.0) ** 0.25

    def _layers(self, values: AnyArray, atoms: Float32Array, n_layers: int, lam: float) -> None:
        if values.size:
            lam_star = self._penalty_for(values.size)
            frame_codes(values, self.scale, atoms, self.step, lam_star, lam, n_layers, self.codes, self.zeros)

    def _entries(self, x: AnyArray, excluded: BoolArray | None) -> tuple[AnyArray, Float32Array]:
        """The entries that codes are found from, with their atoms."""
        if excluded is None and not self.code_pixels.size:
            return x[: self.pixels], self.components
        places: AnyArray = self.code_pixels
        if excluded is not None:
            places = places[~excluded[places]] if places.size else np.flatnonzero(~excluded)
        return x[places], np.take(self.components, places, axis=1)

    def _penalty_for(self, n_entries: int) -> float:
        """lam_* for codes that are found from some of the entries: their share of it."""
        return CODES.rank_penalty * n_entries / self.pixels

    def _pixels_for_codes(self) -> NDArray[np.int32]:
        """The pixels that codes are found from, in order; empty for all."""
        if self.sample.size or self.stride == 1:
            return self.sample
        columns = np.arange(self.format.width, dtype=np.int32)
        rows = np.arange(0, self.format.height, self.stride, dtype=np.int32)
        return np.asarray(self.format.width * rows[:, None] + columns).reshape(-1)

    @property
    def _sample_or_none(self) -> NDArray[np.int32] | None:
        """The sample, None for all entries."""
        return self.sample if self.sample.size else None

    def _update_scenery(self) -> None:
        """Put together what a look needs; arrays are shared, so only a new step or penalty calls for it."""
        self.scene = Scenery(
            scale=self.scale,
            white=self.format.white,
            atoms=self.components,
            codes=self.codes,
            variance=self.variance,
            least=(NOISE.least**2, NOISE.least_colour**2),
            stride=self.stride,
            sample=self._sample_or_none,
            sampled=self.sampled,
            step=self.step,
            lam_star=self.code_penalty,
            lam=self.outlier_penalty,
            zeros=self.zeros,
        )

    def _system(self) -> Float64Array:
        """U'U + lam_* I, over the pixels that codes are found from."""
        atoms = (
            np.take(self.components, self.code_pixels, axis=1)
            if self.code_pixels.size
            else self.components[:, : self.pixels]
        )
        with limit_blas_threads(atoms.size):
            gram = (atoms @ atoms.T).astype(np.float64)
        return gram + self.code_penalty * np.eye(len(gram))

    def _check_step(self) -> None:
        """Refuse a step of other components: it is somewhat behind them, but codes must not grow without bound."""
        if np.abs(np.linalg.eigvals(self.step @ self._system())).max() > CODES.largest_lag:
            raise ValueError("the step should be that of the components")

    def _refresh(self) -> None:
        """Bring up to date what depends on all components and on the noise."""
        self.learnt = 0
        self.step = np.linalg.inv(self._system()).astype(np.float32)
        self.outlier_penalty = CODES.outliers_from * max(self.noise, NOISE.least)
        self._update_scenery()


def encode_frame(
    model: Background, how: str | Encoder, x: AnyArray, n_layers: int, known: BoolArray | None, region: BoolArray | None
) -> None:
    """Find the codes of a frame: exactly, by a trained network, or by layers that leave known foreground out."""
    excluded = known
    if isinstance(how, Encoder):
        if region is not None:
            outside = ~region.reshape(-1)
            excluded = outside if excluded is None else excluded | outside
        model.encode_by_network(how, x, excluded)
    elif how == "exact":
        model.encode_exactly(x, excluded)
    elif excluded is not None:
        model.encode_without(x, n_layers, excluded)


def noise_rates() -> tuple[float, float, float, float]:
    """How a variance is learnt, see `kernels.video_learning.follow_noise`.

    Deviations have no sign, so the difference of two has the mean square 2 (1 - 2 / pi) v for Gaussian noise of
    variance v. A mean of squares that falls slower than it rises ends at their expectile m v with
    E max(z^2 - m, 0) = fall E max(m - z^2, 0), z Gaussian.
    """

    def excess(m: float) -> float:
        root = m**0.5
        above = 2.0 * ((1.0 - m) * ndtr(-root) + root * np.exp(-0.5 * m) / (2.0 * np.pi) ** 0.5)
        return float(above - NOISE.fall * (above + m - 1.0))

    expectile = brentq(excess, 0.5, 50.0)
    return NOISE.rate, NOISE.slow_rate, NOISE.fall, 1.0 / ((2.0 - 4.0 / np.pi) * expectile)


def white_of(dtype: Any) -> float:
    """The number of a camera that is white."""
    return 1.0 if np.dtype(dtype).kind == "f" else float(np.iinfo(dtype).max)
