"""Frames one by one: background, foreground and mask. `step` takes a scene from one frame to the next."""

from dataclasses import dataclass, replace
from os import PathLike
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from ... import store
from ..._fields import from_store, record_of, rules_of, to_store
from ..._rules import ArrayOf, Count, Flag, OneOf, Record, Rule
from ..._threads import limit_blas_threads
from ..._types import AnyArray, BoolArray, Float32Array
from ...core.encoder.encoder import Encoder
from ...media import Planes
from ._background import Background, encode_frame
from ._camera import CAMERA, CameraWatch, share_lost
from ._detect import Detection, Detector, mask_thresholds
from ._format import (
    PIXEL_TYPES,
    FrameFormat,
    admit_frame,
    chosen_pixels,
    known_pixels,
    mark_known,
    stride_of_rows,
)
from ._light import Lights, SceneChange, end_change, follow_light
from ._separation import Box, Separation, State
from ._stabiliser import Stabiliser, lay_first_over, lay_over_another
from .settings import MOST_COMPONENTS, StreamSettings

KIND = "VideoStream"


@dataclass(frozen=True)
class LearningRules:
    """How often a frame is learnt, and how long what stands still waits until it is background."""

    every: int = 2
    """One frame of this number is learnt, as long as nothing happens: neighbours in time say the same."""
    longest_patience: int = 59999
    """A pixel cannot wait for more frames: they are counted in 16 bits."""
    quick_patience: int = 3
    """In a scene that has changed as a whole, what has not moved for this number of frames is background."""


LEARNING = LearningRules()


class SceneState(NamedTuple):
    """All that is known of a scene after a frame; `step` makes that after the next.

    It is a value and cannot be changed: it says which arrays there are, not what is in them. Those of `model` are
    large, and a `step` that learns changes them in place, see `Background`; whoever needs a state of before keeps a
    file of it. `step` without learning leaves them alone. A named tuple, as it is made for every frame.
    """

    n_frames: Annotated[int, Count()] = 0
    """Frames seen so far."""
    learnt_at: Annotated[int, Count()] = 0
    """Number of the frame that was learnt last."""
    format: FrameFormat | None = None
    """What all frames look like; None before the first."""
    change: SceneChange = SceneChange()
    """Whether the scene is changing as a whole."""
    camera: CameraWatch = CameraWatch()
    """Whether the camera has moved."""
    lights: Lights = Lights()
    """The scene under the lights of the past."""
    stabiliser: Stabiliser | None = None
    """Where the background lies in the last frame, if frames are followed."""
    codes: Annotated[Float32Array, ArrayOf(("float32",), "q", low=-1e6, high=1e6)] | None = None
    """s of the last frame."""
    model: Background | None = None
    """The background; None as long as there are too few frames for it. Learning changes its arrays in place."""
    first: tuple[AnyArray, ...] = ()
    """The rows of frames that are kept until there are enough of them."""
    detector: Detector | None = None
    """Room for what is seen in a frame."""


def step(
    state: SceneState,
    frame: Any,
    settings: StreamSettings,
    *,
    time: float | None = None,
    known: Any = None,
    learn: bool = True,
) -> tuple[SceneState, Separation]:
    """Separate a frame, and learn from it: the state after the frame, and what was found.

    Parameters
    ----------
    state : SceneState
        That after the frame before; it may be dropped.
    frame, time, known
        As in `Stream.push`.
    settings : StreamSettings
        Those of the whole film, but for the rate of false alarms.
    learn : bool, default=True
        Whether to learn from it. Without, only codes and the place of the background are found.
    """
    form = state.format
    if form is None or not form.fits(frame):
        state, frame = _with_format(state, frame, settings)
        form = state.format
    assert form is not None
    known = None if known is None else known_pixels(form, known)
    index, model = state.n_frames, state.model
    time = float(index) if time is None else float(time)
    if model is None:
        return _collect(state, frame, settings, time)
    x, view, stabiliser = form.row(frame), None, state.stabiliser
    if stabiliser is not None:
        stabiliser, view = stabiliser.look(x, form)
        x, known = view.row, None if known is None else view.mask_laid_over(known)
    seen, change, lights = _look_and_follow_light(state, x, settings, known, learn)
    camera, learnt_at = state.camera, state.learnt_at
    adapting = change.frames_left > 0
    if learn:
        in_sight = view is None or view.in_sight
        if not isinstance(settings.encoder, Encoder) and (change.is_disturbed(seen.score) or not in_sight):
            camera, moved = camera.note_doubt(seen.background, x, form, in_sight=in_sight)
            if moved:
                return _collect(_without_background(state, camera, stabiliser, change), frame, settings, time)
        elif camera.strikes or camera.search is not None:
            camera = camera.note_calm()
        if known is not None:
            mark_known(form, seen.near, known)
        if adapting or index % LEARNING.every == 0 or change.alert_frames > 0:
            change, learnt_at = _learn(state, x, seen, change, settings), index
            if stabiliser is not None:
                stabiliser = stabiliser.note_learnt(seen.background, form, settings.stabilise or "")
    elif change.frames_left:
        change = end_change(change)
    after = SceneState(
        index + 1, learnt_at, form, change, camera, lights, stabiliser, model.codes.copy(), model, (), state.detector
    )  # fmt: skip
    word: State = "frozen" if not learn else "adapting" if adapting else "watching"
    score, detector = seen.score, state.detector
    if view is None:
        background, mask, regions = form.picture_of(seen.background), seen.mask, seen.regions
    else:
        assert detector is not None
        background, mask, regions = view.laid_back(seen, detector.canvas.least_area)
        score = score if regions is seen.regions else detector.share_of(regions)
    boxes = tuple([Box._make(region) for region in regions])
    return after, Separation(index, time, frame, background, mask, boxes, score, word)


