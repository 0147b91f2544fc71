"""The background of a fixed camera: a low-rank model of frames with the noise of every pixel."""

from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from ..._threads import limit_blas_threads
from ..._types import AnyArray, BoolArray, Float32Array, Float64Array
from ...core.encoder.encoder import Encoder
from ...core.solvers.projection import newton
from ...kernels.video_detection import Scenery, frame_codes, zeros_for
from ...kernels.video_learning import LearningState, learn_from_frame
from ...media.planes import middle_of
from ._format import FrameFormat
from ._start import NumbersOfCamera, first_background, noise_around

RANK_PENALTY = 0.1
"""lam_*: far below what a frame weighs, so that it only keeps atoms alive that are used."""
LEAST_NOISE = 3.5 / 255.0
"""Standard deviation below which no noise is believed: a threshold of ten of 255 steps, by default."""
LEAST_COLOUR_NOISE = 3.0 / 255.0
"""The same of a colour difference."""
OUTLIERS_FROM = 2.6
"""Standard deviations from which on a deviation is an outlier for codes and components."""
USUAL_EVERY, USUAL_RATE = 4, np.float32(0.5)
"""Frames learnt from one that enters the mean of the codes to the next, and how fast it follows."""
FAINT = 1e-4
"""Share of the usual strength of codes below which a frame is black."""
NOISE_RATE = 0.1
"""How fast a variance rises."""
NOISE_SAMPLES = 20
"""Frames that a variance which follows at this rate is as good as: a deviation has Student's distribution."""
SLOW_NOISE_RATE = 0.004
"""Near foreground, so that a place that always moves is understood in the end."""
NOISE_FALL = 0.5
"""How much slower it falls, so that a tree is remembered between two gusts."""
PROBES = 1000
"""Entries, drawn once, that the typical noise and the light are judged by."""
_BEHIND = 1e3
"""By how much components may have grown since the step was found."""
REFRESH_EVERY = 32
"""Frames that are learnt before what depends on all components is brought up to date; twice as many cost F."""
MOST_COMPONENTS = 100
"""Kernels are compiled for each number of them, for half a minute with so many."""


