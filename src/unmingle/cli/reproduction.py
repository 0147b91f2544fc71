"""What `unmingle reproduce` does: experiments of the paper on one's own copy of the data."""

from pathlib import Path

from ..reproduce import EXPERIMENTS, data_folder
from . import console
from .files import ready_folder


def run(name: str, data: Path | None, out: Path, max_steps: int, jobs: int, *, quiet: bool, as_json: bool) -> None:
    """Run an experiment and tell its results, in short or as JSON."""
    experiment = EXPERIMENTS[name]
    with console.warnings_as_sentences():
        folder, target = data_folder(data), ready_folder(out)
        with console.counter(f"Reproducing {name}", None, quiet=quiet) as advance:
            result = experiment.run(folder, target, max_steps=max_steps, n_jobs=jobs or -1, callback=advance)
    if as_json:
        console.print_json(result)
    elif not quiet:
        console.print_reproduction(experiment.tables(result), target / f"{name}.html")
