"""The command `unmingle video`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from .._fields import limits_of, rules_of
from .._validation import require
from ..apps.video import Outputs, Settings
from ..apps.video.settings import STABILISERS, SettingsError
from ._shared import console
from ._shared.declare import with_options
from ._shared.options import Json, Quiet, date, suffixed
from ._shared.paths import ready_outputs

if TYPE_CHECKING:
    from ..apps.video import Result, Stream
    from ..media import FrameSource

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


def named_images(texts: list[str] | None) -> dict[str, Path] | None:
    """Read NAME=IMAGE, or IMAGE alone, whose name is its own."""
    found: dict[str, Path] = {}
    for text in texts or []:
        name, equals, image = text.partition("=")
        if not equals or Path(text).exists():
            name, image = text, text
        if not name or not image or name in found:
            reason = "is given twice" if name in found else "lacks its name or its picture"
            raise typer.BadParameter(f"--region {text} {reason}; expected NAME=IMAGE, or IMAGE, each name once.")
        found[name] = Path(image)
    return found or None


def _checked(name: str, unit: str) -> Callable[[Any], Any]:
    """A check that an option keeps the rule of its setting."""

    def check(value: Any) -> Any:
        rule = rules_of(Settings)[name]
        if not rule.fits(value, {}):
            wanted = rule.wanted.removeprefix("None or ").replace("a finite number", f"a number{unit and ' of '}{unit}")
            raise typer.BadParameter(f"expected {wanted}; got {value:g}.")
        return value

    return check


@cache
def _hints_of(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


def _option(cls: Any, name: str, *names: str, kind: Any = None, **options: Any) -> Any:
    """An option with type and help of its field."""
    own, *more = get_args(_hints_of(cls)[name])
    words = next(one for one in more if isinstance(one, str))
    return Annotated[kind or own, typer.Option(*names, help=words, **options)]


def _flag(name: str, *names: str) -> Any:
    return _option(Settings, name, *(names or (f"--{name.replace('_', '-')}",)))


def _number(name: str, metavar: str, unit: str = "") -> Any:
    rule = rules_of(Settings)[name]
    low, high = limits_of(rule)
    closed = not any(getattr(one, "above", False) for one in (rule, *getattr(rule, "rules", ())))
    limits = {"min": low, "max": high} if closed else {}
    return _option(Settings, name, metavar=metavar, callback=_checked(name, unit), **limits)


OPTIONS = {
    **{name: _option(Outputs, name, metavar="OUT", callback=film) for name in ("background", "foreground", "mask")},
    "overlay": _option(Outputs, "overlay", metavar="OUT", callback=film),
    "clips": _option(Outputs, "clips", metavar="DIR", callback=folder),
    "events": _option(Outputs, "events", metavar="FILE", callback=suffixed(".csv", ".json")),
    "boxes": _option(Outputs, "boxes", metavar="FILE.csv", callback=suffixed(".csv")),
    "report": _option(Outputs, "report", metavar="FILE.html", callback=suffixed(".html")),
    "model": _option(Outputs, "model", metavar="FILE", callback=suffixed(".safetensors")),
    **{name: _flag(name) for name in ("freeze", "live", "exact", "keep_shadows")},
    "grey": _flag("grey", "--grey", "--gray"),
    "max_frames": _number("max_frames", "N"),
    "seconds": _number("seconds", "SECONDS", "seconds"),
    "fps": _number("fps", "RATE"),
    "start_time": _option(Settings, "start_time", parser=date, metavar="DATE"),
    "max_width": _number("max_width", "PIXELS"),
    "background_image": _option(Settings, "background_image", kind=Path | None, metavar="IMAGE"),
    "components": _number("components", "N"),
    "memory": _number("memory", "SECONDS", "seconds"),
    "false_alarm_rate": _number("false_alarm_rate", "SHARE"),
    "patience": _number("patience", "SECONDS", "seconds"),
    "pixel_share": _number("pixel_share", "SHARE"),
    "encoder": _option(Settings, "encoder", kind=Path | None, metavar="MODEL"),
    "region": _option(Settings, "region", kind=list[str] | None, metavar="[NAME=]IMAGE"),
    "min_area": _number("min_area", "PIXELS"),
    "smoothing": _number("smoothing", "ODD"),
    "stabilise": _option(Settings, "stabilise", "--stabilise", "--stabilize", metavar=f"<{'|'.join(STABILISERS)}>"),
    "event_gap": _number("event_gap", "SECONDS", "seconds"),
}
Source = Annotated[
    str,
    typer.Argument(
        metavar="IN",
        help="A video file, a folder of images, a .npy or .npz file, - for standard input, an address or a camera.",
    ),
]
Colour = Annotated[
    bool, typer.Option("--colour", "--color", hidden=True, help="Work with colours, which is the default.")
]
Preview = Annotated[
    bool,
    typer.Option(
        "--preview", help="Show the pictures on a page, for this computer only; a file is played at its own speed."
    ),
]
Port = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port of the page; 0 for any that is free.")]


def separate_film(
    source: Source,
    outputs: Outputs,
    settings: Settings,
    preview: Preview = False,
    port: Port = 0,
    colour: Colour = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Separate the film of a fixed camera into background, foreground and mask, and list when something was there.

    A camera that shakes is followed with --stabilise.

    OUT is a video (.mp4, .m4v, .mov, .mkv), arrays (.npz) or, without a suffix, a new folder of PNG files.
    Results have the colours of the film unless --grey is given, and --preview plays a file at its own speed.
    Without any output the results are only printed. If the film breaks off, what was found until then is kept.
    """
    if settings.grey and colour:
        raise typer.BadParameter("--grey and --colour exclude each other.")
    settings = replace(settings, region=named_images(settings.region))
    with console.warnings_as_sentences():
        from ..apps.video import separate
        from ._shared.interrupts import Interrupts

        path = Path(source)
        if settings.live and (path.is_file() or path.is_dir()):
            kind = "folder" if path.is_dir() else "file"
            console.say(f"Warning: {source} is a {kind}; leave --live out, or frames will be dropped.")
        bar = console.counter(f"Separating {path.name or source}", None, quiet=quiet, speed="frames/s")

        def see_to_outputs(film: "FrameSource") -> None:
            _ready(outputs, settings, path)

        with Interrupts() as interrupts, bar as advance:
            place = int(source) if source.isdecimal() and not path.exists() else source
            try:
                result = separate(
                    place, outputs, settings, progress=advance, on_open=see_to_outputs,
                    open_screen=partial(_open_screen, port) if preview else None, interrupts=interrupts,
                )  # fmt: skip
            except SettingsError as error:
                raise typer.BadParameter(error.in_options()) from None
    if result.tally.frames and (as_json or not quiet):
        _show(source, result, bool(outputs.wanted()), as_json=as_json)
    _end(result, terminated=interrupts.terminated)