def _look_and_follow_light(
    state: SceneState, x: AnyArray, settings: StreamSettings, known: BoolArray | None, learn: bool
) -> tuple[Detection, SceneChange, Lights]:
    """What is seen in a frame once its light is followed, which may change the background, see `follow_light`."""
    model, detector, change, lights = state.model, state.detector, state.change, state.lights
    assert model is not None
    assert detector is not None
    model.codes[:] = state.codes
    layers = settings.n_layers if known is None and settings.encoder == "layers" else 0
    if not layers:
        encode_frame(model, settings.encoder, x, settings.n_layers, known, settings.region)
    thresholds = mask_thresholds(settings.false_alarm_rate, detector.channels)
    seen = detector.detect(model, x, thresholds, layers)
    if isinstance(settings.encoder, Encoder):
        return seen, change, lights
    if learn:
        change, lights, look_again = follow_light(model, x, seen, known, change, lights)
    else:
        look_again = change.is_disturbed(seen.score)
        if look_again:
            model.encode_from_afar(x, known)
    return detector.detect(model, x, thresholds, 0) if look_again else seen, change, lights


def _learn(
    state: SceneState, x: AnyArray, seen: Detection, change: SceneChange, settings: StreamSettings
) -> SceneChange:
    """Take a frame into the background, and judge whether the scene has changed."""
    assert state.model is not None
    assert state.detector is not None
    frames = max(1, min(state.n_frames - state.learnt_at, LEARNING.every))
    patience = LEARNING.quick_patience
    if not change.frames_left:
        patience = min(settings.patience or 0, LEARNING.longest_patience)
    strong = mask_thresholds(settings.false_alarm_rate, state.detector.channels)[1]
    inside, still = state.model.learn(
        x, seen.deviation, seen.near, strong, frames, settings.forgetting**frames, patience,
        isinstance(settings.encoder, Encoder),
    )  # fmt: skip
    return change.judge(seen.score, still / inside if inside else 0.0, seen.alike)


def _with_format(state: SceneState, frame: Any, settings: StreamSettings) -> tuple[SceneState, AnyArray | Planes]:
    """The state with the format of a frame, and room for frames of this size; and the frame, checked."""
    pixels, form = admit_frame(frame, state.format)
    detector = state.detector if state.detector is not None else _detector_for(form, settings)
    return state._replace(format=form, detector=detector), pixels


def _detector_for(form: FrameFormat, settings: StreamSettings) -> Detector:
    size, region = (form.height, form.width), settings.region
    if region is not None and region.shape != size:
        raise ValueError(f"region must have the shape of the frames, {size}; got {region.shape}.")
    return Detector(form, settings.smoothing, settings.min_area, not settings.shadows, region)


def _without_background(
    state: SceneState, camera: CameraWatch, stabiliser: Stabiliser | None, change: SceneChange
) -> SceneState:
    """The camera shows another scene: its background is to be learnt from its first frames."""
    return SceneState(
        n_frames=state.n_frames,
        learnt_at=state.learnt_at,
        format=state.format,
        change=SceneChange(jumps=change.jumps),
        camera=camera,
        stabiliser=stabiliser,
        detector=state.detector,
    )


