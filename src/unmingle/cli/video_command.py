"""The command `unmingle video`."""

from collections.abc import Iterator
from contextlib import contextmanager
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._validation import require
from . import console, limits
from .options import Json, Quiet

if TYPE_CHECKING:
    from .video_results import Targets
    from .watching import Watched

Source = Annotated[
    str,
    typer.Argument(
        metavar="IN",
        help="A video file, a folder of images, a .npy or .npz file, - for standard input, an address or a camera.",
    ),
]
Background = Annotated[
    Path | None, typer.Option(metavar="OUT", callback=limits.film, help="Write the background: what stays.")
]
Foreground = Annotated[
    Path | None, typer.Option(metavar="OUT", callback=limits.film, help="Write the foreground: what moves, on black.")
]
Mask = Annotated[
    Path | None, typer.Option(metavar="OUT", callback=limits.film, help="Write where the foreground is, in white.")
]
Events = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", callback=limits.suffixed(".csv", ".json"), help="Write a table of events, .csv or .json."
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.html", callback=limits.suffixed(".html"), help="Write a page with pictures and figures."
    ),
]
Model = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        callback=limits.suffixed(".safetensors"),
        help="Go on from this .safetensors model if it exists, and save it in the end.",
    ),
]
Freeze = Annotated[bool, typer.Option("--freeze", help="Learn nothing, and leave the model as it is.")]
Colour = Annotated[
    bool,
    typer.Option(
        "--colour", help="Work with colours, else all results are grey: slower, and tells shadows from objects."
    ),
]
Components = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Most components of the background; 5 by default.")
]
Memory = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        callback=limits.above_zero("seconds"),
        help="How long the background remembers, more than a frame; 100 frames by default.",
    ),
]
FalseAlarmRate = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        callback=limits.above_zero(most=1.0),
        help="Share of pixels, above 0 and below 1, that noise may mark; 0.005 by default.",
    ),
]
Patience = Annotated[
    float | None,
    typer.Option(
        min=0.0, metavar="SECONDS", help="What stops so long becomes background, 0 for never; 500 frames by default."
    ),
]
PixelShare = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        callback=limits.above_zero(most=1.0, closed=True),
        help="Share of pixels, above 0 and up to 1, to find the light from; 0.1 is faster.",
    ),
]
Exact = Annotated[bool, typer.Option("--exact", help="Find the background of each frame exactly: slower.")]
EncoderFile = Annotated[
    Path | None, typer.Option("--encoder", metavar="MODEL", help="Find it by a network of unmingle train.")
]
Region = Annotated[Path | None, typer.Option(metavar="IMAGE", help="Look only where this picture is white.")]
MinArea = Annotated[int | None, typer.Option(min=1, metavar="PIXELS", help="Drop smaller spots of foreground.")]
Smoothing = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=15,
        metavar="ODD",
        callback=limits.odd,
        help="Smooth the mask by a square of so many pixels a side, an odd number.",
    ),
]
KeepShadows = Annotated[bool, typer.Option("--keep-shadows", help="Count shadows as foreground; only with --colour.")]
EventGap = Annotated[
    float, typer.Option(min=0.0, metavar="SECONDS", help="Foreground that is back sooner is the same event.")
]
Live = Annotated[bool, typer.Option("--live", help="IN is live: drop frames that come too fast, connect again.")]
Preview = Annotated[
    bool,
    typer.Option(
        "--preview", help="Show the pictures on a page, for this computer only; a file is played at its own speed."
    ),
]
Port = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port of the page; 0 for any that is free.")]
MaxFrames = Annotated[int | None, typer.Option(min=1, metavar="N", help="Stop after so many frames.")]
Seconds = Annotated[float | None, typer.Option(min=0.001, metavar="SECONDS", help="Stop after so much of the film.")]


