"""What the commands say: results on standard output, everything else on standard error."""

import json
import logging
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
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

from .._validation import first_cause
from ..iterate import Callback, Progress

MOST_EVENTS = 20
"""How many events are listed in the terminal."""
MOST_ARRAYS = 200
"""How many arrays of a file are listed there."""
LONGEST_FACT = 2000
"""Characters of a parameter that are shown there."""


def output() -> Console:
    """Return the console of the results; names that come from the user's data are printed as they are."""
    return Console(markup=False, emoji=False, highlight=False)


def say(message: object) -> None:
    """Print one plain sentence on standard error."""
    print(printable(" ".join(str(message).split())), file=sys.stderr)


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
        say(f"Error: something unforeseen happened, {words}; unmingle --debug COMMAND shows where.")


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


def print_demo(head: Sequence[str], rows: Sequence[Sequence[str]], figures: Mapping[str, Any], report: Path) -> None:
    """Print the comparison of the demo, what the separation says of itself, and where the report lies."""
    results = output()
    results.print(_table(head, rows, first_is_ours=True))
    results.print(_facts(_solved(figures)))
    results.print(f"report: {report}", soft_wrap=True)


def print_separation(
    figures: Mapping[str, Any], outliers: Sequence[Mapping[str, Any]], written: Mapping[str, str]
) -> None:
    """Print what was found in a table, its strongest outliers, and where the parts lie."""
    results = output()
    size = f"{figures['rows']} x {figures['columns']}, {figures['missing']} missing"
    deviation = {"typical deviation": f"{figures['typical_deviation']:.3g}"}
    results.print(_facts({"table": size, **_solved(figures), **deviation}))
    if outliers:
        head = ["row", "column", "value", "expected", "deviation"]
        rows = [[o["row"], o["column"], *(f"{o[name]:.6g}" for name in head[2:])] for o in outliers]
        results.print("\nStrongest outliers")
        results.print(_table(head, rows))
    for name, path in written.items():
        results.print(f"{name}: {path}", soft_wrap=True)


def print_learning(figures: Mapping[str, Any], model: Path) -> None:
    """Print what was learnt, and where the model lies."""
    results = output()
    facts = {
        "samples": f"{figures['samples']} of {figures['features']} features",
        "components": str(figures["components"]),
        "noise level": f"{figures['noise_level']:.4g}",
        "penalties": f"rank {figures['rank_penalty']:.4g}, outliers {figures['outlier_penalty']:.4g}",
        "jumps": str(figures["jumps"]),
    }
    results.print(_facts(facts))
    results.print(f"model: {model}", soft_wrap=True)


def print_training(card: Mapping[str, Any], model: Path) -> None:
    """Print the card of a trained model, and where the model lies."""
    results = output()
    results.print(_facts(_card_facts(card)))
    results.print(f"model: {model}", soft_wrap=True)


def print_video(
    facts: Mapping[str, str], head: Sequence[str], events: Sequence[Sequence[str]], written: Mapping[str, Path]
) -> None:
    """Print the card of a film, its events, and where the results lie."""
    results = output()
    results.print(_facts(facts))
    if events:
        results.print(_table(head, events[:MOST_EVENTS]))
    more = len(events) - MOST_EVENTS
    further = f"and {more} more {'event' if more == 1 else 'events'}\n" if more > 0 else ""
    results.print(further if events else "no events")
    for name, path in written.items():
        results.print(f"{name}: {path}", soft_wrap=True)


def print_reproduction(tables: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]], page: Path) -> None:
    """Print the results in short, and where the page is."""
    for head, rows in tables:
        output().print(_table(head, rows))
    output().print(f"Page: {printable(str(page))}")


def print_export(figures: Mapping[str, Any], out: Path) -> None:
    """Print what was exported, whether it was checked, and where it lies."""
    results = output()
    difference = figures["largest_difference"]
    checked = f"within {difference:.1e} of unmingle" if difference is not None else "no: onnxruntime is not installed"
    origin = f"{figures['kind']}{', untrained' if figures['made_from_components'] else ''}"
    inputs = "samples and init, codes to start from" if figures["warm_start"] else "samples"
    facts = {"model": origin, **_encoder_facts(figures), "inputs": inputs, "checked": checked}
    results.print(_facts(facts))
    results.print(f"onnx: {out}", soft_wrap=True)


