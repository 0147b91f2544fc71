"""Tables of numbers: what is regular, and which cells stand out."""

from ._files import NamedTable, TableError, read_table
from ._separate import SeparatedTable, separate

__all__ = ["NamedTable", "SeparatedTable", "TableError", "read_table", "separate"]
