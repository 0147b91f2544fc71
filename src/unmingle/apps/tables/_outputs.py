"""What comes of a table, as files: the cleaned table, the list of outliers, the parts and what models say of rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...store import write_atomically
from ._applied import AppliedParts
from ._cleaning import Cleaned
from ._formats import SUFFIXES, Form
from ._parts import TableParts
from ._report import report_page
from ._settings import Outputs
from .table import NamedTable
from .writing import form_for, full_suffix, stem_of, write_rows, write_table


def write_outliers(table: NamedTable, path: Path, cells: list[dict[str, Any]]) -> None:
    """Write the list of outliers, with six digits of what was computed."""
    names = ("row", "column", "value", "expected", "significance")
    columns = {name: [cell[name] for cell in cells] for name in names}
    for name in names[3:]:
        columns[name] = [float(f"{value:.6g}") for value in columns[name]]
    write_rows(path, form_for(path, table.form), columns)


def suffix_of_lists(suffix: str) -> str:
    """The suffix of a table beside results of such a suffix: arrays hold no names."""
    return suffix if suffix in SUFFIXES and suffix not in (".npy", ".npz", ".zip") else ".csv"


_NOT_WRITTEN = (".xls", ".ods", ".json", ".feather", ".html", ".pdf", ".safetensors")
"""Suffixes that somebody could hope for, and that are no names of folders."""


def places_for(table: Path, outputs: Outputs, like: Form, *, rows: Sequence[str] = ()) -> dict[str, Path]:
    """Where the results of a table go: into a folder, or beside a file that is named; nowhere without either.

    Parameters
    ----------
    table : Path
        The file that was read.
    outputs : Outputs
        With a folder, or a file with the suffix of a table for the cleaned table.
    like : Form
        The form of the file that was read.
    rows : sequence of str
        Lists with a line for every row.

    Examples
    --------
    >>> [path.name for path in places_for(Path("a.tsv.gz"), Outputs("."), Form(".tsv.gz")).values()]
    ['a.cleaned.tsv.gz', 'a.outliers.tsv.gz']
    >>> [path.name for path in places_for(Path("a.csv"), Outputs("b.xlsx"), Form(".csv")).values()]
    ['b.xlsx', 'b.outliers.xlsx']
    """
    out = outputs.out
    if out is None and (outputs.report or outputs.parts):
        raise ValueError("A report and parts need a place to be written to: give out.")
    if out is None:
        return {}
    if not out.is_dir() and (full_suffix(out) in SUFFIXES or out.suffix.lower() in _NOT_WRITTEN):
        form_for(out, like)
        stem, folder, suffix, cleaned = stem_of(out), out.parent, full_suffix(out), out
    else:
        stem, folder, suffix = stem_of(table), out, like.suffix
        cleaned = folder / f"{stem}.cleaned{suffix}"
    places = {"cleaned": cleaned, "outliers": folder / f"{stem}.outliers{suffix_of_lists(suffix)}"}
    places |= {what: folder / f"{stem}.{what}{suffix_of_lists(suffix)}" for what in rows}
    if outputs.parts:
        places |= {part: folder / f"{stem}.{part}{suffix}" for part in ("low_rank", "sparse")}
    return places | ({"report": folder / f"{stem}.report.html"} if outputs.report else {})


def write_results(
    table: NamedTable,
    parts: TableParts,
    cleaned: Cleaned,
    cells: list[dict[str, Any]],
    places: dict[str, Path],
    *,
    name: str,
) -> None:
    """Write what is wanted: the cleaned table, the list of outliers, the parts and the page.

    Parameters
    ----------
    table, parts, cleaned, cells
        The table, its parts, and what `clean` and `list_outliers` gave.
    places : dict of str to Path
        Where to; see `places_for`.
    name : str
        What the table is called on the page.
    """
    write_table(table, places["cleaned"], cleaned.values, changed=cleaned.changed)
    write_outliers(table, places["outliers"], cells)
    if "low_rank" in places:
        write_table(table, places["low_rank"], parts.low_rank)
        write_table(table, places["sparse"], parts.outliers)
    if "report" in places:
        with write_atomically(places["report"]) as temporary:
            temporary.write_text(report_page(name, table, parts, cleaned, cells), encoding="utf-8")


def write_row_results(rows: Sequence[str], form: Form, parts: AppliedParts, places: dict[str, Path]) -> None:
    """Write the codes and the score of every row under its name."""
    codes = np.asarray(parts.part.codes, np.float64)
    columns: dict[str, Sequence[Any]] = {
        f"code {n + 1}": [float(f"{code:.9g}") for code in codes[:, n]] for n in range(codes.shape[1])
    }
    write_rows(places["codes"], form_for(places["codes"], form), {"row": list(rows), **columns})
    if parts.scores is not None:
        scores: dict[str, Sequence[Any]] = {"row": list(rows), "score": [float(f"{s:.9g}") for s in parts.scores]}
        if parts.strange is not None:
            scores["outlier"] = ["yes" if strange else "no" for strange in parts.strange]
        write_rows(places["scores"], form_for(places["scores"], form), scores)
