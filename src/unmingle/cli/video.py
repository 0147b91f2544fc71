"""The command `unmingle video`."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from .._validation import require
from ._shared import console
from ._shared.options import Json, Quiet, above_zero, date, suffixed
from ._shared.paths import ready_outputs

if TYPE_CHECKING:
    from ..apps.video import Outputs, Stream, Watched
    from ..media import FrameSource
    from ._shared.streams import StreamOptions

MOST_EVENTS = 20
"""How many events are listed in the terminal."""


def film(path: Path | None) -> Path | None:
    """Check that a film is not to go to standard output."""
    if path == Path("-"):
        raise typer.BadParameter("films cannot be written to standard output; give a file or a folder.")
    return path


def folder(path: Path | None) -> Path | None:
    """Check that a folder is not named like a film."""
    if path is not None and path.suffix.lower() in (".mp4", ".m4v", ".mov", ".mkv", ".npz"):
        raise typer.BadParameter(f"expected a folder for films, got {str(path)!r}; leave the suffix out.")
    return path


def odd(value: int | None) -> int | None:
    """Check that the side of a square is odd, so that it has a pixel in its middle."""
    if value is not None and value % 2 == 0:
        raise typer.BadParameter(f"expected an odd number from 1 to 15; got {value}.")
    return value


Source = Annotated[
    str,
    typer.Argument(
        metavar="IN",
        help="A video file, a folder of images, a .npy or .npz file, - for standard input, an address or a camera.",
    ),
]
Background = Annotated[
    Path | None, typer.Option(metavar="OUT", callback=film, help="Write the background: what stays.")
]
Foreground = Annotated[
    Path | None, typer.Option(metavar="OUT", callback=film, help="Write the foreground: what moves, on black.")
]
Mask = Annotated[
    Path | None, typer.Option(metavar="OUT", callback=film, help="Write where the foreground is, in white.")
]
Overlay = Annotated[
    Path | None, typer.Option(metavar="OUT", callback=film, help="Write the film with a box for each event.")
]
ClipFolder = Annotated[
    Path | None,
    typer.Option(
        "--clips", metavar="DIR", callback=folder, help="Write a film of each event, with a second before and after."
    ),
]
BoxFile = Annotated[
    Path | None,
    typer.Option(
        "--boxes", metavar="FILE.csv", callback=suffixed(".csv"), help="Write where each event is, frame by frame."
    ),
]
Events = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", callback=suffixed(".csv", ".json"), help="Write the events: a .csv table, or .json with dates."
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE.html", callback=suffixed(".html"), help="Write a page with pictures and figures."),
]
Model = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        callback=suffixed(".safetensors"),
        help="Continue from this .safetensors model if it exists, and save it at the end.",
    ),
]
Freeze = Annotated[bool, typer.Option("--freeze", help="Learn nothing, and leave the model as it is.")]
Colour = Annotated[
    bool, typer.Option("--colour", "--color", hidden=True, help="Work with colours, which is the default.")
]
Grey = Annotated[
    bool,
    typer.Option(
        "--grey", "--gray", help="Work with the brightness alone: faster, finds less, and all results are grey."
    ),
]
Components = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Largest number of components of the background; 5 by default.")
]
Memory = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        callback=above_zero("seconds"),
        help="How long the background remembers, longer than a frame; 100 frames by default.",
    ),
]
FalseAlarmRate = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        callback=above_zero(most=1.0),
        help="Share of pixels, above 0 and below 1, that noise may mark; 0.005 by default.",
    ),
]
Patience = Annotated[
    float | None,
    typer.Option(
        min=0.0, metavar="SECONDS", help="What stands still this long is background (0: never); 500 frames by default."
    ),
]
PixelShare = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        callback=above_zero(most=1.0, closed=True),
        help="Share of pixels, above 0 and up to 1, used to find the light; at most 20 000 pixels by default.",
    ),
]
Exact = Annotated[bool, typer.Option("--exact", help="Find the background of each frame exactly: slower.")]
EncoderFile = Annotated[
    Path | None, typer.Option("--encoder", metavar="MODEL", help="Find the background by a network of unmingle train.")
]
Region = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[NAME=]IMAGE",
        help="Look only where this picture is white; may be given several times. Events list the names.",
    ),
]
BackgroundImage = Annotated[
    Path | None, typer.Option(metavar="IMAGE", help="Begin with this picture of the empty scene.")
]
MaxWidth = Annotated[
    int | None,
    typer.Option(
        min=16, metavar="PIXELS", help="Work on pictures no wider than this; 1920 by default for films of 3840 or more."
    ),
]
Fps = Annotated[
    float | None,
    typer.Option(metavar="RATE", callback=above_zero(), help="Frames a second, for folders and arrays; 25 by default."),
]
StartTime = Annotated[
    datetime | None,
    typer.Option(
        parser=date,
        metavar="DATE",
        help="When the film begins, such as 2026-05-01T08:30:00, for the dates of events.",
    ),
]
MinArea = Annotated[int | None, typer.Option(min=1, metavar="PIXELS", help="Drop spots of foreground below this size.")]
Smoothing = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=15,
        metavar="ODD",
        callback=odd,
        help="Smooth the mask with a square of this many pixels a side, an odd number.",
    ),
]
KeepShadows = Annotated[bool, typer.Option("--keep-shadows", help="Count shadows as foreground.")]
Stabilise = Annotated[
    Literal["translation", "similarity", "projective"] | None,
    typer.Option(
        "--stabilise",
        "--stabilize",
        help="Follow a camera that shakes: it shifts, it also turns and zooms, or it also tilts.",
    ),
]
EventGap = Annotated[
    float, typer.Option(min=0.0, metavar="SECONDS", help="What is seen again within this time is the same event.")
]
Live = Annotated[bool, typer.Option("--live", help="IN is live: drop frames that come too fast, and reconnect.")]
Preview = Annotated[
    bool,
    typer.Option(
        "--preview", help="Show the pictures on a page, for this computer only; a file is played at its own speed."
    ),
]
Port = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port of the page; 0 for any that is free.")]
MaxFrames = Annotated[int | None, typer.Option(min=1, metavar="N", help="Stop after this many frames.")]
Seconds = Annotated[float | None, typer.Option(min=0.001, metavar="SECONDS", help="Stop after this much of the film.")]


def run(
    source: Source,
    background: Background = None,
    foreground: Foreground = None,
    mask: Mask = None,
    overlay: Overlay = None,
    clips: ClipFolder = None,
    events: Events = None,
    boxes: BoxFile = None,
    report: Report = None,
    model: Model = None,
    freeze: Freeze = False,
    live: Live = False,
    preview: Preview = False,
    port: Port = 0,
    max_frames: MaxFrames = None,
    seconds: Seconds = None,
    fps: Fps = None,
    start_time: StartTime = None,
    max_width: MaxWidth = None,
    background_image: BackgroundImage = None,
    grey: Grey = False,
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
    stabilise: Stabilise = None,
    event_gap: EventGap = 1.0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Separate the film of a fixed camera into background, foreground and mask, and list when something was there.

    A camera that shakes is followed with --stabilise.

    OUT is a video (.mp4, .m4v, .mov, .mkv), arrays (.npz) or, without a suffix, a new folder of PNG files.
    Results have the colours of the film unless --grey is given, and --preview plays a file at its own speed.
    Without any output the results are only printed. If the film breaks off, what was found until then is kept.
    """
    with console.warnings_as_sentences():
        from ..apps.video import Outputs
        from ._shared.streams import StreamOptions, named_images

        outputs = Outputs(background, foreground, mask, overlay, clips, events, boxes, report, model)
        options = StreamOptions(
            components, memory, false_alarm_rate, patience, pixel_share, exact or None, encoder,
            named_images(region or []) or None, min_area, smoothing, keep_shadows=keep_shadows or None,
            stabilise=stabilise, background_image=background_image,
        )  # fmt: skip
        if grey and colour:
            raise typer.BadParameter("--grey and --colour exclude each other.")
        manner = _Manner(freeze, live, preview, port, fps, grey, quiet)
        wishes = {"event_gap": event_gap, "max_frames": max_frames, "seconds": seconds, "max_width": max_width}
        watched, terminated = _watched(source, outputs, options, manner, {**wishes, "start_time": start_time})
    if watched.tally.frames and (as_json or not quiet):
        _show(source, watched, bool(outputs.wanted()), as_json=as_json)
    _end(watched, terminated=terminated)


