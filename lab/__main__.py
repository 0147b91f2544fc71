"""The door of the laboratory: `python -m lab` lists what there is, `python -m lab NAME --data FOLDER` does it."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from .bench.shared.progress import say
from .bench.shared.tables import as_table
from .data import DataMissing, find_data_folder
from .registry import JOBS, Experiment, Job, Option, list_jobs

if TYPE_CHECKING:
    from unmingle.core.iterate import Progress

SECONDS_BETWEEN_LINES = 5.0
"""Progress is told no more often than this."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Do one job; what cannot be done for want of data or a package is one sentence and exit code 1."""
    given = vars(build_parser().parse_args(arguments))
    name = given.pop("job")
    if name is None:
        print(list_jobs())
        return
    try:
        run_job(JOBS[name], given)
    except (DataMissing, ImportError) as error:
        sys.exit(f"Error: {error}")


def build_parser() -> argparse.ArgumentParser:
    """A command for each job, with the options that the job declares and no others."""
    parser = argparse.ArgumentParser(prog="python -m lab", description="The laboratory; without NAME, a list.")
    commands = parser.add_subparsers(dest="job", metavar="NAME")
    for job in JOBS.values():
        command = commands.add_parser(job.name, help=job.shows, description=job.shows)
        if job.data:
            command.add_argument("--data", type=Path, metavar="FOLDER", help=f"with {job.data}; or UNMINGLE_DATA")
        for option in job.options:
            add_option(command, option)
        if isinstance(job, Experiment):
            command.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser


def add_option(command: argparse.ArgumentParser, option: Option) -> None:
    """One option of a job: a flag, a value, or any number of some words."""
    flag = f"--{option.name.replace('_', '-')}"
    if option.choices:
        command.add_argument(option.name, nargs="*", metavar="SECTION", type=one_of(option.choices), help=option.help)
    elif option.kind is bool:
        command.add_argument(flag, action="store_true", help=option.help)
    else:
        words = option.help if option.default is None else f"{option.help} (default: {option.default})"
        command.add_argument(flag, type=option.kind, default=option.default, help=words)


def one_of(choices: Sequence[str]) -> Any:
    """A word that must be one of some; `choices` of argparse refuses that none are given."""

    def section(word: str) -> str:
        if word not in choices:
            raise argparse.ArgumentTypeError(f"{word!r} is not one of {', '.join(choices)}")
        return word

    return section


def run_job(job: Job, given: dict[str, Any]) -> None:
    """Find the data, run the job with its options, and print the tables of an experiment."""
    if job.data:
        path = given.pop("data")
        given["folder"] = path if path is None and job.data_optional else find_data_folder(path)
    if not isinstance(job, Experiment):
        job.home.run(**given)
        return
    as_json, out = given.pop("json"), given["out"]
    out.mkdir(parents=True, exist_ok=True)
    figures = job.run(**given, callback=ProgressLines(job.name))
    if as_json:
        print(json.dumps(figures, indent=1))
    else:
        print("\n\n".join("\n".join(as_table(head, rows)) for head, rows in job.tables(figures)))
        print(f"\nPage: {out / job.name}.html")


class ProgressLines:
    """A callback that says how far the work has come, now and then, on standard error."""

    def __init__(self, name: str) -> None:
        self._name, self._next = name, 0.0

    def __call__(self, progress: "Progress") -> None:
        """Say it if the last line is some seconds old, or all is done."""
        if monotonic() >= self._next or progress.done == progress.total:
            say(f"{self._name}: {progress.done}" + (f" of {progress.total}" if progress.total else ""))
            self._next = monotonic() + SECONDS_BETWEEN_LINES


if __name__ == "__main__":
    main()
