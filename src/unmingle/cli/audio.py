"""The command `unmingle audio`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._shared import console
from ._shared.interrupts import Interrupts, exit_code, what_happened
from ._shared.options import Json, Quiet, one_of, suffixed
from ._shared.paths import ready_folder

if TYPE_CHECKING:
    from ..apps.audio import Method, PlannedSong, SeparatedSong

FORMATS = ("flac", "wav", "mp3", "ogg", "opus")
METHODS = ("voice", "phone", "pcp", "proximal", "nmf", "adapt")
STEMS = ("voice", "music")


def stems_of(text: str) -> list[str]:
    """Read which stems are wanted."""
    wanted = text.split(",")
    if not set(wanted) <= set(STEMS) or len(set(wanted)) < len(wanted):
        raise typer.BadParameter(f"expected voice, music or voice,music; got {text!r}.")
    return wanted


def hertz(text: str) -> float | str | None:
    """Read a frequency: a number, "none" or "auto"."""
    if text in ("auto", "none"):
        return text if text == "auto" else None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise typer.BadParameter(f"expected hertz of at least 0, 'none' or 'auto'; got {text!r}.")
    return value


def passage(text: str) -> tuple[float, float]:
    """Read from which second to which a passage goes."""
    try:
        start, stop = map(float, text.split("-"))
    except ValueError:
        raise typer.BadParameter(f"expected two numbers of seconds, such as 0-12.5; got {text!r}.") from None
    return start, stop


def _optional(check: Any) -> Any:
    return lambda value: None if value is None else check(value)


Sources = Annotated[
    list[Path] | None,
    typer.Argument(metavar="IN", help="Sound files, or folders of them; folders within these are left out."),
]
Out = Annotated[Path | None, typer.Option("-o", "--out", metavar="DIR", help="Folder for the stems.")]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="|".join(FORMATS),
        callback=one_of(FORMATS),
        help="Format of the stems; flac and wav are lossless, wav is never scaled; opus takes 48000 Hz, but not 44100.",
    ),
]
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="|".join(METHODS),
        callback=_optional(one_of(METHODS)),
        help="How to separate voice from music. voice (the default) and phone are trained networks; "
        "the others learn from the song alone.",
    ),
]
Model = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        callback=suffixed(".safetensors"),
        help="Your own network from unmingle train audio, instead of --method.",
    ),
]
StemNames = Annotated[Any, typer.Option("--stems", parser=stems_of, metavar="voice,music", help="What to write.")]
HighPass = Annotated[
    Any,
    typer.Option(
        parser=hertz,
        metavar="HZ|none|auto",
        help="Everything below this frequency is music; auto: what suits the method.",
    ),
]
NoVoice = Annotated[
    Any,
    typer.Option(
        "--no-voice",
        parser=passage,
        metavar="FROM-TO",
        help="A passage in which nobody sings, in seconds, such as 0-12.5: --method adapt learns the music from it.",
    ),
]
Report = Annotated[bool, typer.Option("--report", help="Write a page for each song, with sounds and spectrograms.")]
Live = Annotated[
    bool, typer.Option("--live", help="Separate what comes from the microphone and play it, until Ctrl-C.")
]
Hear = Annotated[
    str, typer.Option(metavar="voice|music", callback=one_of(STEMS), help="With --live: which stem to play.")
]
FromFile = Annotated[
    Path | None,
    typer.Option(
        "--from", metavar="FILE", help="With --live: use this file instead of a microphone, without playing it."
    ),
]
LowLatency = Annotated[
    bool, typer.Option("--low-latency", help="With --live: 32 ms less delay, a little less accurate.")
]
Source = Annotated[
    str | None, typer.Option("--input", metavar="DEVICE", help="With --live: number or name of the device.")
]
Target = Annotated[
    str | None, typer.Option("--output", metavar="DEVICE", help="With --live: number or name of the device.")
]
Devices = Annotated[bool, typer.Option("--devices", help="List the sound devices and exit.")]


def run(
    sources: Sources = None,
    out: Out = None,
    kind: Format = "flac",
    method: MethodName = None,
    model: Model = None,
    stems: StemNames = "voice,music",
    high_pass: HighPass = "auto",
    no_voice: NoVoice = None,
    report: Report = False,
    live: Live = False,
    hear: Hear = "voice",
    from_file: FromFile = None,
    low_latency: LowLatency = False,
    source: Source = None,
    target: Target = None,
    devices: Devices = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Separate songs into voice and music, DIR/NAME.voice.flac and DIR/NAME.music.flac, which add up to the song.

    Files may have any length, rate and number of channels. A file that cannot be read is reported at the end, after
    all others are done.

    unmingle audio song.mp3 -o stems --report

    unmingle audio album/ -o karaoke --stems music --format ogg

    unmingle audio --live --hear music
    """
    if devices:
        _list_devices(as_json=as_json)
        return
    only_live = {"--from": from_file, "--low-latency": low_latency or None, "--input": source, "--output": target}
    _check_options(sources, out, live=live, only_live=only_live, only_files=report or no_voice is not None)
    with console.warnings_as_sentences():
        way = _method(method, model, without_voice=no_voice is not None)
        if live:
            _listen(way, high_pass, hear, from_file, (source, target), low_latency, quiet=quiet, as_json=as_json)
            return
        from ..apps.audio import plan_songs

        plans = plan_songs(sources or [], ready_folder(out or Path(), "-o"), suffix=f".{kind}", stems=stems)
        settings = {"method": way, "high_pass": high_pass, "no_voice": no_voice}
        _separate(plans, settings, report=report, quiet=quiet, as_json=as_json)