def _collect(
    state: SceneState, frame: AnyArray | Planes, settings: StreamSettings, time: float
) -> tuple[SceneState, Separation]:
    """Keep a frame until there are enough of them to learn the first background."""
    form, first, moving = state.format, state.first, state.camera.moving
    assert form is not None
    row = np.array(form.row(frame))
    if moving and first:
        laid = row if settings.stabilise is None else lay_over_another(first[-1], row, form, settings.stabilise)
        first = () if share_lost(first[-1], laid, form) > CAMERA.most_lost else first
    first = (*first, row)
    word: State = "moving" if moving and len(first) == 1 else "starting"
    after = state._replace(n_frames=state.n_frames + 1, first=first)
    if len(first) >= settings.start_size:
        after = _with_background(after, np.stack(first), settings)
    empty = np.zeros((form.height, form.width), dtype=bool)
    return after, Separation(state.n_frames, time, frame, form.picture_of(row.copy()), empty, (), 0.0, word)


def _with_background(state: SceneState, rows: AnyArray, settings: StreamSettings) -> SceneState:
    """The state with the background of the first frames."""
    form, stabiliser = state.format, state.stabiliser
    assert form is not None
    encoder = settings.encoder if isinstance(settings.encoder, Encoder) else None
    if encoder is not None and encoder.components.shape[1] != rows.shape[1]:
        raise ValueError(
            f"The encoder was trained for frames of {encoder.components.shape[1]} numbers, got {rows.shape[1]}."
        )
    sample = chosen_pixels(form.pixels, settings.pixel_share or 1.0, settings.region, settings.random_state or 0)
    stride = stride_of_rows(form) if settings.pixel_share is None else 1
    if settings.stabilise is not None:
        rows, stabiliser = lay_first_over(rows, form, settings.stabilise, stabiliser)
    with limit_blas_threads(rows.size):
        model = Background.start(rows, settings.n_components, form, sample, stride, encoder)
    return state._replace(
        camera=replace(state.camera, moving=False),
        stabiliser=stabiliser,
        codes=model.codes.copy(),
        model=model,
        first=(),
    )


