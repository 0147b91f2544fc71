"""Tables of numbers: read from files with all that stands beside the numbers, taken apart, cleaned, written back."""

from ._errors import TableError
from ._files import is_table, read_table
from ._raw import SUFFIXES
from ._report import report_page
from ._results import clean, outlier_rows, places_for, stem_of, suffix_of_lists, write_outliers, write_results
from ._separate import SeparatedTable, separate
from ._table import Cleaned, NamedTable
from ._write import full_suffix, write_table

__all__ = [
    "SUFFIXES",
    "Cleaned",
    "NamedTable",
    "SeparatedTable",
    "TableError",
    "clean",
    "full_suffix",
    "is_table",
    "outlier_rows",
    "places_for",
    "read_table",
    "report_page",
    "separate",
    "stem_of",
    "suffix_of_lists",
    "write_outliers",
    "write_results",
    "write_table",
]