def _check_options(
    sources: list[Path] | None, out: Path | None, *, live: bool, only_live: dict[str, Any], only_files: bool
) -> None:
    given = [option for option, value in only_live.items() if value is not None]
    if live and (sources or out or only_files):
        raise typer.BadParameter("--live does not go with IN, -o, --report or --no-voice; use --from FILE for a file.")
    if live and "--from" in given and {"--input", "--output"} & set(given):
        raise typer.BadParameter("--from replaces the devices; leave out --input and --output.")
    if not live and given:
        raise typer.BadParameter(f"{', '.join(given)} can be used with --live only.")
    if not live and not sources:
        raise typer.BadParameter("expected sound files or folders to separate, or --live.")
    if not live and out is None:
        raise typer.BadParameter("expected -o DIR, the folder for the stems.")


def _method(name: str | None, model: Path | None, *, without_voice: bool) -> "Method":
    from ..apps.audio import as_method

    if model is None:
        return as_method(name or ("adapt" if without_voice else METHODS[0]))
    if name is not None:
        raise typer.BadParameter(f"--model replaces --method; leave out --method {name}.")
    from ._shared.models import load_voice_method

    return load_voice_method(model)


def _separate(
    plans: "list[PlannedSong]", settings: dict[str, Any], *, report: bool, quiet: bool, as_json: bool
) -> None:
    """Separate one song after the other; those that fail are told at the end."""
    done: list[dict[str, Any]] = []
    failures: list[Exception] = []
    with Interrupts() as interrupts:
        try:
            for number, plan in enumerate(plans, start=1):
                try:
                    with interrupts.allowed():
                        song, page = _one(plan, settings, f"{number}/{len(plans)}", report=report, quiet=quiet)
                except (ValueError, OSError) as error:
                    failures.append(error)
                    continue
                failures += [song.incomplete] if song.incomplete is not None else []
                done.append({**song.card_, "report": page})
                if not quiet and not as_json:
                    console.show(console.facts(song.facts), **song.written, **({"report": page} if page else {}))
        except KeyboardInterrupt as interrupt:
            kept = f"{len(done)} of {len(plans)} songs are finished and kept; the others are not."
            console.say(f"{what_happened(interrupt)}; {kept}")
            raise typer.Exit(exit_code(interrupt)) from None
    if as_json:
        console.print_json({"songs": done, "failures": [str(failure) for failure in failures]})
    for failure in failures:
        console.say_failure(failure)
    if failures:
        raise typer.Exit(1)


def _one(
    plan: "PlannedSong", settings: dict[str, Any], place: str, *, report: bool, quiet: bool
) -> "tuple[SeparatedSong, Path | None]":
    from ..apps.audio import separate_file, write_report

    with console.counter(f"Separating {plan.source.name} ({place})", None, quiet=quiet) as advance:
        song = separate_file(plan.source, plan.stems, **settings, excerpt=report, callback=advance)
        return song, write_report(song, plan.report) if report else None


def _listen(
    method: "Method", high_pass: Any, hear: str, from_file: Path | None, devices: tuple[str | None, str | None],
    low_latency: bool, *, quiet: bool, as_json: bool,
) -> None:  # fmt: skip
    from ..apps.audio import Loopback, SoundCard, Stream, listen

    if not method.streams:
        Stream(16000, method=method)
    driver = SoundCard(*map(_device, devices)) if from_file is None else Loopback(from_file)
    stream = Stream(driver.rate, channels=driver.channels, method=method, high_pass=high_pass, low_latency=low_latency)
    say = (lambda sentence: None) if quiet or as_json else console.say
    say("Getting ready ...")
    with Interrupts() as interrupts, interrupts.allowed():
        heard = listen(driver, stream, hear=hear, ready=lambda: say(f"Playing the {hear}; press Ctrl-C to stop."))
    if as_json:
        console.print_json(heard.card_)
    elif not quiet:
        console.show(console.facts(heard.facts))


def _device(text: str | None) -> int | str | None:
    return int(text) if text is not None and text.isdecimal() else text


def _list_devices(*, as_json: bool) -> None:
    from ..apps.audio import devices

    found = devices()
    if as_json:
        console.print_json({"devices": [device._asdict() for device in found]})
        return
    rows = [[f"{d.number}: {d.name}", str(d.inputs), str(d.outputs), f"{d.rate:g}"] for d in found]
    console.show(console.table(["device", "inputs", "outputs", "rate"], rows) if rows else "no devices for sound")