run = with_options(separate_film, given=OPTIONS)


def _ready(outputs: Outputs, settings: Settings, source: Path) -> None:
    """See to it that all results can be written, and that none takes the place of a file that is read."""
    named = {f"--{name}": path for name, path in outputs.wanted().items()}
    read = {"IN": source, "--encoder": settings.encoder, "--background-image": settings.background_image}
    regions = {f"--region {name}": path for name, path in settings.regions().items()}
    ready_outputs(named, {**read, **regions}, may_be_folders=tuple(f"--{name}" for name in outputs.films()))


@contextmanager
def _open_screen(port: int, stream: "Stream", name: str) -> Iterator[Any]:
    """A page that shows the pictures, as long as the work lasts."""
    web = require("unmingle.web.preview", "web")
    with web.Preview(stream, name, port=port) as preview:
        console.say(f"Preview: {preview.address}")
        yield preview


def _show(source: str, result: "Result", anything_wanted: bool, *, as_json: bool) -> None:
    if as_json:
        complete = not result.errors and not result.interrupted
        found = {"source": source, "complete": complete, "card": result.summary(), "warnings": result.warnings}
        console.print_json({**found, "events": result.event_list, "written": result.written})
        return
    head, cells = result.event_table
    parts: list[Any] = [console.facts(result.summary_text())]
    if cells:
        parts.append(console.table(head, cells[:MOST_EVENTS]))
    more = len(cells) - MOST_EVENTS
    further = f"and {more} more {'event' if more == 1 else 'events'}\n" if more > 0 else ""
    console.show(*parts, further if cells else "no events", **result.written)
    if not anything_wanted:
        console.say(
            "Nothing was written; --background, --mask, --overlay, --clips, --events, --boxes and --report write files."
        )


def _end(result: "Result", *, terminated: bool) -> None:
    """Say what to beware of, what could not be written, what ended the film early, and where to find the rest."""
    for sentence in result.warnings:
        console.say(f"Warning: {sentence}")
    for error in result.errors[1:]:
        console.say_failure(error)
    for error in result.errors[:1]:
        if isinstance(error, ValueError) and result.written:
            raise ValueError(_kept(str(error), result)) from error
        raise error
    if result.interrupted:
        verb, frames = "Terminated" if terminated else "Interrupted", result.tally.frames
        console.say(_kept(f"{verb} after {frames:,} frame{'' if frames == 1 else 's'}.", result))
        raise typer.Exit(143 if terminated else 130)


def _kept(sentence: str, result: "Result") -> str:
    """Add to a sentence where to find what was done before."""
    places = ", ".join(str(path) for path in result.written.values())
    return f"{sentence.rstrip('. ')}; what was found until then is kept in {places}." if places else sentence