@dataclass(eq=False)
class Background:
    """U' and s of the last frame, with what learning needs to know.

    Entries are the brightness of all pixels, then two planes of colour where there are.
    """

    format: FrameFormat
    components: Float32Array
    """(q, m): U'."""
    codes: Float32Array
    """(q,): s of the last frame."""
    variance: Float32Array
    """(m,): of the deviation of each entry."""
    squares: Float64Array
    """(q, q): A, the faded sum of s s'."""
    last: AnyArray
    """(m,): the frame that was learnt last."""
    last_deviation: AnyArray
    """(m,): how it deviated from the background."""
    seen: NDArray[np.uint16]
    """For each pixel, for how many frames its background was seen."""
    waited: NDArray[np.uint16]
    """For each pixel near foreground, for how many frames it has not changed."""
    sample: NDArray[np.int32]
    """The pixels that codes are found from; empty for all."""
    usual: Float32Array = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    """(q,): the mean of the codes of late."""
    step: Float32Array = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    """(q, q): (U'U + lam_* I)^-1 for the sample, up to date now and then."""
    weight: float = 0.0
    """The faded number of frames learnt."""
    outlier_penalty: float = 0.0
    """lam: from the noise, up to date now and then."""
    learnt: int = 0
    """Frames learnt since then."""
    stride: int = 1
    """Without a sample, codes are found from every stride-th row."""

    def __post_init__(self) -> None:
        self.scale = 1.0 / white_of(self.last.dtype)
        self.pixels = self.format.pixels
        self.zeros = zeros_for(len(self.components))
        self.usual = self.usual if self.usual.size else self.codes.copy()
        self.sampled = np.take(self.components, self.sample, axis=1) if self.sample.size else self.components
        self.spread = self._spread()
        self.code_penalty = self._penalty_for(self.spread.size or self.pixels)
        chances = np.random.default_rng(0).random(PROBES)
        entries = self.sample if self.sample.size else np.arange(self.pixels, dtype=np.int32)
        self.probe = entries[(chances * entries.size).astype(np.intp)]
        self._learning = LearningState(
            lam_star=RANK_PENALTY,
            least=(LEAST_NOISE**2, LEAST_COLOUR_NOISE**2),
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
            sample=self._some,
            sampled=self.sampled,
            zeros=self.zeros,
        )
        if self.step.size:
            self._check_step()
            self._show()
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
            components, codes = first_background(rows, camera, n_components, LEAST_NOISE)
        else:
            components = np.array(encoder.components, dtype=np.float32)
            codes = encoder.encode(rows * np.float32(scale))[0].astype(np.float64)
        return cls(
            format=form,
            components=components,
            codes=codes[-1].astype(np.float32),
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
        return float(np.sqrt(np.partition(self.variance[self.probe], PROBES // 2)[PROBES // 2]))

    @property
    def rank(self) -> int:
        """Directions of the background that are stronger than noise could be: sigma > noise (sqrt m + sqrt n)."""
        m, atoms = self.pixels, self.components[:, : self.pixels]
        gram = np.einsum("im,jm->ij", atoms, atoms, dtype=np.float64)
        strengths = np.sqrt(np.maximum(np.linalg.eigvals(self.squares @ gram).real, 0.0))
        return int(np.sum(strengths > max(self.noise, LEAST_NOISE) * (np.sqrt(m) + np.sqrt(self.weight))))

    def encode_exactly(self, x: AnyArray, apart: BoolArray | None) -> None:
        """Solve (5) for the codes of a frame; entries set apart have no say."""
        values, atoms = self._entries(x, apart)
        if not values.size:
            return
        lam_star = self._penalty_for(values.size)
        lam = np.full(values.size, self.outlier_penalty, dtype=np.float32)
        samples, atoms = (values * np.float32(self.scale))[None], np.ascontiguousarray(atoms[:, : values.size])
        with limit_blas_threads(atoms.size):
            self.codes[:] = next(newton(samples, atoms, lam_star, lam, self.codes[None], tol=1e-6)).codes[0]

    def encode_by(self, encoder: Encoder, x: AnyArray, apart: BoolArray | None) -> None:
        """Find the codes of a frame by a network."""
        samples = (x[: self.pixels] * np.float32(self.scale))[None]
        if apart is not None:
            samples[0, apart] = np.nan
        self.codes[:] = encoder.encode(samples, init=self.codes[None])[0][0]

    def encode_apart(self, x: AnyArray, n_layers: int, apart: BoolArray) -> None:
        """Find the codes of a frame by layers, without the entries set apart."""
        self._layers(*self._entries(x, apart), n_layers, self.outlier_penalty)

    def encode_anew(self, x: AnyArray, apart: BoolArray | None = None) -> None:
        """Find the codes of a frame that has little in common with the last one: the threshold falls to its value."""
        values, atoms = self._entries(x, apart)
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
            self._awake(near)
        lam = 0.0 if fixed else self.outlier_penalty
        inside, still, absorbed, kept = learn_from_frame(
            x, self.format.height, self.format.width, deviation, near, frames, 0 if fixed else patience, forgetting,
            FAINT / self.weight, lam, factor, *self._learning,
        )  # fmt: skip
        self.weight = kept * self.weight + 1.0
        self.learnt += 1
        if self.learnt % USUAL_EVERY == 0:
            self.usual += USUAL_RATE * (self.codes - self.usual)
        if self.learnt == REFRESH_EVERY or absorbed > 0.005 * self.pixels:
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

    def picture(self, codes: Float32Array) -> AnyArray:
        """Us for some codes, in the numbers of the camera."""
        values = (codes @ self.components + self._middles()) / np.float32(self.scale)
        if self.last.dtype.kind == "f":
            return np.clip(values, 0.0, 1.0)
        return np.asarray(np.rint(np.clip(values, 0.0, 1.0 / self.scale)), dtype=self.last.dtype)

    def become(self, picture: AnyArray) -> None:
        """Make a picture the background under the usual codes, Us <- picture, by the least change of U."""
        codes = self.usual
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

    def _awake(self, near: AnyArray) -> None:
        """Give components that have vanished, after a black start, a code by which they can learn when light comes."""
        if abs(self.codes[0]) > 1e-6:  # so it is but for a black start, and the rest takes time
            return
        vanished = np.abs(self.codes).max() < 1e-6 and np.abs(self.components).max() < 1e-6
        if vanished and 2 * np.count_nonzero(near == 1) > near.size:
            self.components[0] = self.sampled[0] = 0.0
            self.codes[0] = 0.5 * (self.pixels / 30.0) ** 0.25

    def arrays(self) -> dict[str, AnyArray]:
        """All arrays, by their names."""
        return {part.name: value for part in fields(self) if isinstance(value := getattr(self, part.name), np.ndarray)}

    def numbers(self) -> dict[str, float]:
        """All numbers, by their names."""
        return {part.name: value for part in fields(self) if isinstance(value := getattr(self, part.name), int | float)}

    def _layers(self, values: AnyArray, atoms: Float32Array, n_layers: int, lam: float) -> None:
        if values.size:
            lam_star = self._penalty_for(values.size)
            frame_codes(values, self.scale, atoms, self.step, lam_star, lam, n_layers, self.codes, self.zeros)

    def _entries(self, x: AnyArray, apart: BoolArray | None) -> tuple[AnyArray, Float32Array]:
        """The entries that codes are found from, with their atoms."""
        if apart is None and not self.spread.size:
            return x[: self.pixels], self.components
        places: AnyArray = self.spread
        if apart is not None:
            places = places[~apart[places]] if places.size else np.flatnonzero(~apart)
        return x[places], np.take(self.components, places, axis=1)

    def _penalty_for(self, n_entries: int) -> float:
        """lam_* for codes that are found from some of the entries: their share of it."""
        return RANK_PENALTY * n_entries / self.pixels

    def _spread(self) -> NDArray[np.int32]:
        """The pixels that codes are found from, in order; empty for all."""
        if self.sample.size or self.stride == 1:
            return self.sample
        columns = np.arange(self.format.width, dtype=np.int32)
        rows = np.arange(0, self.format.height, self.stride, dtype=np.int32)
        return np.asarray(self.format.width * rows[:, None] + columns).reshape(-1)

    @property
    def _some(self) -> NDArray[np.int32] | None:
        """The sample, None for all entries."""
        return self.sample if self.sample.size else None

    def _show(self) -> None:
        """Put together what a look needs; arrays are shared, so only a new step or penalty calls for it."""
        self.scene = Scenery(
            scale=self.scale,
            white=self.format.white,
            atoms=self.components,
            codes=self.codes,
            variance=self.variance,
            least=(LEAST_NOISE**2, LEAST_COLOUR_NOISE**2),
            stride=self.stride,
            sample=self._some,
            sampled=self.sampled,
            step=self.step,
            lam_star=self.code_penalty,
            lam=self.outlier_penalty,
            zeros=self.zeros,
        )

    def _system(self) -> Float64Array:
        """U'U + lam_* I, over the pixels that codes are found from."""
        atoms = np.take(self.components, self.spread, axis=1) if self.spread.size else self.components[:, : self.pixels]
        with limit_blas_threads(atoms.size):
            gram = (atoms @ atoms.T).astype(np.float64)
        return gram + self.code_penalty * np.eye(len(gram))

    def _check_step(self) -> None:
        """Refuse a step of other components: it is somewhat behind them, but codes must not grow without bound."""
        if np.abs(np.linalg.eigvals(self.step @ self._system())).max() > _BEHIND:
            raise ValueError("the step should be that of the components")

    def _refresh(self) -> None:
        """Bring up to date what depends on all components and on the noise."""
        self.learnt = 0
        self.step = np.linalg.inv(self._system()).astype(np.float32)
        self.outlier_penalty = OUTLIERS_FROM * max(self.noise, LEAST_NOISE)
        self._show()


def noise_rates() -> tuple[float, float, float, float]:
    """How a variance is learnt, see `kernels.follow_noise`.

    Deviations have no sign, so the difference of two has the mean square 2 (1 - 2 / pi) v for Gaussian noise of
    variance v. A mean of squares that falls slower than it rises ends at their expectile m v with
    E max(z^2 - m, 0) = fall E max(m - z^2, 0), z Gaussian.
    """

    def excess(m: float) -> float:
        root = m**0.5
        above = 2.0 * ((1.0 - m) * ndtr(-root) + root * np.exp(-0.5 * m) / (2.0 * np.pi) ** 0.5)
        return float(above - NOISE_FALL * (above + m - 1.0))

    expectile = brentq(excess, 0.5, 50.0)
    return NOISE_RATE, SLOW_NOISE_RATE, NOISE_FALL, 1.0 / ((2.0 - 4.0 / np.pi) * expectile)


def white_of(dtype: Any) -> float:
    """The number of a camera that is white."""
    return 1.0 if np.dtype(dtype).kind == "f" else float(np.iinfo(dtype).max)
