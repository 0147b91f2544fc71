"""What comes of a table, as files: the cleaned table, the list of outliers, and the parts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..._types import AnyArray
from ...store import write_atomically
from ._apply import AppliedTable
from ._formats import SUFFIXES, Form
from ._report import report_page
from ._separate import SeparatedTable
from ._table import Cleaned, NamedTable
from .writing import form_for, full_suffix, write_rows, write_table

_TOO_MANY = 0.1
"""Share of outliers from which on a table is in doubt,"""
_A_FEW = 20
"""if there are so many of them."""


def clean(
    table: NamedTable, expected: AnyArray, flags: AnyArray, *, fill: bool = True, replace: bool = True
) -> Cleaned:
    """Put what is expected into cells that are missing and cells that stand out.

    Parameters
    ----------
    table : NamedTable
        The table.
    expected : array of shape (n_rows, n_columns)
        What should stand in every cell; rounded in columns of whole numbers.
    flags : boolean array of that shape
        Cells that stand out.
    fill, replace : bool
        Whether missing cells, and cells that stand out, are changed.

    Examples
    --------
    >>> table = NamedTable(np.array([[1.0, np.nan], [9.0, 4.0]]), ["x", "y"], ["a", "b"], Form(".csv"))
    >>> clean(table, np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([[False, False], [True, False]])).values.tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    gaps = np.isnan(table.values) & fill
    wrong = flags & ~np.isnan(table.values) & replace
    wanted = np.where(table.whole, np.rint(expected), expected)
    changed = gaps | wrong
    values = np.where(changed, wanted, table.values)
    return Cleaned(values, changed, int(np.count_nonzero(gaps)), int(np.count_nonzero(wrong)))


def too_many(done: SeparatedTable) -> str | None:
    """A sentence for a table in which so much stands out that its patterns, and what is expected, are in doubt."""
    flagged, known = (int(np.count_nonzero(cells)) for cells in (done.flags, ~np.isnan(done.values)))
    share = flagged / max(known, 1)
    if share <= _TOO_MANY or flagged < _A_FEW:
        return None
    return (
        f"{100 * share:.0f} % of the cells stand out, which is a lot. Perhaps the columns are not related, or values "
        "differ by large factors (then try their logarithms). Look at the report before you use the cleaned table."
    )


def outlier_rows(table: NamedTable, done: SeparatedTable, count: int | None = None) -> list[dict[str, Any]]:
    """The cells that stand out, the strongest first: where, what stands there, what should, and how sure that is."""
    expected = done.low_rank
    return [
        {
            "row": table.rows[row],
            "column": table.columns[column],
            "value": float(done.values[row, column]),
            "expected": float(expected[row, column]),
            "deviation": float(done.values[row, column] - expected[row, column]),
            "significance": float(done.significance[row, column]),
        }
        for row, column in done.strongest(count)
    ]


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


def stem_of(path: Path) -> str:
    """The name of a file without its suffix and compression."""
    suffix = full_suffix(path)
    return path.name[: len(path.name) - len(suffix)] if suffix else path.name


_NOT_WRITTEN = (".xls", ".ods", ".json", ".feather", ".html", ".pdf", ".safetensors")
"""Suffixes that somebody could hope for, and that are no names of folders."""


def places_for(
    table: Path,
    out: Path | None,
    like: Form,
    *,
    report: bool = False,
    parts: bool = False,
    rows: Sequence[str] = (),
) -> dict[str, Path]:
    """Where the results of a table go: beside it, into a folder, or beside a file that is named.

    Parameters
    ----------
    table : Path
        The file that was read.
    out : Path, optional
        A folder, or a file with the suffix of a table for the cleaned table.
    like : Form
        The form of the file that was read.
    report, parts : bool
        Whether there are to be a page, and the parts of the answer.
    rows : sequence of str
        Lists with a line for every row.

    Examples
    --------
    >>> [path.name for path in places_for(Path("a.tsv.gz"), None, Form(".tsv.gz")).values()]
    ['a.cleaned.tsv.gz', 'a.outliers.tsv.gz']
    >>> [path.name for path in places_for(Path("a.csv"), Path("b.xlsx"), Form(".csv")).values()]
    ['b.xlsx', 'b.outliers.xlsx']
    """
    if out is not None and not out.is_dir() and (full_suffix(out) in SUFFIXES or out.suffix.lower() in _NOT_WRITTEN):
        form_for(out, like)
        stem, folder, suffix, cleaned = stem_of(out), out.parent, full_suffix(out), out
    else:
        stem, folder, suffix = stem_of(table), out or table.parent, like.suffix
        cleaned = folder / f"{stem}.cleaned{suffix}"
    places = {"cleaned": cleaned, "outliers": folder / f"{stem}.outliers{suffix_of_lists(suffix)}"}
    places |= {what: folder / f"{stem}.{what}{suffix_of_lists(suffix)}" for what in rows}
    if parts:
        places |= {part: folder / f"{stem}.{part}{suffix}" for part in ("low_rank", "sparse")}
    return places | ({"report": folder / f"{stem}.report.html"} if report else {})


def write_results(
    table: NamedTable,
    done: SeparatedTable,
    cleaned: Cleaned,
    cells: list[dict[str, Any]],
    places: dict[str, Path],
    *,
    name: str,
) -> None:
    """Write what is wanted: the cleaned table, the list of outliers, the parts and the page.

    Parameters
    ----------
    table, done, cleaned, cells
        The table, its parts, and what `clean` and `outlier_rows` gave.
    places : dict of str to Path
        Where to; see `places_for`.
    name : str
        What the table is called on the page.
    """
    write_table(table, places["cleaned"], cleaned.values, changed=cleaned.changed)
    write_outliers(table, places["outliers"], cells)
    if "low_rank" in places:
        write_table(table, places["low_rank"], done.low_rank)
        write_table(table, places["sparse"], done.outliers)
    if "report" in places:
        with write_atomically(places["report"]) as temporary:
            temporary.write_text(report_page(name, table, done, cleaned, cells), encoding="utf-8")


def write_row_results(rows: Sequence[str], form: Form, done: AppliedTable, places: dict[str, Path]) -> None:
    """Write the codes and the score of every row under its name."""
    codes = np.asarray(done.part.codes, np.float64)
    columns: dict[str, Sequence[Any]] = {
        f"code {n + 1}": [float(f"{code:.9g}") for code in codes[:, n]] for n in range(codes.shape[1])
    }
    write_rows(places["codes"], form_for(places["codes"], form), {"row": list(rows), **columns})
    if done.scores is not None:
        scores: dict[str, Sequence[Any]] = {"row": list(rows), "score": [float(f"{s:.9g}") for s in done.scores]}
        if done.strange is not None:
            scores["outlier"] = ["yes" if strange else "no" for strange in done.strange]
        write_rows(places["scores"], form_for(places["scores"], form), scores)
