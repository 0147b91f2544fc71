"""Results as a markdown report."""

from typing import Any

from bars import Results, bars
from cold_report import cold
from contender import REFERENCE
from distributed_report import distributed
from encoder_report import encoder
from race import RANK_FLOOR
from stream_report import stream
from tables import as_table, number
from threads_report import threads
from video_report import video

Row = dict[str, Any]

INTRODUCTION = f"""\
All contenders of a table run in one process, on one thread, in turns (A B C A B C ...); each round has its own random
matrix. Times are CPU seconds, the median over the rounds. *Times faster* is the median over the rounds of the CPU time
of the {REFERENCE}, a plain method written for this benchmark, over that of the contender in the same round.
Compilation, imports, errors and certificates of finished answers are outside the clock. Errors, ranks and gaps are the
worst over the rounds. Slow contenders run fewer rounds.
"""

PCP_NOTES = f"""\
X = A B + outliers, entries of A B of standard deviation 1, outliers uniform in [-3, 3] on 10 % of the entries, no dense
noise; problem (1) with lam = 1/√max(n, m). hyperspy's methods solve problems of their own and are judged by the same
measures. *Gap*: (objective of (1) at L and O = X - L, minus our certified lower bound) / objective, for every method,
so that those without a certificate get one. *To 1e-6*: CPU seconds until the relative error of L is at most 1e-6, where
the iterates can be watched. *Rank*: singular values above {RANK_FLOOR:.0e} of the largest. *Memory*: peak in copies of
X, X included; at the small sizes the work space of BLAS counts for much of it.
"""

UNCONSTRAINED_NOTES = """\
The same with dense noise of standard deviation 0.05; problem (2) with lam_* = 0.05 (√n + √m), lam = lam_*/√max(n, m),
stopped at a certified gap, all certificates inside the clock. Beside it problem (1) on the same X: the reference, and
our pcp with and without room for the noise (eps). *Gap*: of the problem solved; of (2) evaluated once more, in float64,
from the answer alone; of (1) as above, where pcp gave a bound. *To error*: CPU seconds until the relative error of L is
for the first time within 1 % of that of the reference's answer.
"""


def markdown(results: Results) -> str:
    sections = {
        "pcp": _pcp,
        "unconstrained": _unconstrained,
        "projection": _projection,
        "memory": _memory,
        "stream": stream,
        "encoder": encoder,
        "distributed": distributed,
        "video": video,
        "threads": threads,
        "cold": cold,
    }
    lines = ["# Benchmarks", "", INTRODUCTION, *_bars(results)]
    for name, section in sections.items():
        if name in results:
            lines += ["", *section(results[name]), "", *_conditions(results[name]["conditions"])]
    return "\n".join([*lines, "", *_machines(results)]) + "\n"


def _bars(results: Results) -> list[str]:
    rows = [(bar.what, bar.wanted, bar.reached, "met" if bar.met else "**missed**") for bar in bars(results)]
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


def _pcp(comparison: Results) -> list[str]:
    return ["## Clean data: principal component pursuit (1)", "", PCP_NOTES, *_races(comparison, "to 1e-6")]


def _unconstrained(comparison: Results) -> list[str]:
    return ["## Noisy data: the unconstrained problem (2)", "", UNCONSTRAINED_NOTES, *_races(comparison, "to error")]


def _races(comparison: Results, to_error: str) -> list[str]:
    lines = []
    head = ("method", "problem", "CPU s", "times faster", "iterations", "error of L", "rank", "gap", to_error, "memory")
    for table in comparison["tables"]:
        lines += [f"### {table['size']}, rank {table['rank']}, {table['rounds']} rounds", ""]
        lines += [*as_table((*head, "rounds"), [_race_row(row) for row in table["rows"]]), ""]
    settings = {row["contender"]: row for table in comparison["tables"] for row in table["rows"]}
    lines += ["Settings:", ""]
    lines += [f"- {name}: {row['settings']} ({row['package']} {row['version']})" for name, row in settings.items()]
    return [*lines, "", f"Memory: {comparison['memory']}; the reference and the peers for 3 iterations only."]


def _race_row(row: Row) -> list[str]:
    if "not_run" in row:
        return [row["contender"], row["problem"], f"not run: {row['not_run']}", *[""] * 8]
    return [
        row["contender"] + ("" if row["converged"] else " (not converged)"),
        row["problem"],
        number(row["cpu"], ".3f" if row["cpu"] < 1 else ".2f"),
        number(row["ratio"], ".1f" if row["ratio"] >= 1 else ".2f"),
        number(row["n_iter"], "d"),
        number(row["error"], ".1e"),
        number(row["rank"], "d"),
        number(row["gap"], ".1e"),
        "never" if row.get("watched") and row["cpu_to_error"] is None else number(row["cpu_to_error"], ".3f"),
        number(row.get("memory"), ".1f"),
        number(row["rounds"], "d"),
    ]


def _projection(comparison: Results) -> list[str]:
    lines = ["## Robust projection (5) of video frames", ""]
    if "skipped" in comparison:
        return [*lines, f"Not run: {comparison['skipped']}."]
    fit = comparison["fit"]
    end = "converged" if fit["converged"] else "stopped without convergence"
    lines += [
        f"{comparison['frames']} frames of Lobby at 88x72, float64, onto the {fit['n_components']} components of "
        f"RobustPCA(5), lam_* = 0.1, lam = 1e-3 ({end} after {fit['n_iter']} iterations, {fit['cpu']:.0f} CPU s). "
        f"Every sample to a relative gap of {comparison['tol']:.0e}. Both methods are compiled, and Algorithm 1 finds "
        "the gap within its pass. *Passes*: over a sample, on average and at most; for Newton, steps.",
        "",
    ]
    rows = [
        (
            row["contender"],
            number(row["cpu"], ".3f"),
            number(row["ratio"], ".1f"),
            number(row["passes"], ".1f"),
            number(row["slowest"], "d"),
            number(row["gap"], ".1e"),
            number(row["rounds"], "d"),
        )
        for row in comparison["rows"]
    ]
    head = ("method", "CPU s", "times Newton's", "passes", "at most", "largest gap", "rounds")
    return [*lines, *as_table(head, rows)]


def _memory(comparison: Results) -> list[str]:
    rows = [(row["size"], row["contender"], number(row["memory"], ".1f")) for row in comparison["rows"]]
    note = f"Problem (2), noise {comparison['noise']}: {comparison['memory']}. Cut after {comparison['iterations']} "
    note += "iterations with their certificates; until convergence the peak grows a little more, with the rank."
    return ["## Memory", "", note, "", *as_table(("size", "method", "copies of X, X included"), rows)]