def print_header(header: Any, encoder: Mapping[str, Any]) -> None:
    """Print the content of a model file: how its encoder is built and its card, if any, then all it holds."""
    arrays = {
        name: f"{array.dtype}, shape {' x '.join(map(str, array.shape)) or 'scalar'}"
        for name, array in islice(header.arrays.items(), MOST_ARRAYS)
    }
    more = f"and {len(header.arrays) - MOST_ARRAYS} more arrays" if len(header.arrays) > MOST_ARRAYS else ""
    parameters, card = _without_card(header.parameters)
    results = output()
    results.print(_facts({"kind": header.kind, "format": str(header.version)}))
    if encoder:
        results.print("\nencoder")
        results.print(_facts({f"  {name}": fact for name, fact in _encoder_facts(encoder).items()}))
    if card:
        results.print("\ncard")
        results.print(_facts({f"  {name}": fact for name, fact in _card_facts(card).items()}))
    results.print("\nparameters")
    results.print(_facts({f"  {name}": _shortened(json.dumps(value)) for name, value in parameters.items()}))
    results.print("\narrays")
    results.print(_facts({f"  {name}": description for name, description in arrays.items()}))
    if more:
        results.print(f"  {more}")


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_FACT else f"{text[:LONGEST_FACT]} ..."


def _without_card(parameters: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Take the card of a model, what it tells of its training, out of its parameters."""
    match parameters:
        case {"fitted": {"card_": dict(card), **others}}:
            return {**parameters, "fitted": others}, card
        case _:
            return parameters, {}


def _encoder_facts(figures: Mapping[str, Any]) -> dict[str, str]:
    least, most = figures["outlier_penalty"]
    outliers = f"{least:.4g}" if least == most else f"{least:.4g} to {most:.4g}"
    signs = [part for part in ("codes", "outliers") if figures[f"nonnegative_{part}"]]
    facts = {
        "features": str(figures["features"]),
        "components": str(figures["components"]),
        "layers": f"{figures['layers']}, {'tied' if figures['tied'] else 'each with its own numbers'}",
        "structure": str(figures["structure"]),
        "signs": f"{' and '.join(signs)} not negative" if signs else "any",
        "penalties": f"rank {figures['rank_penalty']:.4g}, outliers {outliers}",
        "size": f"{figures['bytes']:,} bytes, {figures['dtype']}",
    }
    if "departure" in figures:
        moved = f"moved the layers from Algorithm 1 by {figures['departure']:.1e} of their size"
        facts["training"] = moved if figures["departure"] else "none, the layers are those of Algorithm 1"
    return facts


def _card_facts(card: Mapping[str, Any], above: str = "") -> dict[str, str]:
    """Lay out a card in one level: what lies deeper is named by the way to it."""
    facts: dict[str, str] = {}
    for name, value in card.items():
        if isinstance(value, Mapping) and value:
            facts |= _card_facts(value, f"{above}{name}.")
        elif isinstance(value, float):
            facts[f"{above}{name}"] = f"{value:.6g}"
        else:
            facts[f"{above}{name}"] = value if isinstance(value, str) else json.dumps(value)
    return facts


def _solved(figures: Mapping[str, Any]) -> dict[str, str]:
    state = "converged" if figures["converged"] else "not converged"
    return {
        "rank": str(figures["rank"]),
        "penalties": f"rank {figures['rank_penalty']:.4g}, outliers {figures['outlier_penalty']:.4g}",
        "relative gap": f"{figures['gap']:.1e}",
        "iterations": f"{figures['iterations']}, {state}",
    }


def _facts(pairs: Mapping[str, str]) -> Table:
    """Lay out pairs of a name and a value, without a frame."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in pairs.items():
        table.add_row(printable(name), printable(value))
    return table


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, first_is_ours: bool = False) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in head:
        is_text = name in ("row", "column") or name == head[0]
        table.add_column(name, justify="left" if is_text else "right", overflow="fold")
    for number, row in enumerate(rows):
        table.add_row(*map(printable, row), style="bold" if first_is_ours and number == 0 else None)
    return table


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

    class Shown(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            bar.update(task, description=printable(record.getMessage()))

    logger, handler = logging.getLogger("unmingle"), Shown(logging.INFO)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
