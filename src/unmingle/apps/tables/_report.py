"""The page that shows what was found in a table."""

from typing import Any

from ._separate import SeparatedTable
from ._table import Cleaned, NamedTable


def report_page(
    name: str, table: NamedTable, done: SeparatedTable, cleaned: Cleaned, cells: list[dict[str, Any]]
) -> str:
    """The whole page."""
    return name