class _Manner(NamedTuple):
    """How the film is read, and what is shown meanwhile."""

    freeze: bool
    live: bool
    preview: bool
    port: int
    fps: float | None
    grey: bool
    quiet: bool


def _watched(
    source: str, outputs: "Outputs", options: "StreamOptions", manner: _Manner, wishes: dict[str, Any]
) -> tuple["Watched", bool]:
    """What came of the film, and whether the system ended it."""
    from ..apps.video import watch
    from ..media import open_frames
    from ._shared.interrupts import Interrupts
    from ._shared.streams import check_same_regions, first_check, load_stream, works_in_grey

    resumed = outputs.model if outputs.model is not None and outputs.model.exists() else None
    _check_options(options.given(), resumed, freeze=manner.freeze)
    _warn_of_file(source, manner.live)
    stream = None
    if resumed is not None:
        stream = load_stream(resumed)
        check_same_regions(stream, options, resumed)
    in_grey = manner.grey or options.encoder is not None or works_in_grey(stream)
    with (
        open_frames(_place(source), colour=False if in_grey else "planes", live=manner.live, rate=manner.fps) as frames,
        Interrupts() as interrupts,
    ):
        _ready(outputs, {"IN": Path(source), **options.files()})
        stream = (stream or options.stream(frames.rate)).freeze(manner.freeze)
        bar = _counter(frames, wishes["max_frames"], quiet=manner.quiet)
        with _screen(manner.preview, stream, frames.name, manner.port) as screen, bar as advance:
            watched = watch(
                frames, stream, outputs, **wishes, regions=options.named_regions(), empty_scene=options.empty_scene(),
                screen=screen, check=first_check(frames.name, stream, options, resumed), callback=advance,
                interrupts=interrupts,
            )  # fmt: skip
    return watched, interrupts.terminated


