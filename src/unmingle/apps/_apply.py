"""`apply`: a model of any kind and new data in; what the model finds in them out, as values and as files."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from .. import load, store
from ..core.iterate import Callback
from ..media.sounds import SOUND_SUFFIXES
from ..store import write_atomically
from . import tables
from ._settings import ApplyOutputs
from .jobs import make_folder, refuse
from .models import model_path
from .tables import ApplySettings
from .tables.pictures import apply_to_images


class JobResult(Protocol):
    """What every job gives."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to beware of, a sentence each."""

    @property
    def written(self) -> dict[str, Path]:
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


# What follows calls the apps for films, songs and images to align, and makes their results alike.


@dataclass(frozen=True)
class OtherResult:
    """What came of a film, of songs or of images."""

    figures: dict[str, Any]
    facts: dict[str, str]
    warnings: tuple[str, ...]
    written: dict[str, Path]
    failures: tuple[Exception, ...] = ()
    """Parts of the work that could not be done."""
    event_table: tuple[Any, Any] | None = None
    interrupted: bool = False

    def summary(self) -> dict[str, Any]:
        """Figures of the result, as plain values."""
        return {**self.figures, "written": {name: str(path) for name, path in self.written.items()}}

    def summary_text(self) -> dict[str, str]:
        """The figures that people read first, in words."""
        return self.facts


def _apply_to_film(request: Request) -> JobResult:
    from ..core.encoder.encoder import Encoder
    from ..media import open_frames
    from .video import Outputs, watch

    out, source = request.outputs.out, request.source
    if isinstance(source, str | PathLike) and not Path(source).exists():
        raise ValueError(f"{source} does not exist.")
    outputs = Outputs()
    if out is not None:
        folder = make_folder(out, "out")
        films = {name: folder / f"{name}.mp4" for name in ("background", "foreground", "mask")}
        page = folder / "report.html" if request.outputs.report else None
        outputs = Outputs(**films, events=folder / "events.csv", report=page)
    stream = request.loaded()
    form = stream.format
    in_grey = (form is not None and form.kind == "grey") or isinstance(stream.encoder, Encoder)
    with open_frames(source, colour=False if in_grey else "planes") as frames:
        watched = watch(frames, stream.freeze(), outputs, callback=request.progress)
    if watched.errors and not watched.tally.frames:
        raise watched.errors[0]
    figures = {"complete": not watched.errors and not watched.interrupted, "card": watched.card_}
    figures |= {"warnings": watched.warnings, "events": watched.event_list}
    return OtherResult(
        figures, watched.facts, tuple(watched.warnings), watched.written, tuple(watched.errors), watched.event_table,
        watched.interrupted,
    )  # fmt: skip


def _apply_to_songs(request: Request) -> JobResult:
    from ..core.encoder.encoder import Encoder
    from .audio import Stream, VoiceModel, plan_songs, separate_file
    from .audio.networks import Encoded
    from .audio.report import write_report
    from .audio.settings import STEMS

    if request.outputs.out is None:
        raise refuse("{0} is needed for songs: the folder for the stems.", "out")
    model = request.loaded()
    network = getattr(model, "encoder_", model)
    method = Encoded(network) if isinstance(network, Encoder) else model.method if isinstance(model, Stream) else model
    if not isinstance(method, Encoded | VoiceModel) and not isinstance(model, Stream):
        raise ValueError(
            f"{request.name} holds a {type(model).__name__}; expected a network from unmingle train audio."
        )
    songs, failures, facts = [], list[Exception](), dict[str, str]()
    written: dict[str, Path] = {}
    report = request.outputs.report
    for plan in plan_songs([request.source], make_folder(request.outputs.out, "out"), stems=STEMS):
        try:
            song = separate_file(plan.source, plan.stems, method=method, excerpt=report, callback=request.progress)
        except (ValueError, OSError) as error:
            failures.append(error)
            continue
        failures += [song.incomplete] if song.incomplete is not None else []
        page = write_report(song, plan.report) if report else None
        songs.append({**song.card_, "report": page})
        facts |= song.facts
        written |= song.written | ({"report": page} if page else {})
    figures = {"songs": songs, "failures": [str(failure) for failure in failures]}
    return OtherResult(figures, facts, (), written, tuple(failures))


def _align(request: Request) -> JobResult:
    from . import alignment as app

    if isinstance(request.source, str | PathLike) and Path(request.source).is_file():
        what = "a model of images to align; DATA must be a folder of images"
        raise ValueError(f"{request.name} holds {what}, but {request.source} is a file.")
    images, aligner = app.read_folder(Path(request.source)), request.loaded()
    done = aligner.align(images.images, callback=request.progress)
    written: dict[str, Path] = {}
    if request.outputs.out is not None:
        folder = make_folder(request.outputs.out, "out")
        written = app.write_results(images, done, folder) | {"page": folder / "align.html"}
        before = aligner.starting_parts(images.images).images
        text = app.report_page(Path(request.source).resolve().name, images, done, before, aligner.motion)
        with write_atomically(written["page"]) as temporary:
            temporary.write_text(text, encoding="utf-8")
    failed = {name: note for name, note in zip(images.names, done.notes, strict=True) if note} | images.unread
    good, total = int(done.ok.sum()), len(images.names) + len(images.unread)
    cost = float(done.cost[done.ok].mean()) if good else None
    height, width = aligner.shape_
    figures = {"images": total, "aligned": good, "not_aligned": failed, "height": height, "width": width}
    figures |= {"components": aligner.n_components_, "mean_cost": cost}
    facts = {
        "aligned": f"{good} of {total} images, by {aligner.motion}",
        "frame": f"{width} x {height} pixels",
        "components": str(aligner.n_components_),
        "mean cost": "none" if cost is None else f"{cost:.4g}",
    }
    notes = tuple(note if name in note else f"{name} is not aligned. {note}" for name, note in failed.items())
    return OtherResult(figures, facts, notes, written)


_JOBS: dict[str, Callable[[Request], JobResult]] = {
    "Aligner": _align,
    "AudioStream": _apply_to_songs,
    "SequenceEncoder": _refuse_sequences,
    "VideoStream": _apply_to_film,
    "VoiceModel": _apply_to_songs,
}
"""What is done with the kinds of models that are not for tables and images."""
