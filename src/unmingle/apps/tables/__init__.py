"""Tables of numbers: read from files with all that stands beside the numbers, taken apart, cleaned, written back."""

from ._apply import FAR, AppliedTable, apply_model, fit_table, framed, n_features, read_for
from ._formats import SUFFIXES, TableError
from ._pictures import read_pictures, write_pictures
from ._report import report_page
from ._results import (
    clean,
    outlier_rows,
    places_for,
    stem_of,
    too_many,
    write_outliers,
    write_results,
    write_row_results,
)
from ._separate import SeparatedTable, separate
from ._table import Cleaned, NamedTable
from .reading import is_table, read_table
from .writing import escape_formula, full_suffix, write_table

__all__ = [
    "FAR",
    "SUFFIXES",
    "AppliedTable",
    "Cleaned",
    "NamedTable",
    "SeparatedTable",
    "TableError",
    "apply_model",
    "clean",
    "escape_formula",
    "fit_table",
    "framed",
    "full_suffix",
    "is_table",
    "n_features",
    "outlier_rows",
    "places_for",
    "read_for",
    "read_pictures",
    "read_table",
    "report_page",
    "separate",
    "stem_of",
    "too_many",
    "write_outliers",
    "write_pictures",
    "write_results",
    "write_row_results",
    "write_table",
]