def _ready(outputs: "Outputs", inputs: dict[str, Path | None]) -> None:
    named = {f"--{name}": path for name, path in outputs.wanted().items()}
    ready_outputs(named, inputs, may_be_folders=tuple(f"--{name}" for name in outputs.films()))


def _counter(frames: "FrameSource", max_frames: int | None, *, quiet: bool) -> Any:
    total = min((count for count in (frames.n_frames, max_frames) if count is not None), default=None)
    return console.counter(f"Separating {frames.name}", total, quiet=quiet, speed="frames/s")


def _place(source: str) -> str | int:
    """The number of a camera, unless there is such a file."""
    return int(source) if source.isdecimal() and not Path(source).exists() else source


def _warn_of_file(source: str, live: bool) -> None:
    path = Path(source)
    if live and (path.is_file() or path.is_dir()):
        kind = "folder" if path.is_dir() else "file"
        console.say(f"Warning: {source} is a {kind}; leave --live out, or frames will be dropped.")


def _check_options(given: list[str], resumed: Path | None, *, freeze: bool) -> None:
    settings = [name for name in given if name != "--region"]
    if resumed and settings:
        raise typer.BadParameter(f"{', '.join(settings)} cannot be changed: {resumed} exists and has its own settings.")
    if freeze and not resumed:
        raise typer.BadParameter("--freeze needs a model: name one that exists by --model.")
    if {"--exact", "--encoder"} <= set(given):
        raise typer.BadParameter("--exact and --encoder exclude each other.")


@contextmanager
def _screen(wanted: bool, stream: "Stream", name: str, port: int) -> Iterator[Any]:
    """A page that shows the pictures, as long as the work lasts."""
    if not wanted:
        yield None
        return
    web = require("unmingle.web.preview", "web")
    with web.Preview(stream, name, port=port) as preview:
        console.say(f"Preview: {preview.address}")
        yield preview


def _show(source: str, watched: "Watched", anything_wanted: bool, *, as_json: bool) -> None:
    if as_json:
        told = {"source": source, "complete": not watched.errors and not watched.interrupted, "card": watched.card_}
        told["warnings"] = watched.warnings
        console.print_json({**told, "events": watched.event_list, "written": watched.written})
        return
    head, cells = watched.event_table
    parts: list[Any] = [console.facts(watched.facts)]
    if cells:
        parts.append(console.table(head, cells[:MOST_EVENTS]))
    more = len(cells) - MOST_EVENTS
    further = f"and {more} more {'event' if more == 1 else 'events'}\n" if more > 0 else ""
    console.show(*parts, further if cells else "no events", **watched.written)
    if not anything_wanted:
        console.say(
            "Nothing was written; --background, --mask, --overlay, --clips, --events, --boxes and --report write files."
        )


def _end(watched: "Watched", *, terminated: bool) -> None:
    """Tell what to beware of, what could not be written, what ended the film early, and where to find the rest."""
    for sentence in watched.warnings:
        console.say(f"Warning: {sentence}")
    for error in watched.errors[1:]:
        console.say_failure(error)
    for error in watched.errors[:1]:
        if isinstance(error, ValueError) and watched.written:
            raise ValueError(_kept(str(error), watched)) from error
        raise error
    if watched.interrupted:
        verb, frames = "Terminated" if terminated else "Interrupted", watched.tally.frames
        console.say(_kept(f"{verb} after {frames:,} frame{'' if frames == 1 else 's'}.", watched))
        raise typer.Exit(143 if terminated else 130)


def _kept(sentence: str, watched: "Watched") -> str:
    """Add to a sentence where to find what was done before."""
    places = ", ".join(str(path) for path in watched.written.values())
    return f"{sentence.rstrip('. ')}; what was found until then is kept in {places}." if places else sentence
