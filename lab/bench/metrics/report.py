"""Comparison "metrics" in the report."""

from collections.abc import Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table
from .compare import METHODS, SECONDS, TAPS

Results = dict[str, Any]

PLACE = 85


def section(comparison: Results) -> list[str]:
    lines = ["## Scores of separated sounds", ""]
    if "skipped" in comparison:
        return [*lines, f"Not run: {comparison['skipped']}."]
    lines += [
        f"BSS-EVAL of two sources, songs of {comparison['seconds']:g} s at 16 kHz, estimates by ratio masks, "
        f"{comparison['rounds']} rounds; `mir_eval` without permutations. Largest difference to it: "
        f"{comparison['difference']:.0e} dB.",
        "",
    ]
    calls = {
        f"`mir_eval`, {TAPS} taps": ("mir_eval", "1"),
        f"`bss_eval`, {TAPS} taps": ("filter", f"{comparison['ratio']:.1f}"),
        f"`bss_eval`, {TAPS} taps, {METHODS} methods": ("several", f"{comparison['several_ratio']:.1f}"),
        "`bss_eval`, a gain": ("gain", "–"),
    }
    rows = [(call, f"{comparison[key]:.3f}", faster) for call, (key, faster) in calls.items()]
    return [*lines, *as_table(("call", "CPU s", "times faster"), rows)]


def bars(comparison: Results) -> Iterator[Bar]:
    if comparison.get("seconds") == SECONDS:
        ratio, difference = comparison["ratio"], comparison["difference"]
        yield Bar("BSS-EVAL 3.0 beside mir_eval: speed", "≥ 2 times", f"{ratio:.1f} times", ratio >= 2)
        yield Bar("BSS-EVAL 3.0 beside mir_eval: decibels", "≤ 1e-3 apart", f"{difference:.0e}", difference <= 1e-3)
