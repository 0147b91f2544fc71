"""Results as a markdown report."""

from typing import Any

from ..matrices.contender import REFERENCE
from .bar import Bar
from .comparisons import reports
from .tables import as_table

Results = dict[str, Any]

INTRODUCTION = f"""\
All contenders of a table run in one process, on one thread, in turns (A B C A B C ...); each round has its own random
matrix. Times are CPU seconds, the median over the rounds. *Times faster* is the median over the rounds of the CPU time
of the {REFERENCE}, a plain method written for this benchmark, over that of the contender in the same round.
Compilation, imports, errors and certificates of finished answers are outside the clock. Errors, ranks and gaps are the
worst over the rounds. Slow contenders run fewer rounds.
"""


def markdown(results: Results) -> str:
    sections, bars = [], []
    for name, report in reports().items():
        if name in results:
            sections += ["", *report.section(results[name]), "", *_conditions(results[name]["conditions"])]
            bars += report.bars(results[name])
    return "\n".join(["# Benchmarks", "", INTRODUCTION, *_bars(bars), *sections, "", *_machines(results)]) + "\n"


def _bars(bars: list[Bar]) -> list[str]:
    """Every bar that the results at hand can speak of, at the sizes it was set for."""
    rows = [(bar.what, bar.wanted, bar.reached, "met" if bar.met else "**missed**") for bar in bars]
    return ["## Bars", "", *as_table(("bar", "wanted", "reached", ""), rows)]


def _conditions(conditions: Results) -> list[str]:
    """When and how this comparison was made."""
    load = f"load average {conditions['load_average_before']} before, {conditions['load_average_after']} after"
    return [
        f"`{conditions['command']}` on {conditions['date']}, {conditions['minutes']} minutes, {load}, "
        f"source {conditions['source']}."
    ]


def _machines(results: Results) -> list[str]:
    """Where the comparisons were made: one paragraph, unless they come from different places."""
    paragraphs = {}
    for name, comparison in results.items():
        made = comparison["conditions"]
        packages = ", ".join(f"{package} {version}" for package, version in made["packages"].items())
        paragraphs.setdefault(f"{made['machine']}; Python {made['python']}; {packages}", []).append(name)
    pools = sorted({pool for comparison in results.values() for pool in comparison["conditions"]["threads"]})
    threads = f"Thread pools found in the process ({', '.join(pools)}) had one thread each."
    return ["## Machine", "", *(f"{', '.join(names)}: {where}." for where, names in paragraphs.items()), "", threads]