class Stream:
    """Separates the frames of a fixed camera into background and foreground, one by one, in constant memory.

    The background of a frame x is Us with few components U, which follow the scene by recursive least squares with
    forgetting, equation (9); the codes s of a frame come from a few layers of Algorithm 1, started from those of the
    last frame. A pixel deviates if it is outside the span of the background around it by more than its own noise
    explains; the mask is where most pixels of a small square deviate. What is foreground does not enter the model.

    Light that changes is followed: by s at once, by a gain and an offset for all pixels, and, where most of what
    deviates does not move, by taking the new scene for background within a few frames ("adapting"). A camera that
    moves, or a cut, is noticed by the texture of the whole picture ("moving"), and the background is learnt again.

    Parameters
    ----------
    settings : StreamSettings, optional
        How frames are separated.
    **changes
        Single settings by their names: ``Stream(patience=200)``.

    Attributes
    ----------
    settings : StreamSettings
        They may be replaced: the rate of false alarms at any time, the others before the first frame.
    state : SceneState
        What is known of the scene.
    frozen_ : bool
        Whether `freeze` was called: nothing is learnt.
    card_ : dict
        What the stream knows of itself.

    Examples
    --------
    >>> from unmingle.synth import surveillance_scene
    >>> scene = surveillance_scene(60, 48, 64, random_state=0)
    >>> stream = Stream()
    >>> found = [stream.push(frame) for frame in scene.frames]
    >>> found[-1].state, found[-1].mask.shape, bool(found[-1].score < 0.5)
    ('watching', (48, 64), True)
    """

    def __init__(self, settings: StreamSettings | None = None, **changes: Any) -> None:
        self.settings = StreamSettings(**changes) if settings is None else replace(settings, **changes)
        self.state = SceneState()
        self.frozen_ = False

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
        self.state, found = step(
            self.state, frame, self.settings, time=time, known=known_foreground, learn=not self.frozen_
        )
        return found

    def inspect(self, frame: Any, time: float = 0.0) -> Separation:
        """Separate a frame without learning from it; the stream stays as it was."""
        if self.state.model is None:
            wanted = self.settings.start_size
            raise ValueError(f"The stream has no background yet; push {wanted} frames first, or fit it.")
        return step(self.state, frame, self.settings, time=time, learn=False)[1]

    def fit(self, frames: Any) -> Self:
        """Learn the first background from frames at once: an array, or several arrays; a single clean one will do."""
        state, rows = self.state, []
        for frame in frames:
            state, pixels = _with_format(state, frame, self.settings)
            assert state.format is not None
            rows.append(np.array(state.format.row(pixels)))
        if not rows:
            raise ValueError("frames must hold at least one frame, got none.")
        begun = _with_background(state, np.stack(rows), self.settings)
        self.state = begun._replace(change=SceneChange(), lights=Lights())
        return self

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
    def card_(self) -> dict[str, Any]:
        """What the stream knows of itself.

        Frames, components and how many are above noise (rank), the typical noise of a pixel beyond what its neighbours
        allow for, in 255ths, jumps of the scene, moves of the camera, and the settings.
        """
        state, model = self.state, self.state.model
        return {
            "frames": state.n_frames,
            "components": None if model is None else len(model.components),
            "rank": None if model is None else model.rank,
            "noise": None if model is None else 255.0 * model.noise,
            "scene_jumps": state.change.jumps,
            "camera_moves": state.camera.moves,
            "settings": {name: getattr(self.settings, name) for name in rules_of(StreamSettings)},
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
        how, first = self.settings.encoder, self.state.first
        content = {
            "settings": to_store(self.settings),
            "encoder": how._to_store() if isinstance(how, Encoder) else how,
            "frozen": self.frozen_,
            "scene": to_store(self.state),
        }
        if self.settings.region is not None:
            content["region"] = self.settings.region
        if first:
            content["first"] = np.stack(first)
        return content

    @classmethod
    def _schema(cls, content: dict[str, Any]) -> Rule:
        how = content.get("encoder")
        return Record(
            {
                "settings": record_of(StreamSettings),
                "encoder": Encoder._schema(how) if isinstance(how, dict) else OneOf("layers", "exact"),
                "frozen": Flag(),
                "scene": record_of(SceneState),
            },
            {
                "region": ArrayOf(("bool",), "height", "width"),
                "first": ArrayOf(PIXEL_TYPES, "frames", "m", low=0.0, high=1.0, alike="pixels"),
            },
        )

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        encoder = content["encoder"]
        encoder = Encoder._from_store(encoder) if isinstance(encoder, dict) else encoder
        stream = cls(from_store(StreamSettings, content["settings"], encoder=encoder, region=content.get("region")))
        stream.frozen_ = bool(content["frozen"])
        stream.state = restored_scene(content["scene"], content.get("first"), stream.settings)
        return stream


def restored_scene(content: dict[str, Any], first: AnyArray | None, settings: StreamSettings) -> SceneState:
    """The scene that was stored; whatever does not fit together raises an error."""
    plain = {name: part for name, part in content.items() if name not in ("model", "stabiliser")}
    state, arrays = from_store(SceneState, _copied(plain)), _copied(content.get("model", {}))
    stabiliser = from_store(Stabiliser, _copied(content["stabiliser"])) if "stabiliser" in content else None
    form = state.format
    _check_sizes(form, arrays, [first, state.lights.pictures, None if stabiliser is None else stabiliser.reference])
    if form is None:
        return state
    if (state.codes is None) != (not arrays) or (stabiliser is not None and settings.stabilise is None):
        raise ValueError("a background comes with its codes, and is followed only if the settings say how")
    if first is not None and len(first) >= settings.start_size:
        raise ValueError(f"a stream that starts from {settings.start_size} frames cannot hold {len(first)} of them")
    model = None
    if state.codes is not None:
        model = from_store(Background, arrays, form=form, codes=state.codes.copy())
    return state._replace(
        model=model,
        stabiliser=None if stabiliser is None else stabiliser.ready(form, settings.stabilise or ""),
        first=() if first is None else tuple(first),
        detector=_detector_for(form, settings),
    )


def _copied(content: dict[str, Any]) -> dict[str, Any]:
    return {name: part.copy() if isinstance(part, np.ndarray) else part for name, part in content.items()}


def _check_sizes(form: FrameFormat | None, model: dict[str, Any], rows: list[AnyArray | None]) -> None:
    """Refuse arrays of another size than the frames, too many components, and pixels that are not there."""
    sizes = {one.shape[-1] for one in [*rows, model.get("last")] if one is not None}
    if not sizes and form is None:
        return
    if form is None or sizes != {form.entries} or (model and model["seen"].size != form.pixels):
        wanted = "no shape have no" if form is None else f"shape {form.shape} have {form.entries}"
        raise ValueError(f"frames of {wanted} entries, not {', '.join(map(str, sizes)) or 'none'}")
    if not model:
        return
    if not 1 <= len(model["components"]) <= MOST_COMPONENTS:
        raise ValueError(f"a background has 1 to {MOST_COMPONENTS} components, not {len(model['components'])}")
    sample = model["sample"]
    if sample.size and (sample[0] < 0 or sample[-1] >= form.pixels or (np.diff(sample) <= 0).any()):
        raise ValueError("sample should hold places of pixels in rising order")
