"""Tables of numbers: what is regular, and which cells stand out."""

from ._files import NamedTable, TableError, read_table
from ._separate import SeparatedTable, centre_and_scale, ratio_of_scales, separate

__all__ = [
    "NamedTable",
    "SeparatedTable",
    "TableError",
    "centre_and_scale",
    "ratio_of_scales",
    "read_table",
    "separate",
]
