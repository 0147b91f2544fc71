"""The command `unmingle audio`."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..apps.audio.settings import NAMES, STEMS, Outputs, Settings
from ._shared import console
from ._shared.declare import with_options
from ._shared.interrupts import Interrupts, exit_code, what_happened
from ._shared.options import Json, Quiet, one_of, suffixed
from ._shared.paths import ready_folder

if TYPE_CHECKING:
    from ..apps.audio.songs import SeparatedSong, SongProgress
    from ..core.iterate import Callback


def stems_of(text: Any) -> tuple[str, ...]:
    """Read which stems are wanted."""
    wanted = tuple(text.split(",") if isinstance(text, str) else text)
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
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="|".join(NAMES),
        callback=_optional(one_of(NAMES)),
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
StemNames = Annotated[Any, typer.Option("--stems", parser=stems_of, metavar="voice,music")]
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
Report = Annotated[bool, typer.Option("--report")]
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


def run_audio(
    *,
    sources: Sources = None,
    outputs: Outputs,
    settings: Settings,
    model: Model = None,
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
    only_files = bool(outputs.folder or outputs.report or settings.no_voice is not None)
    _check_options(sources, outputs, live=live, only_live=only_live, only_files=only_files)
    with console.warnings_as_sentences():
        settings = _with_model(settings, model)
        if live:
            _listen(settings, hear, from_file, (source, target), low_latency, quiet=quiet, as_json=as_json)
        else:
            ready_folder(Path(outputs.folder or ""), "-o")
            _separate(sources or [], outputs, settings, quiet=quiet, as_json=as_json)


def _check_options(
    sources: list[Path] | None, outputs: Outputs, *, live: bool, only_live: dict[str, Any], only_files: bool
) -> None:
    given = [option for option, value in only_live.items() if value is not None]
    if live and (sources or only_files):
        raise typer.BadParameter("--live does not go with IN, -o, --report or --no-voice; use --from FILE for a file.")
    if live and "--from" in given and {"--input", "--output"} & set(given):
        raise typer.BadParameter("--from replaces the devices; leave out --input and --output.")
    if not live and given:
        raise typer.BadParameter(f"{', '.join(given)} can be used with --live only.")
    if not live and not sources:
        raise typer.BadParameter("expected sound files or folders to separate, or --live.")
    if not live and outputs.folder is None:
        raise typer.BadParameter("expected -o DIR, the folder for the stems.")


def _with_model(settings: Settings, model: Path | None) -> Settings:
    if model is None:
        return settings
    if settings.method is not None:
        raise typer.BadParameter(f"--model replaces --method; leave out --method {settings.method}.")
    from ..apps.audio.methods import load_method

    return replace(settings, method=load_method(model))


class _SongDisplay:
    """A bar while a song is separated, and what came of it."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self.quiet, self.as_json = quiet, as_json
        self.done, self.n_songs = 0, 0
        self._bar = ExitStack()
        self._advance: Callback | None = None

    def progress(self, progress: "SongProgress") -> None:
        """Move the bar; a song that begins gets its own."""
        self.n_songs = progress.n_songs
        if progress.done == 0:
            self.close()
            title = f"Separating {progress.source.name} ({progress.number}/{progress.n_songs})"
            self._advance = self._bar.enter_context(console.counter(title, None, quiet=self.quiet))
        elif self._advance is not None:
            self._advance(progress)

    def finished(self, song: "SeparatedSong") -> None:
        """Show what came of a song."""
        self.close()
        self.done += 1
        if not self.quiet and not self.as_json:
            console.show(console.facts(song.summary_text()), **song.written)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.close()


def _separate(sources: list[Path], outputs: Outputs, settings: Settings, *, quiet: bool, as_json: bool) -> None:
    """Separate one song after the other; those that fail are reported at the end."""
    from ..apps.audio import separate

    shown = _SongDisplay(quiet=quiet, as_json=as_json)
    with Interrupts() as interrupts:
        try:
            with interrupts.allowed():
                result = separate(sources, outputs, settings, progress=shown.progress, finished=shown.finished)
        except KeyboardInterrupt as interrupt:
            kept = f"{shown.done} of {shown.n_songs} songs are finished and kept; the others are not."
            shown.close()
            console.say(f"{what_happened(interrupt)}; {kept}")
            raise typer.Exit(exit_code(interrupt)) from None
        finally:
            shown.close()
    if as_json:
        console.print_json(result.summary())
    for failure in result.failures:
        console.say_failure(failure)
    if result.failures:
        raise typer.Exit(1)


def _listen(
    settings: Settings, hear: str, from_file: Path | None, devices: tuple[str | None, str | None], low_latency: bool,
    *, quiet: bool, as_json: bool,
) -> None:  # fmt: skip
    from ..apps.audio import Loopback, SoundCard, Stream, listen
    from ..apps.audio.methods import as_method

    method = as_method(settings.method)
    if not method.streams:
        Stream(16000, method=method)  # refuses it, before a device is opened
    driver = SoundCard(*map(_device, devices)) if from_file is None else Loopback(from_file)
    stream = Stream(
        driver.rate, channels=driver.channels, method=method, high_pass=settings.high_pass, low_latency=low_latency
    )
    say = (lambda sentence: None) if quiet or as_json else console.say
    say("Getting ready ...")
    with Interrupts() as interrupts, interrupts.allowed():
        stats = listen(driver, stream, hear=hear, ready=lambda: say(f"Playing the {hear}; press Ctrl-C to stop."))
    if as_json:
        console.print_json(stats.summary())
    elif not quiet:
        console.show(console.facts(stats.summary_text()))


def _device(text: str | None) -> int | str | None:
    return int(text) if text is not None and text.isdecimal() else text


def _list_devices(*, as_json: bool) -> None:
    from ..apps.audio.sound_devices import list_devices

    found = list_devices()
    if as_json:
        console.print_json({"devices": [device._asdict() for device in found]})
        return
    rows = [[f"{d.number}: {d.name}", str(d.inputs), str(d.outputs), f"{d.rate:g}"] for d in found]
    console.show(console.table(["device", "inputs", "outputs", "rate"], rows) if rows else "no devices for sound")


run = with_options(
    run_audio,
    given={
        "folder": Out,
        "stems": StemNames,
        "method": MethodName,
        "high_pass": HighPass,
        "no_voice": NoVoice,
        "report": Report,
    },
)
"""What the command line calls."""
