"""Frames one by one: background, foreground and mask."""

from os import PathLike
from typing import Any, Literal, Self

import numpy as np

from ... import store
from ..._rules import LEAST, Rule
from ..._threads import limit_blas_threads
from ..._types import AnyArray
from ..._validation import check_choice, check_count, check_forgetting, check_positive, check_share, generator
from ...core.encoder.encoder import MOST_LAYERS, Encoder
from ...media import Planes
from ._background import MOST_COMPONENTS, Background
from ._camera import MOST, CameraWatch, lost_between
from ._codes import checked_encoder, encode_frame
from ._detect import Detection, Detector, mask_thresholds
from ._format import FrameFormat, checked_frame, checked_region, chosen_pixels, known_pixels, mark_known, stride_of_rows
from ._lights import Lights, follow_light
from ._result import Box, Separation, State
from ._scene_change import SceneChange
from ._stabiliser import STABILISERS, Stabiliser, View
from ._storing import KIND, SETTINGS, restored, schema_of, to_store

LEARN_EVERY = 2
"""Frames from one that is learnt to the next."""
LONGEST_PATIENCE = 59999
"""Frames that are counted for a pixel."""
QUICK_PATIENCE = 3
"""Frames after which, in a scene that has changed as a whole, what does not move is background."""


class Stream:
    """Separates the frames of a fixed camera into background and foreground, one by one, in constant memory.

    The background of a frame x is Us with few components U, which follow the scene by recursive least squares with
    forgetting, equation (9); the codes s of a frame come from a few layers of Algorithm 1, started from those of the
    last frame. A pixel deviates if it is outside the span of the background around it by more than its own noise
    explains; the mask is where most pixels of a small square deviate. What is foreground does not enter the model.

    Light that changes is followed: by s at once, by a gain and an offset for all pixels, and, where most of what
    deviates does not move, by taking the new scene for background within a few frames ("adapting"). A camera that
    moves, or a cut, is noticed by the texture of the whole picture ("moving"), and the background starts anew.

    Parameters
    ----------
    n_components : int, default=5
        Most components of the background; the first frames tell how many of them there are.
    forgetting : float, default=0.99
        What every frame multiplies the weight of all earlier ones by: the background has forgotten most of what it saw
        after 1 / (1 - forgetting) frames. 1 for never.
    false_alarm_rate : float, default=0.005
        Share of the pixels of the background that noise may make deviate in a frame, before the mask is cleaned: the
        knob of sensitivity.
    n_layers : int, default=2
        Layers for the codes of a frame.
    encoder : "layers", "exact" or Encoder, default="layers"
        How codes are found: by layers of Algorithm 1, exactly, by Newton's method, or by a trained network, whose
        components are then the background for good: only the noise goes on being learnt.
    pixel_share : float, optional
        Share of the pixels that codes are found from, drawn at random; a tenth is faster where pictures are small. By
        default all of them, and of pictures with more than 20 000 every n-th row, so that there are at most so many.
    region : array of bool, shape (height, width), optional
        Region of interest: only there foreground is looked for, and codes are found.
    smoothing : int, optional
        Side of the square in which most pixels must deviate, an odd number up to 15; 1 leaves the mask as it is. By
        default 7 for pictures of 200 rows or more, 5 from 100 rows on, and 3 below.
    min_area : int, optional
        Regions of the mask with fewer pixels that clearly deviate are dropped. By default a 1000th of what is watched.
    shadows : bool, default=False
        Whether shadows count as foreground. They are told from objects in coloured frames only.
    patience : int or None, default=500
        Frames after which something that stopped becomes background; None for never. It does not take longer than the
        background behind it was seen, so that what was there from the start and left is soon forgotten.
    start_size : int, default=30
        Frames that the first background is learnt from. They need not be empty.
    stabilise : {"translation", "similarity", "projective"}, optional
        For a camera that shakes: how it may move. Each frame is laid over the background before it is separated, and
        mask, boxes and background are laid back. A region of interest stays where it is in the first frames.
    random_state : int, default=0
        Seed of the choice of pixels.

    Attributes
    ----------
    frozen_ : bool
        Whether `freeze` was called: nothing is learnt.
    card_ : dict
        What the stream knows of itself.
    n_frames : int
        Frames pushed so far.

    Examples
    --------
    >>> from unmingle.synth import surveillance_scene
    >>> scene = surveillance_scene(60, 48, 64, random_state=0)
    >>> stream = Stream()
    >>> found = [stream.push(frame) for frame in scene.frames]
    >>> found[-1].state, found[-1].mask.shape, bool(found[-1].score < 0.5)
    ('watching', (48, 64), True)
    """

    def __init__(
        self,
        *,
        n_components: int = 5,
        forgetting: float = 0.99,
        false_alarm_rate: float = 0.005,
        n_layers: int = 2,
        encoder: Literal["layers", "exact"] | Encoder = "layers",
        pixel_share: float | None = None,
        region: Any = None,
        smoothing: int | None = None,
        min_area: int | None = None,
        shadows: bool = False,
        patience: int | None = 500,
        start_size: int = 30,
        stabilise: str | None = None,
        random_state: int = 0,
    ) -> None:
        self.stabilise = None if stabilise is None else check_choice(stabilise, "stabilise", STABILISERS)
        if pixel_share is not None and check_positive(pixel_share, "pixel_share") > 1:
            raise ValueError(f"pixel_share must be above 0 and at most 1, got {pixel_share!r}.")
        if smoothing is not None and check_count(smoothing, "smoothing") not in range(1, 16, 2):
            raise ValueError(f"smoothing must be an odd number from 1 to 15, got {smoothing!r}.")
        generator(random_state)
        self.n_components = check_count(n_components, "n_components", MOST_COMPONENTS)
        self.forgetting = check_forgetting(forgetting)
        self.n_layers = check_count(n_layers, "n_layers", MOST_LAYERS)
        self.encoder = checked_encoder(encoder, self.stabilise)
        self.pixel_share = None if pixel_share is None else float(pixel_share)
        self.region = None if region is None else checked_region(region)
        self.smoothing = smoothing
        self.min_area = None if min_area is None else check_count(min_area, "min_area")
        self.shadows = bool(shadows)
        self.patience = None if patience is None else check_count(patience, "patience")
        self.start_size = check_count(start_size, "start_size")
        self.random_state = random_state
        self._stabiliser = Stabiliser(stabilise)
        self._detector: Detector | None = None
        self.false_alarm_rate = false_alarm_rate
        self.frozen_ = False
        self.n_frames = 0
        self._learnt_at = 0
        self._scene_change = SceneChange()
        self._lights = Lights()
        self._camera = CameraWatch()
        self._first: list[AnyArray] = []
        self._model: Background | None = None

    @property
    def false_alarm_rate(self) -> float:
        """Share of the pixels of the background that noise may make deviate; may be changed at any time."""
        return self._false_alarm_rate

    @false_alarm_rate.setter
    def false_alarm_rate(self, rate: float) -> None:
        if check_share(rate, "false_alarm_rate") < LEAST:
            raise ValueError(f"false_alarm_rate must be above 0, got {rate!r}.")
        self._false_alarm_rate = float(rate)
        self._set_thresholds()

    def _set_thresholds(self) -> None:
        coloured = self._detector is not None and self._detector.format.places > 0
        self._thresholds = mask_thresholds(self._false_alarm_rate, 3 if coloured else 1)

    def freeze(self, frozen: bool = True) -> Self:
        """Stop learning: every frame is separated by what is known. ``freeze(False)`` goes on learning.

        Parameters
        ----------
        frozen : bool
            Whether to be frozen.
        """
        self.frozen_ = bool(frozen)
        return self

    @property
    def started(self) -> bool:
        """Whether there is a background."""
        return self._model is not None

    @property
    def format(self) -> FrameFormat | None:
        """What all frames look like; None before the first."""
        return None if self._detector is None else self._detector.format

    def push(self, frame: Any, time: float | None = None, *, known_foreground: Any = None) -> Separation:
        """Separate a frame and learn from it.

        Parameters
        ----------
        frame : array of shape (height, width) or (height, width, 3), or unmingle.media.Planes
            Bytes, 16-bit numbers, or floating-point numbers in [0, 1].
        time : float, optional
            Its time in seconds; by default its number.
        known_foreground : array of bool, shape (height, width), optional
            Pixels that are known to be foreground: they have no say in the codes and do not enter the background. Not
            heeded while the stream is starting.

        Returns
        -------
        Separation
            Its frame is the given one, not a copy.
        """
        before = self._detector, self._first, self._model, self._stabiliser.place
        try:
            pixels = self._checked(frame)
            known = None if known_foreground is None else known_pixels(self._ready_detector().format, known_foreground)
            index = self.n_frames
            time = float(index) if time is None else float(time)
            if self._model is None:
                found = self._collect(pixels, index, time)
            else:
                if self.frozen_:
                    self._scene_change.left = 0
                found = self._separated(self._model, pixels, index, time, known, learn=not self.frozen_)
        except BaseException:
            self._detector, self._first, self._model, self._stabiliser.place = before
            raise
        self.n_frames += 1
        return found

    def inspect(self, frame: Any, time: float = 0.0) -> Separation:
        """Separate a frame without learning from it; the stream stays as it was."""
        if self._model is None:
            raise ValueError(f"The stream has no background yet; push {self.start_size} frames first, or fit it.")
        pixels, codes, place = self._checked(frame), self._model.codes.copy(), self._stabiliser.place
        try:
            return self._separated(self._model, pixels, self.n_frames, float(time), None, learn=False)
        finally:
            self._model.codes[:], self._stabiliser.place = codes, place

    def fit(self, frames: Any) -> Self:
        """Learn the first background from frames at once: an array, or several arrays; a single clean one will do."""
        detector = self._detector
        try:
            rows = [self._copied_row(self._checked(frame)) for frame in frames]
            if not rows:
                raise ValueError("frames must hold at least one frame, got none.")
            self._begin(np.stack(rows))
        except ValueError:
            self._detector = detector
            raise
        self._first, self._scene_change, self._camera.moving, self._lights = [], SceneChange(), False, Lights()
        return self

    def _separated(
        self,
        model: Background,
        frame: AnyArray | Planes,
        index: int,
        time: float,
        known: AnyArray | None,
        *,
        learn: bool,
    ) -> Separation:
        detector = self._ready_detector()
        view = self._stabiliser.look(detector.format.row(frame), detector.format)
        x, known = view.row, None if known is None else view.mask_laid_over(known)
        layers = self.n_layers if known is None and self.encoder == "layers" else 0
        if not layers:
            encode_frame(model, self.encoder, x, self.n_layers, known, self.region)
        detection = detector.detect(model, x, self._thresholds, layers)
        score = self._score(detection.regions)
        if not isinstance(self.encoder, Encoder):
            lights = self._lights if learn else None
            if follow_light(model, x, detection, score, known, self._scene_change, lights):
                detection = detector.detect(model, x, self._thresholds, 0)
                score = self._score(detection.regions)
        if learn and self._camera_moved(detection, view, score):
            return self._collect(frame, index, time)
        if known is not None:
            mark_known(detector.format, detection.near, known)
        adapting = self._scene_change.left > 0
        if learn and (adapting or index % LEARN_EVERY == 0 or self._scene_change.alert > 0):
            self._learn(model, x, detection, score, index)
            if self.stabilise is not None:
                self._stabiliser.renew(detection.background, detector.format)
        state: State = "frozen" if not learn else "adapting" if adapting else "watching"
        background, mask, regions = view.laid_back(detection, detector.canvas.least_area)
        boxes = tuple([Box._make(region) for region in regions])
        score = score if regions is detection.regions else self._score(regions)
        return Separation(index, time, frame, background, mask, boxes, score, state)

    def _camera_moved(self, detection: Detection, view: View, score: float) -> bool:
        """Whether the whole picture is another one, or has left: then the background starts anew."""
        doubtful = self._scene_change.exceeded_by(score) or not view.in_sight
        if isinstance(self.encoder, Encoder) or not doubtful:
            self._camera.calm()
            return False
        if not self._camera.note(detection.background, view.row, view.format, in_sight=view.in_sight):
            return False
        self._model, self._first, self._scene_change = None, [], SceneChange(jumps=self._scene_change.jumps)
        self._lights = Lights()
        return True

    def _learn(self, model: Background, x: AnyArray, detection: Detection, score: float, index: int) -> None:
        adapting = self._scene_change.left > 0
        frames = max(1, min(index - self._learnt_at, LEARN_EVERY))
        self._learnt_at = index
        patience = QUICK_PATIENCE if adapting else min(self.patience or 0, LONGEST_PATIENCE)
        inside, still = model.learn(
            x, detection.deviation, detection.near, self._thresholds[1], frames, self.forgetting**frames, patience,
            isinstance(self.encoder, Encoder),
        )  # fmt: skip
        self._scene_change.judge(score, still / inside if inside else 0.0, detection.alike)

    def _score(self, regions: list[list[int]]) -> float:
        """The share of the region of interest that is foreground."""
        return sum([region[4] for region in regions]) / self._ready_detector().watched

    def _collect(self, frame: AnyArray | Planes, index: int, time: float) -> Separation:
        """Keep a frame until there are enough of them to learn the first background."""
        form, row = self._ready_detector().format, self._copied_row(frame)
        if self._camera.moving and self._first:
            laid = self._stabiliser.laid_over(self._first[-1], row, form)
            self._first = [] if lost_between(self._first[-1], laid, form) > MOST else self._first
        self._first = [*self._first, row]
        state: State = "moving" if self._camera.moving and len(self._first) == 1 else "starting"
        if len(self._first) >= self.start_size:
            rows, self._first, self._camera.moving = np.stack(self._first), [], False
            self._begin(rows)
        empty = np.zeros((form.height, form.width), dtype=bool)
        return Separation(index, time, frame, form.picture_of(row.copy()), empty, (), 0.0, state)

    def _begin(self, rows: AnyArray) -> None:
        form = self._ready_detector().format
        encoder = self.encoder if isinstance(self.encoder, Encoder) else None
        if encoder is not None and encoder.components.shape[1] != rows.shape[1]:
            raise ValueError(
                f"The encoder was trained for frames of {encoder.components.shape[1]} numbers, got {rows.shape[1]}."
            )
        sample = chosen_pixels(form.pixels, self.pixel_share or 1.0, self.region, self.random_state)
        stride = stride_of_rows(form) if self.pixel_share is None else 1
        rows = self._stabiliser.start(rows, form)
        with limit_blas_threads(rows.size):
            self._model = Background.start(rows, self.n_components, form, sample, stride, encoder)

    def _ready_detector(self) -> Detector:
        assert self._detector is not None
        return self._detector

    def _copied_row(self, frame: AnyArray | Planes) -> AnyArray:
        return np.array(self._ready_detector().format.row(frame))

    def _checked(self, frame: Any) -> AnyArray | Planes:
        """Return a frame of the size and type of all frames, or say what is wrong with it."""
        detector = self._detector
        if detector is not None and detector.format.fits(frame):
            return frame
        pixels = checked_frame(frame)
        form = FrameFormat.of(pixels)
        if detector is None:
            self._open(form)
        elif form.words != detector.format.words:
            raise ValueError(f"The frame has {form.words}, but the stream began with {detector.format.words}.")
        else:
            detector.format = form
        return pixels

    def _open(self, form: FrameFormat) -> None:
        """Make room for frames of this size."""
        size = form.height, form.width
        if self.region is not None and self.region.shape != size:
            raise ValueError(f"region must have the shape of the frames, {size}; got {self.region.shape}.")
        self._detector = Detector(form, self.smoothing, self.min_area, not self.shadows, self.region)
        self._set_thresholds()

    @property
    def card_(self) -> dict[str, Any]:
        """What the stream knows of itself.

        Frames, components and how many are above noise (rank), the typical noise of a pixel beyond what its neighbours
        allow for, in 255ths, jumps of the scene, moves of the camera, and the settings.
        """
        model = self._model
        return {
            "frames": self.n_frames,
            "components": None if model is None else len(model.components),
            "rank": None if model is None else model.rank,
            "noise": None if model is None else 255.0 * model.noise,
            "scene_jumps": self._scene_change.jumps,
            "camera_moves": self._camera.moves,
            "settings": {name: getattr(self, name) for name in SETTINGS},
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the stream to a ``.safetensors`` file; `unmingle.load` reads it back, and it goes on as if unbroken.

        Parameters
        ----------
        path : path
            Where to; an existing file is replaced once the new one is complete.
        """
        content = self._to_store()
        store.save(path, KIND, content, self._schema(content))

    def _to_store(self) -> dict[str, Any]:
        return to_store(self)

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        return restored(cls, content)

    @classmethod
    def _schema(cls, content: dict[str, Any]) -> Rule:
        return schema_of(content)
