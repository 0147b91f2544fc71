"""Comparison "audio" in the report."""

from collections.abc import Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table
from .compare import SECONDS

Results = dict[str, Any]

PLACE = 84


def section(comparison: Results) -> list[str]:
    lines = [
        "## Songs: what a second of sound costs",
        "",
        f"CPU seconds on one thread for each second of sound, {comparison['seconds']:g} s at 16 kHz: "
        f"{comparison['sound']}. *Batched*: the whole sound; *stream*: 256 samples at a time; *p99*: the slowest hop "
        "in a hundred, as a share of a hop.",
        "",
    ]
    rows = [
        (label, *(f"{row[key]:.4f}" if key in row else "" for key in ("batched", "stream", "p99")))
        for label, row in comparison["rows"].items()
    ]
    return [*lines, *as_table(("method", "batched", "stream", "p99"), rows)]


def bars(comparison: Results) -> Iterator[Bar]:
    if comparison["seconds"] != SECONDS:
        return
    for name in ("voice", "encoder"):
        row = _row(comparison, name)
        for key, most in {"batched": 0.01, "stream": 0.03, "p99": 0.25}.items():
            yield Bar(f"{name}, {key}", f"≤ {most:g} of the length", f"{row[key]:.4f}", row[key] <= most)
    value = _row(comparison, "pcp")["batched"]
    yield Bar("(1) of songs to 1e-3", "≤ 0.2 of the length", f"{value:.3f}", value <= 0.2)


def _row(comparison: Results, name: str) -> dict[str, float]:
    return next(row for label, row in comparison["rows"].items() if label.startswith(name))
