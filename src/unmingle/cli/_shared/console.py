"""What the commands say: results on standard output, everything else on standard error."""

import json
import logging
import math
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import rich.progress
from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from ..._validation import first_cause
from ...core.iterate import Callback, Progress


def output() -> Console:
    """Return the console of the results; names that come from the user's data are printed as they are."""
    return Console(markup=False, emoji=False, highlight=False)


def say(message: object) -> None:
    """Print one plain sentence on standard error."""
    print(printable(" ".join(str(message).split())), file=sys.stderr)


def say_notes(notes: Iterable[str]) -> None:
    """Print on standard error what is worth knowing of how data were read."""
    for note in notes:
        say(f"Note: {note}")


def say_remarks(notes: Iterable[str], warnings: Iterable[str]) -> None:
    """Print on standard error the notes and warnings of a result."""
    say_notes(notes)
    for warning in warnings:
        say(f"Warning: {warning}")


def say_failure(error: BaseException) -> None:
    """Print on standard error, in one sentence, what went wrong."""
    if isinstance(error, MemoryError):
        say("Error: the data do not fit into memory.")
    elif isinstance(error, OSError) and error.filename:
        say(f"Error: {error.filename}: {error.strerror}.")
    elif isinstance(error, ImportError):
        say(f"Error: {first_cause(error)}")
    elif isinstance(error, ValueError | OSError) and str(error):
        say(f"Error: {error}")
    else:
        words = f"{type(error).__name__}: {error}".rstrip(": .")
        say(f"Error: an unexpected error occurred: {words}. Run unmingle --debug COMMAND to see where.")


def printable(text: str) -> str:
    """Replace what a terminal might obey instead of show."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def print_json(result: dict[str, Any]) -> None:
    """Print a result for machines; numbers that JSON does not know become null."""
    print(json.dumps(_plain(result), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)


def show(*parts: object, **written: object) -> None:
    """Print facts, tables and sentences, then where files lie."""
    results = output()
    for part in parts:
        results.print(part)
    for name, path in written.items():
        results.print(f"{name}: {printable(str(path))}", soft_wrap=True)


_SHARES = ("gain of training", "standard error of the gain", "median relative gap on training data")


def card_facts(card: Mapping[str, Any], above: str = "") -> dict[str, str]:
    """Lay out a card in one level: what lies deeper is named by the way to it."""
    found: dict[str, str] = {}
    for name, value in card.items():
        if isinstance(value, Mapping) and value:
            found |= card_facts(value, f"{above}{name}.")
        elif isinstance(value, float) and name in _SHARES:
            found[f"{above}{name}"] = f"{100 * value:.2g} %"
        elif isinstance(value, float):
            found[f"{above}{name}"] = f"{value:.6g}"
        else:
            found[f"{above}{name}"] = value if isinstance(value, str) else json.dumps(value)
    return found


def facts(pairs: Mapping[str, str]) -> Table:
    """Lay out pairs of a name and a value, without a frame."""
    laid_out = Table(box=None, show_header=False, pad_edge=False)
    laid_out.add_column(style="dim")
    laid_out.add_column(overflow="fold")
    for name, value in pairs.items():
        laid_out.add_row(printable(name), printable(value))
    return laid_out


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, first_is_ours: bool = False) -> Table:
    """Lay out a table; all but the first column, and names of rows and columns, are numbers."""
    laid_out = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in head:
        is_text = name in ("row", "column") or name == head[0]
        laid_out.add_column(name, justify="left" if is_text else "right", overflow="fold")
    for number, row in enumerate(rows):
        laid_out.add_row(*map(printable, row), style="bold" if first_is_ours and number == 0 else None)
    return laid_out


def outlier_table(cells: Sequence[Mapping[str, Any]]) -> list[object]:
    """Lay out outliers of a table under a line that says what they are; nothing if there are none."""
    if not cells:
        return []
    head = ["row", "column", "value", "expected", "significance"]
    rows = [[cell["row"], cell["column"], *(f"{cell[name]:.6g}" for name in head[2:])] for cell in cells]
    return ["\nCells that stand out most; significance in standard deviations", table(head, rows)]


@contextmanager
def warnings_as_sentences() -> Iterator[None]:
    """Print the warnings meant for the user as plain sentences, once the work is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        say(f"Warning: {warning.message}")


@contextmanager
def progress(description: str, *, quiet: bool) -> Iterator[Callback]:
    """Show a bar on standard error, if it is a terminal; yield the callback that moves it.

    The bar is full when the measure of optimality has fallen, on a logarithmic scale, from its first value to the
    tolerance, or when the iterations are used up.
    """
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[detail]}"))
    hidden = quiet or not console.is_terminal
    with rich.progress.Progress(*columns, TimeElapsedColumn(), console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task(description, total=None, detail="")
        covered = Share()

        def advance(progress: Progress) -> None:
            measured = "" if math.isnan(progress.measure) else f", {progress.measure:.1e} of {progress.tol:.0e}"
            detail = f"iteration {progress.done}{measured}"
            bar.update(task, description=description, total=1.0, completed=covered(progress), detail=detail)

        with _log_shown(bar, task):
            yield advance


@contextmanager
def counter(description: str, total: int | None, *, quiet: bool, speed: str = "") -> Iterator[Callback]:
    """Show a bar with the time left on standard error, if it is a terminal; yield what tells it how much is done.

    Where the total is not known yet, it is told later, together with how much is done. A unit such as "frames/s" shows
    the speed.
    """
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    timing = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    pace = (Speed(speed),) if speed else ()
    hidden = quiet or not console.is_terminal
    with rich.progress.Progress(*columns, *pace, *timing, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task(description, total=total)

        def count(progress: Progress) -> None:
            bar.update(task, description=description, completed=progress.done, total=progress.total)

        with _log_shown(bar, task):
            yield count


class Speed(ProgressColumn):
    """How much is done in a second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def render(self, task: Task) -> Text:
        """Show it, once it is known."""
        return Text(f"{task.speed:.0f} {self.unit}" if task.speed else "", style="progress.data.speed")


class Share:
    """The share of the work that is done; it never falls."""

    def __init__(self) -> None:
        self.first = math.nan
        self.done = 0.0

    def __call__(self, progress: Progress) -> float:
        """Take in how far the work is and return the share, in [0, 1]."""
        shares = [self.done, progress.done / progress.total if progress.total else 0.0]
        if math.isfinite(progress.measure) and progress.measure > 0 and progress.tol > 0:
            if math.isnan(self.first):
                self.first = progress.measure
            if self.first > progress.tol:
                shares.append(1.0 - math.log(progress.measure / progress.tol) / math.log(self.first / progress.tol))
        self.done = min(max(shares), 1.0)
        return self.done


@contextmanager
def _log_shown(bar: rich.progress.Progress, task: TaskID) -> Iterator[None]:
    """Show what the library logs (such as the compiling of a kernel) in place of the description."""

    class ShowsLog(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            bar.update(task, description=printable(record.getMessage()))

    logger, handler = logging.getLogger("unmingle"), ShowsLog(logging.INFO)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
