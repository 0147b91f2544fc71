"""Tables of numbers: read from files with all that stands beside the numbers, taken apart, cleaned, written back."""

from ._apply import FAR, AppliedTable, apply_model, fit_table, framed, n_features, read_for
from ._errors import TableError
from ._files import is_table, read_table
from ._pictures import read_pictures, write_pictures
from ._raw import SUFFIXES
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
from ._write import full_suffix, harmless, write_table

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
    "fit_table",
    "framed",
    "full_suffix",
    "harmless",
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
