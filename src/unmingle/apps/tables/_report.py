"""The page that shows what was found in a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np

from ... import __version__
from ..._types import AnyArray
from ...core.cells.columns import column_scales
from ...report import pieces
from ...report import plots as page_plots
from ...report.numbers_in_words import counted, share
from ...report.pictures import png
from ...report.plots import WHOLE, Axis, Series
from ._cleaning import Cleaned
from ._parts import TableParts
from .table import NamedTable


@dataclass(frozen=True)
class PageLimits:
    """How much of a table the page shows: what is seen at a glance, while the files hold everything."""

    cells: int = 30
    """Outliers in the table of the page; the list of outliers has them all."""
    plots: int = 6
    """Outliers that are shown with the rows around them, one of each column."""
    rows_around: int = 60
    """Rows that are shown before and after an outlier."""
    width: int = 960
    """Pixels of the picture of the table, for its rows."""
    height: int = 240
    """Pixels of the picture of the table, for its columns."""
    column_names: int = 14
    """Names of columns that have room beside the picture."""
    name_length: int = 16
    """Letters of a name of a column; names of rows may have twice as many."""
    reach: int = 25
    """An outlier is drawn at most this many times the range of the other values away from them."""
    spectrum_side: int = 1500
    """Strengths are computed if the shorter side of the table is at most this long."""
    strengths: int = 40
    """Strengths of patterns that are shown."""


LIMITS = PageLimits()
_ALL = slice(None)
_ORANGE, _BLUE = np.array([0.86, 0.32, 0.06]), np.array([0.18, 0.48, 0.78])


def report_page(name: str, table: NamedTable, parts: TableParts, cleaned: Cleaned, cells: list[dict[str, Any]]) -> str:
    """The whole page: the table as a picture, the strongest outliers among their rows, strengths, and how sure all is.

    Parameters
    ----------
    name : str
        What the table is called.
    table, parts : NamedTable, TableParts
        The table and its parts.
    cleaned : Cleaned
        What was put into its cells.
    cells : list of dict
        The outliers, from `list_outliers`.
    """
    return pieces.page(
        f"{name}: cleaned",
        *_opening(name, table, parts, cleaned),
        *_picture(table, parts),
        *_strongest(table, parts, cells),
        *_spectrum(table, parts, cleaned),
        *_certainty(parts),
        *_reading(table),
        f"<footer>Made by unmingle {__version__}.</footer>",
    )


def _opening(name: str, table: NamedTable, parts: TableParts, cleaned: Cleaned) -> list[str]:
    rows, columns = table.values.shape
    card = parts.figures()
    known = max(rows * columns - card["missing"], 1)
    lead = (
        f"{counted(rows, 'row')} and {counted(columns, 'column')} of numbers. From the table itself unmingle learnt "
        "which columns move together. That gives an expected value for every cell: it shows which cells do not "
        "fit, and fills the gaps."
    )
    figures = {
        "cells stand out" if card["flagged"] != 1 else "cell stands out": f"{card['flagged']:,}",
        "of all known cells": share(card["flagged"] / known),
        "gaps filled": f"{cleaned.filled:,} of {card['missing']:,}",
        "patterns explain the table" if card["rank"] != 1 else "pattern explains the table": str(card["rank"]),
    }
    return [f"<h1>{escape(name)}</h1>", pieces.paragraph(lead, "lead"), pieces.key_figures(figures)]


def _across(table: NamedTable, span: slice, steps: Sequence[float], most: int) -> Axis:
    """The axis of the rows: with their times if times rise from row to row, else with their numbers.

    Days are marked where they begin, at most ``most`` of them, so that no two marks have the same name.
    """
    times = table.times
    if times is None or len(times) < 2 or not (np.diff(times) >= 0).all() or times[0] == times[-1]:
        return Axis("row", steps=steps, words=lambda row, _: f"{row:.0f}")
    days = float(np.ptp(times[span])) / 86400
    pattern = "%H:%M" if days <= 2 else "%d %b" if days <= 700 else "%Y-%m"

    def words(row: float, step: float = 0.0) -> str:
        seconds = float(times[min(max(int(row), 0), len(times) - 1)])
        return datetime.fromtimestamp(seconds, UTC).strftime(pattern)

    if not 2 < days <= 700:
        return Axis("time", steps=steps, words=words)
    first = span.indices(len(times))[0]
    begins = first + np.flatnonzero(np.diff(times[span] // 86400, prepend=(times[first] - 1) // 86400))
    marked = begins[:: -(-len(begins) // most)]
    return Axis("time", marks=[(float(row), words(row)) for row in marked])


def _picture(table: NamedTable, parts: TableParts) -> list[str]:
    rows, columns = table.values.shape
    picture = _painted(table.values, parts.flags)
    shown = np.unique(np.linspace(0, columns - 1, min(columns, LIMITS.column_names)).astype(int))
    names = [(columns - place - 0.5, _short(table.columns[place])) for place in shown]
    plot = page_plots.shades(
        pieces.data_uri("image/png", png(picture)),
        _across(table, _ALL, WHOLE, 10),
        Axis("column", marks=names),
        (float(rows), float(columns)),
        f"The table as a picture: {counted(int(parts.flags.sum()), 'cell')} marked.",
    )
    caption = (
        "Each line is a column, with its first row on the left. Bright means large for that column. Orange: cells that "
        "stand out. Blue: gaps."
    )
    return [pieces.heading("The table at a glance"), pieces.figure(plot, caption)]


def _painted(values: AnyArray, flags: AnyArray) -> AnyArray:
    """The table on its side in colours, with every outlier visible however many rows share a pixel."""
    scales = column_scales(np.asarray(values, np.float64))
    with np.errstate(over="ignore", invalid="ignore"):
        steps = (values - np.nanmedian(values, axis=0)) / (3.0 * scales)
    grey = _pooled(np.nan_to_num(np.clip(steps, -1.0, 1.0)), np.mean)
    gaps = _pooled(np.isnan(values).astype(float), np.mean)[..., None]
    wrong = _pooled(flags.astype(float), np.max)[..., None]
    shades = np.repeat((0.6 + 0.28 * grey)[..., None], 3, axis=2)
    shades = shades + gaps * (_BLUE - shades)
    coloured = np.where(wrong > 0, _ORANGE, shades).transpose(1, 0, 2)
    height, width = coloured.shape[:2]
    return coloured.repeat(max(1, round(LIMITS.height / height)), axis=0).repeat(
        max(1, round(LIMITS.width / width)), axis=1
    )


def _pooled(X: AnyArray, how: Callable[..., Any]) -> AnyArray:
    """At most as many rows and columns as there are pixels."""
    for axis, most in ((0, LIMITS.width), (1, LIMITS.height)):
        size = X.shape[axis]
        if size > most:
            edges = np.linspace(0, size, most + 1).astype(int)
            blocks = [X.take(range(a, b), axis=axis) for a, b in pairwise(edges)]
            X = np.stack([how(block, axis=axis) for block in blocks], axis=axis)
    return X


def _short(name: str) -> str:
    return name if len(name) <= LIMITS.name_length else f"{name[: LIMITS.name_length - 1]}…"


def _strongest(table: NamedTable, parts: TableParts, cells: list[dict[str, Any]]) -> list[str]:
    title = pieces.heading("What stands out most")
    if not cells:
        return [title, pieces.paragraph("Nothing: no cell is further from its expected value than noise explains.")]
    head = ["row", "column", "value", "expected", "standard deviations"]
    lines = [
        [
            _short_row(cell["row"]),
            cell["column"],
            *(f"{cell[key]:.6g}" for key in ("value", "expected", "significance")),
        ]
        for cell in cells[: LIMITS.cells]
    ]
    more = f" The first {LIMITS.cells} of {len(cells):,}." if len(cells) > LIMITS.cells else ""
    words = pieces.paragraph(
        "Each of these cells is far from what the rest of its row suggests, compared with the usual spread of its "
        f"column.{more}"
    )
    return [
        title,
        words,
        f'<div class="plots">{"".join(_plots(table, parts))}</div>',
        pieces.table(head, lines, chosen=-1),
    ]


def _short_row(name: str) -> str:
    return name if len(name) <= 2 * LIMITS.name_length else f"{name[: 2 * LIMITS.name_length - 1]}…"


def _plots(table: NamedTable, parts: TableParts) -> list[str]:
    chosen: dict[int, int] = {}
    for row, column in parts.strongest(50 * LIMITS.plots):
        chosen.setdefault(column, row)
    expected = parts.low_rank
    plots = []
    for column, row in list(chosen.items())[: LIMITS.plots]:
        span = slice(max(row - LIMITS.rows_around, 0), row + LIMITS.rows_around + 1)
        places = np.arange(len(expected))[span].astype(float)
        values, should, flags = table.values[span, column], expected[span, column], parts.flags[span, column]
        usual = np.concatenate([should, values[~flags & ~np.isnan(values)]])
        low, high = usual.min(), usual.max()
        reach = LIMITS.reach * max(high - low, 1e-9 * max(abs(low), abs(high)), 1e-300)
        values = np.clip(values, low - reach, high + reach)
        plot = page_plots.curves(
            [
                Series("stands out", places[flags].tolist(), values[flags].tolist(), "dots"),
                Series("expected", places.tolist(), should.tolist()),
                Series("value", places.tolist(), values.tolist()),
            ],
            x=_across(table, span, (float(max(len(places) // 4, 1)),), 4),
            y=Axis(_short_row(table.columns[column])),
        )
        cut = " It lies far beyond the plot." if abs(values[row - span.start]) < abs(table.values[row, column]) else ""
        value, wanted = table.values[row, column], expected[row, column]
        place = f"{table.columns[column]}, {_short_row(table.rows[row])}"
        caption = f"{place}: {value:.6g}, where {wanted:.6g} was expected.{cut}"
        plots.append(pieces.figure(plot, caption))
    return plots


def _spectrum(table: NamedTable, parts: TableParts, cleaned: Cleaned) -> list[str]:
    full = np.where(np.isnan(cleaned.values) | parts.flags, parts.low_rank, cleaned.values)
    if min(full.shape) > LIMITS.spectrum_side:
        return []
    scaled = full / (column_scales(full) if parts.part.column_scale is None else parts.part.column_scale)
    gram = scaled.T @ scaled if full.shape[0] >= full.shape[1] else scaled @ scaled.T
    strengths = np.sqrt(np.clip(np.linalg.eigvalsh(gram)[::-1][: LIMITS.strengths], 0, None))
    strengths = strengths[strengths > 1e-7 * max(strengths[0], 1e-300)]
    if not len(strengths):
        return []
    rank, numbers = min(parts.part.rank, len(strengths)), list(range(1, len(strengths) + 1))
    plot = page_plots.curves(
        [
            Series("patterns that were kept", numbers[:rank], strengths[:rank].tolist(), "marked"),
            Series("the rest, which is noise", numbers[rank:], strengths[rank:].tolist(), "dots"),
        ],
        x=Axis("number of the pattern", steps=WHOLE),
        y=Axis("strength (singular value)", log=True),
        long=True,
    )
    caption = (
        "How strong each pattern of the cleaned table is, all columns weighed alike. A few that rise above the others "
        "mean that columns really belong together; a slope without a step means that they hardly do."
    )
    return [pieces.heading("How many patterns there are"), pieces.figure(plot, caption)]


def _certainty(parts: TableParts) -> list[str]:
    part, title = parts.part, pieces.heading("How sure this is")
    gap = f"{100 * part.gap:.2g} %"
    if part.sample_gap is not None and parts.stationarity is None:
        words = (
            "Every row was separated on its own, by the patterns of the model. For these patterns, each split is "
            f"proved to be within {gap} of the best possible one."
        )
    elif parts.stationarity is not None:
        words = (
            f"Given its patterns, the split of every row is proved to be within {gap} of the best possible one. The "
            "patterns themselves are a solution that no small change improves; another start might find another one."
        )
    elif part.converged and part.gap <= 1e-2:
        words = (
            f"The split is the solution of a mathematical problem with one best value. This answer is proved to be "
            f"within {gap} of it (the duality gap). More work would not change anything you can see."
        )
    elif part.converged:
        words = (
            "The number of patterns was limited, and with that limit no small change improves the answer. Without the "
            f"limit, an answer better by up to {gap} might exist: the table asks for more patterns than were allowed."
        )
    else:
        words = (
            f"The work stopped early, at {counted(part.n_iter, 'iteration')}: the best answer may be better by up to "
            f"{gap}. More iterations (--max-iter) come nearer to it."
        )
    facts = {
        "outliers": "tested cell by cell against the noise of their columns; about "
        f"{share(parts.false_share)} of those listed may be false",
        "penalties": f"rank {part.rank_penalty:.4g}, outliers {np.max(part.outlier_penalty):.4g}",
        **({} if part.sample_gap is not None else {"iterations": str(part.n_iter)}),
    }
    return [title, pieces.paragraph(words), pieces.facts(facts)]


def _reading(table: NamedTable) -> list[str]:
    if not table.notes:
        return []
    return [pieces.heading("How the table was read"), *map(pieces.paragraph, table.notes)]