def video(
    source: Source,
    background: Background = None,
    foreground: Foreground = None,
    mask: Mask = None,
    events: Events = None,
    report: Report = None,
    model: Model = None,
    freeze: Freeze = False,
    live: Live = False,
    preview: Preview = False,
    port: Port = 0,
    max_frames: MaxFrames = None,
    seconds: Seconds = None,
    colour: Colour = False,
    components: Components = None,
    memory: Memory = None,
    false_alarm_rate: FalseAlarmRate = None,
    patience: Patience = None,
    pixel_share: PixelShare = None,
    exact: Exact = False,
    encoder: EncoderFile = None,
    region: Region = None,
    min_area: MinArea = None,
    smoothing: Smoothing = None,
    keep_shadows: KeepShadows = False,
    event_gap: EventGap = 1.0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Separate the film of a fixed camera into background, foreground and mask, and list when something was there.

    OUT is a video (.mp4, .m4v, .mov, .mkv), arrays (.npz) or, without a suffix, a new folder of PNG files.
    Pictures are grey unless --colour is given, and --preview plays a file at its own speed.
    Without any output the results are only printed. Whatever ends the film, what was found up to there is kept.
    """
    with console.warnings_as_sentences():
        from ..media import open_frames
        from .interrupts import Interrupts
        from .video_results import Targets, write_results
        from .video_stream import Settings, first_check, load_stream
        from .watching import Films, Watch

        targets = Targets(background, foreground, mask, events, report, model)
        settings = Settings(
            components, memory, false_alarm_rate, patience, pixel_share, exact or None, encoder, region, min_area,
            smoothing, keep_shadows or None,
        )  # fmt: skip
        _check_paths(source, targets, encoder=encoder, region=region)
        resumed = model is not None and model.exists()
        _check_settings(settings.given(), model, resumed=resumed, freeze=freeze, colour=colour)
        _warn_of_file(source, live)
        stream = load_stream(model) if model is not None and resumed else None
        with open_frames(_place(source), colour=colour, live=live) as frames, Interrupts() as interrupts:
            stream = stream or settings.stream(frames.rate)
            stream.frozen = freeze
            targets.check()
            check = first_check(frames.name, stream, settings, model if resumed else None)
            total = _least(frames.n_frames, max_frames)
            with (
                Films(targets.films(), frames.rate) as films,
                _screen(preview, stream, frames.name, port) as screen,
                console.counter(f"Separating {frames.name}", total, quiet=quiet, speed="frames/s") as count,
            ):
                watch = Watch(stream, films, event_gap, report is not None, screen, max_frames, seconds, check)
                watched = watch.run(frames, interrupts, count)
            kept = dict(films.kept)
            if watched.tally.frames:
                kept |= write_results(targets, frames.name, stream, watched, keep_model=not freeze)
    if watched.tally.frames and (as_json or not quiet):
        _tell(source, stream, watched, kept, targets, as_json=as_json)
    _end(watched, kept, terminated=interrupts.terminated)


def _place(source: str) -> str | int:
    """The number of a camera, unless there is such a file."""
    return int(source) if source.isdecimal() and not Path(source).exists() else source


def _warn_of_file(source: str, live: bool) -> None:
    path = Path(source)
    if live and (path.is_file() or path.is_dir()):
        kind = "folder" if path.is_dir() else "file"
        console.say(f"Warning: {source} is a {kind}; leave --live out, or frames will be dropped.")


def _check_paths(source: str, targets: "Targets", **inputs: Path | None) -> None:
    """Refuse to write where something else lies."""
    names = {realpath(path): f"--{name}" for name, path in inputs.items() if path is not None}
    if Path(source).exists():
        names[realpath(source)] = "IN"
    for name, path in targets.wanted().items():
        if (other := names.get(realpath(path))) is not None:
            raise typer.BadParameter(f"--{name} {path} is the same as {other}; give it another name.")
        names[realpath(path)] = f"--{name}"


def _check_settings(given: list[str], model: Path | None, *, resumed: bool, freeze: bool, colour: bool) -> None:
    if resumed and given:
        raise typer.BadParameter(f"{', '.join(given)} cannot be changed: {model} exists and has its own settings.")
    if freeze and not resumed:
        raise typer.BadParameter("--freeze needs a model to go on from: name one that exists by --model.")
    if {"--exact", "--encoder"} <= set(given):
        raise typer.BadParameter("--exact and --encoder exclude each other.")
    if "--keep-shadows" in given and not colour:
        raise typer.BadParameter("--keep-shadows needs --colour: shadows are told from objects by their colours.")


def _least(*numbers: int | None) -> int | None:
    return min((number for number in numbers if number is not None), default=None)


@contextmanager
def _screen(wanted: bool, stream: Any, name: str, port: int) -> Iterator[Any]:
    """A page that shows the pictures, as long as the work lasts."""
    if not wanted:
        yield None
        return
    web = require("unmingle.web.preview", "web")
    with web.Preview(stream, name, port=port) as preview:
        console.say(f"Preview: {preview.address}")
        yield preview


def _tell(
    source: str, stream: Any, watched: "Watched", kept: dict[str, Path], targets: "Targets", *, as_json: bool
) -> None:
    card, rows = watched.card(stream), watched.finder.rows()
    if as_json:
        complete = not watched.errors and not watched.interrupted
        console.print_json({"source": source, "complete": complete, "card": card, "events": rows, "written": kept})
        return
    from . import video_card

    cells = video_card.event_cells(rows)
    console.print_video(video_card.facts(card), video_card.EVENT_HEAD, cells, kept)
    if not targets.wanted():
        console.say("Nothing was written; --background, --foreground, --mask, --events and --report write files.")


def _end(watched: "Watched", kept: dict[str, Path], *, terminated: bool) -> None:
    """Tell what could not be written, what ended the film early, and where to find what was found before."""
    from .video_results import kept_sentence

    for error in watched.errors[1:]:
        console.say_failure(error)
    for error in watched.errors[:1]:
        if isinstance(error, ValueError) and kept:
            raise ValueError(kept_sentence(str(error), kept)) from error
        raise error
    if watched.interrupted:
        from .video_card import counted

        verb = "Terminated" if terminated else "Interrupted"
        console.say(kept_sentence(f"{verb} after {counted(watched.tally.frames, 'frame')}.", kept))
        raise typer.Exit(143 if terminated else 130)
