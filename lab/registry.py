"""What the laboratory can do, with what each thing takes and shows: the one list, known without any heavy package."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmingle.core.iterate import Callback

    from .paper.results import Table


@dataclass(frozen=True)
class Option:
    """A parameter of a job, given as `--name`."""

    name: str
    """As the function has it, with underscores."""
    help: str
    kind: type = int
    """`int`, `bool` (a flag), `Path` or `str`."""
    default: Any = None
    choices: tuple[str, ...] = ()
    """If there are any, any number of them can be given, without the name of the option."""


@dataclass(frozen=True)
class Job:
    """Something that the laboratory does by its name; what it needs is imported when it is run."""

    name: str
    shows: str
    module: str
    """Below this package, with a function `run` that takes the folder of the data, if it needs one, and the options."""
    takes: str
    """How long, about, on the 2 cores where it was last run."""
    data: str = ""
    """What it looks for in the folder of the data; nothing if it needs none."""
    data_optional: bool = False
    """Whether it runs without them, too."""
    options: tuple[Option, ...] = ()

    @property
    def home(self) -> Any:
        """The module, imported."""
        return import_module(f"{__package__}.{self.module}")

    def describe(self) -> list[str]:
        """Two lines: what it shows, and what it takes."""
        needs = f"{self.data}{', if they are there' if self.data_optional else ''}; " if self.data else "no data; "
        flags = " ".join(
            "[SECTION ...]" if option.choices else f"[--{option.name.replace('_', '-')}]" for option in self.options
        )
        return [f"  {self.name:16s} {self.shows}", f"  {'':16s} {needs}{self.takes}{'; ' * bool(flags)}{flags}"]


OUT = Option("out", "folder for the results", Path, Path("paper-results"))
MAX_STEPS = Option("max_steps", "most training steps of an encoder, each of 64 samples", int, 1000)
N_JOBS = Option("n_jobs", "processes; -1: one for each processor", int, -1)


@dataclass(frozen=True)
class Experiment(Job):
    """A job that writes `NAME.json`, its figures, and `NAME.html`, a page.

    Its module has `run(folder, out, *, callback, ...)`, which returns the figures, and `tables(figures)`.
    """

    packages: tuple[str, ...] = ()
    """Optional packages without which it cannot start."""

    def run(self, folder: Path, out: Path, *, callback: "Callback | None" = None, **options: Any) -> dict[str, Any]:
        """Run it on the data in a folder; return its figures, which are also in ``out``, with a page.

        Parameters
        ----------
        folder : path
            With the data.
        out : path
            Where files go.
        callback : callable, optional
            Called with an `unmingle.core.iterate.Progress` now and then; its answer does not count.
        **options : object
            Those that the experiment declares: ``max_steps``, training steps of each encoder; ``n_jobs``, processes.
        """
        missing = [package for package in self.packages if find_spec(package) is None]
        if missing:
            raise ImportError(f"{self.name} needs {' and '.join(missing)}: pip install {' '.join(missing)}")
        return self.home.run(folder, out, callback=callback, **options)

    def tables(self, figures: Mapping[str, Any]) -> "list[Table]":
        """The figures in short."""
        return self.home.tables(figures)


_FACES = "sets of faces, or pictures of your own in one folder a person"
_CLIPS = "clips of MIR-1K"
_FILMS = "labelled films of CDnet, cdnet_NAME_FIRST_LAST.zip"

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "table1", "Table 1: encoders of several depths and trainings on faces they have not seen.",
            "paper.faces._table1", "20 minutes, goes on where it ended", _FACES,
            options=(OUT, MAX_STEPS, N_JOBS), packages=("torch",),
        ),
        Experiment(
            "online", "Online learning: an encoder that follows faces in the order of time.", "paper.faces._online",
            "minutes", "faces of one person in the order of time", options=(OUT, MAX_STEPS), packages=("torch",),
        ),
        Experiment(
            "nonnegative", "Encoders of nonnegative data, spectrograms and faces, above the exact cost.",
            "paper.nonnegative._run", "minutes", f"{_CLIPS}, sets of faces", options=(OUT, MAX_STEPS),
            packages=("torch",),
        ),
        Experiment(
            "audio", "Voice and music of songs by every method: NSDR, SIR, SAR and time.", "paper.audio._run",
            "hours, goes on where it ended", _CLIPS, options=(OUT, MAX_STEPS, N_JOBS), packages=("soundfile",),
        ),
        Experiment(
            "voices", "Networks for voices, their rivals and parts, on songs and singers left out.",
            "paper.voices._run", "hours, goes on where it ended", _CLIPS, options=(OUT, MAX_STEPS, N_JOBS),
            packages=("soundfile", "torch"),
        ),
        Experiment(
            "video", "Hall as in the paper, masks beside OpenCV's, and lamps that are switched.", "paper.video._run",
            "tens of minutes", f"Hall, Lobby, {_FILMS}", options=(OUT, MAX_STEPS), packages=("torch",),
        ),
        Experiment(
            "alignment", "Faces moved and covered: errors, times and costs; a camera that shakes.",
            "paper.alignment._run", "tens of minutes", "the two sets of faces of RASL's authors, films", options=(OUT,),
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Section:
    """One comparison of the benchmarks: a folder of `lab/bench`."""

    name: str
    shows: str
    takes: str
    data: str = ""
    """What it looks for in the folder of the data; without it, made data are taken, or the section says so."""

    def describe(self) -> list[str]:
        """Two lines: what it shows, and what it takes."""
        needs = f"{self.data}, if they are there" if self.data else "no data"
        return [f"  {self.name:16s} {self.shows}", f"  {'':16s} {needs}; {self.takes}"]


SECTIONS = {
    section.name: section
    for section in (
        Section("pcp", "Exactly low-rank matrices with outliers, problem (1), beside other packages.", "16 minutes"),
        Section("unconstrained", "Noisy matrices with outliers, problem (2), beside other packages.", "15 minutes"),
        Section(
            "real", "Matrices of films, sound and faces, problems (1) and (2).", "22 minutes", "films, clips, faces"
        ),
        Section("tolerance", "What a user sees of an answer solved to 1e-3, 1e-4 or 1e-6.", "12 minutes", _CLIPS),
        Section("projection", "Frames of a film onto given components, problem (5).", "1 minute", "the film Lobby"),
        Section("nmf", "Nonnegative projection and factorisation, with and without outliers.", "some minutes"),
        Section("cells", "Flags, low-rank parts and imputation of tables, made and real.", "1 minute"),
        Section("anomalies", "Bad rows of low-rank tables, beside detectors of scikit-learn.", "some minutes"),
        Section("memory", "`proximal` on a matrix that is large for one machine.", "2 minutes"),
        Section("stream", "Online robust PCA block by block, beside other packages.", "10 minutes"),
        Section("encoder", "The compiled network beside a matrix product and NumPy.", "1 minute"),
        Section("tables", "Text files of tables, read beside pandas, which is told how.", "10 seconds"),
        Section("distributed", "One pass over 4 GB of zarr on one and on two workers.", "7 minutes"),
        Section("video", "Our stream beside OpenCV's, from frame to mask; memory over time.", "2 minutes", _FILMS),
        Section("alignment", "What it costs to find a face again, beside ECC and a plain RASL.", "1 minute"),
        Section("audio", "What separating a song costs, as a share of its length.", "1 minute", _CLIPS),
        Section("metrics", "BSS-EVAL of separated songs beside mir_eval.", "10 seconds"),
        Section("threads", "The environment a user has beside one thread, idle and busy.", "6 minutes"),
        Section("cold", "The first call of a process with an empty compile cache.", "2 minutes"),
    )
}

CHECKS = {
    job.name: job
    for job in (
        Job(
            "film-events", "Events of the video stream held to the objects of films with truth.", "films.events",
            "minutes", _FILMS,
        ),
        Job(
            "camera-moves", "How soon a camera that moves is noticed, by kind of move.", "films.moves", "minutes",
            _FILMS,
        ),
        Job(
            "video-constants", "The constants of the video stream, each chosen on all films but one.",
            "films.constants", "hours", _FILMS, options=(Option("grey", "films in grey", bool, False),),
        ),
    )
}  # fmt: skip

TOOLS = {
    job.name: job
    for job in (
        Job(
            "bench", "Speed and accuracy beside plain methods and other packages; all sections or those named.",
            "bench.shared.command", "two hours", "films, clips and faces", data_optional=True,
            options=(
                Option("sections", "some sections; the others keep their last results", str, (), tuple(SECTIONS)),
                Option("quick", "a smoke test on small data; writes only with --out", bool, False),
                Option("out", "folder for latest.md and latest.json, by default lab/results", Path),
            ),
        ),
        Job(
            "model-cards", "Puts trained networks into the package, each with its card.", "cards", "a second",
            options=(
                Option("networks", "folder with voice.safetensors and phone.safetensors", Path, Path()),
                Option("table", "audio.json of the experiment audio; without it, no scores", Path),
            ),
        ),
        Job(
            "house", "Size and shape of the source: lines, files, names, arguments, constants.", "house", "seconds",
            options=(Option("src", "the package to count", Path, Path("src/unmingle")),),
        ),
    )
}  # fmt: skip

JOBS: dict[str, Job] = {**EXPERIMENTS, **CHECKS, **TOOLS}


def list_jobs() -> str:
    """All there is, two lines each: the page that `python -m lab` prints."""

    def lines(title: str, parts: Mapping[str, Job | Section]) -> Sequence[str]:
        return ["", title, *(line for part in parts.values() for line in part.describe())]

    return "\n".join(
        [
            "python -m lab NAME [--data FOLDER]: data are looked for in FOLDER or where UNMINGLE_DATA says.",
            *lines("Experiments of the paper, each with figures in NAME.json and a page, NAME.html", EXPERIMENTS),
            *lines("Checks on real films", CHECKS),
            *lines("Benchmarks and tools", TOOLS),
            *lines("Sections of the benchmarks: python -m lab bench SECTION ...", SECTIONS),
        ]
    )
