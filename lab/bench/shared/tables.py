"""Pieces of markdown."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def as_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_line(head), _line(["---"] * len(head)), *(_line(row) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def numbers(row: Mapping[str, Any], **forms: str) -> list[str]:
    """Some figures of a row, each in its form."""
    return [number(row[name], form) for name, form in forms.items()]
