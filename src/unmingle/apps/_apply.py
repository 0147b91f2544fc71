"""`apply`: a model of any kind and new data in; what the model finds in them out, as values and as files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from .. import load, store
from ..core.iterate import Callback
from ..media.sounds import SOUND_SUFFIXES
from . import tables
from ._settings import ApplyOutputs
from .jobs import make_folder, refuse
from .models import model_path
from .tables import ApplySettings
from .tables.pictures import apply_to_images


class JobResult(Protocol):
    """What every job gives."""

    @property
    def warnings(self) -> Sequence[str]:
        """What to beware of, a sentence each."""

    @property
    def written(self) -> Mapping[str, Path]:
        """The files and folders that were written, by what they hold."""

    def summary(self) -> dict[str, Any]:
        """Figures of the result, as plain values."""

    def summary_text(self) -> dict[str, str]:
        """The figures that people read first, in words."""


@dataclass(frozen=True)
class Request:
    """A model, and what it is to be applied to."""

    model: Any
    path: Path | None
    """The file of the model, if it has one."""
    source: Any
    outputs: ApplyOutputs
    settings: ApplySettings
    progress: Callback | None

    @property
    def name(self) -> str:
        """What to call the model in sentences."""
        return str(self.path or "the model")

    def loaded(self) -> Any:
        """The model itself."""
        return load(self.path) if self.path is not None else self.model


def apply(
    model: Any,
    source: Any,
    outputs: ApplyOutputs = ApplyOutputs(),  # noqa: B008 (frozen)
    settings: ApplySettings = ApplySettings(),  # noqa: B008 (frozen)
    *,
    progress: Callback | None = None,
) -> JobResult:
    """Apply a model to new data; the model learns nothing from them.

    Parameters
    ----------
    model : path or model
        A file, "voice" or "phone", or the model itself: an estimator, an `unmingle.Encoder`, an `unmingle.Aligner`, a
        stream of video or audio, or a network for voices.
    source : path, DataFrame or array
        What the model is for: a table, a folder of images, a film, a song or a folder of songs.
    outputs : ApplyOutputs
        What to write: nothing unless it names a folder.
    settings : ApplySettings
        How to read and clean a table, and the size of images.
    progress : callable, optional
        Called with an `unmingle.core.iterate.Progress` as the work goes on.

    Returns
    -------
    JobResult
        Of the app that does the work, with ``summary()``, ``warnings`` and ``written``.
    """
    path = model_path(Path(model)) if isinstance(model, str | PathLike) else None
    kind = store.peek(path).kind if path is not None else kind_of(model)
    request = Request(model, path, source, outputs, settings, progress)
    if kind in _JOBS:
        return _JOBS[kind](request)
    if _is_sound(source):
        return _apply_to_songs(request)
    if _is_folder(source):
        return _apply_to_images(request)
    if settings.size is not None:
        raise refuse(f"{{0}} is for a folder of images; {source} is not one.", "size")
    return tables.apply(path or model, source, tables.Outputs(outputs.out, outputs.report), settings)


def kind_of(model: Any) -> str:
    """The kind of a model, as its file names it."""
    room = type(model).__module__.split(".")[2:3]
    names = {("video", "Stream"): "VideoStream", ("audio", "Stream"): "AudioStream"}
    return names.get((*room, type(model).__name__), type(model).__name__)  # type: ignore[arg-type]


def _is_sound(source: Any) -> bool:
    return isinstance(source, str | PathLike) and Path(source).suffix.lower() in SOUND_SUFFIXES


def _is_folder(source: Any) -> bool:
    return isinstance(source, str | PathLike) and Path(source).is_dir() and Path(source).suffix.lower() != ".zarr"


def _apply_to_images(request: Request) -> JobResult:
    if request.outputs.report:
        raise refuse("{0} is for tables, films and songs; images get no page.", "report")
    return apply_to_images(request.path or request.model, request.source, request.outputs.out, request.settings.size)


def _refuse_sequences(request: Request) -> JobResult:
    raise ValueError(
        f"{request.name} holds a network for sequences, without what makes numbers of its data; use Python."
    )


def _apply_to_film(request: Request) -> JobResult:
    from . import video

    if isinstance(request.source, str | PathLike) and not Path(request.source).exists():
        raise ValueError(f"{request.source} does not exist.")
    outputs = video.Outputs()
    if request.outputs.out is not None:
        folder = make_folder(request.outputs.out, "out")
        films = {name: folder / f"{name}.mp4" for name in ("background", "foreground", "mask")}
        page = folder / "report.html" if request.outputs.report else None
        outputs = video.Outputs(**films, events=folder / "events.csv", report=page)
    settings = video.Settings(freeze=True)
    result = video.separate(request.source, outputs, settings, stream=request.loaded(), progress=request.progress)
    if result.errors and not result.tally.frames:
        raise result.errors[0]
    return result


def _apply_to_songs(request: Request) -> JobResult:
    from . import audio
    from .audio.methods import method_in

    if request.outputs.out is None:
        raise refuse("{0} is needed for songs: the folder for the stems.", "out")
    model = request.loaded()
    if (method := method_in(model)) is None:
        raise ValueError(
            f"{request.name} holds a {type(model).__name__}; expected a network from unmingle train audio."
        )
    outputs = audio.Outputs(make_folder(request.outputs.out, "out"), report=request.outputs.report)
    return audio.separate(request.source, outputs, audio.Settings(method), progress=request.progress)


def _align(request: Request) -> JobResult:
    from . import alignment

    if isinstance(request.source, str | PathLike) and Path(request.source).is_file():
        what = "a model of images to align; DATA must be a folder of images"
        raise ValueError(f"{request.name} holds {what}, but {request.source} is a file.")
    settings = alignment.Settings(model=request.loaded())
    return alignment.separate(
        request.source, alignment.Outputs(request.outputs.out), settings, progress=request.progress
    )


_JOBS: dict[str, Callable[[Request], JobResult]] = {
    "Aligner": _align,
    "AudioStream": _apply_to_songs,
    "SequenceEncoder": _refuse_sequences,
    "VideoStream": _apply_to_film,
    "VoiceModel": _apply_to_songs,
}
"""What is done with the kinds of models that are not for tables and images."""
