"""Tables of numbers: read from files with all that stands beside the numbers, taken apart, cleaned, written back."""

from typing import TYPE_CHECKING

from ..._lazy import lazy_names

if TYPE_CHECKING:
    from ._apply import AppliedResult as AppliedResult
    from ._apply import apply as apply
    from ._formats import TableError as TableError
    from ._result import Result as Result
    from ._separate import separate as separate
    from ._settings import ApplySettings as ApplySettings
    from ._settings import ModelSettings as ModelSettings
    from ._settings import Outputs as Outputs
    from ._settings import Reading as Reading
    from ._settings import Settings as Settings
    from .fitting import fit_table as fit_table
    from .reading import read_table as read_table
    from .table import NamedTable as NamedTable
    from .writing import write_table as write_table

_HOMES = {
    "AppliedResult": "_apply",
    "ApplySettings": "_settings",
    "ModelSettings": "_settings",
    "NamedTable": "table",
    "Outputs": "_settings",
    "Reading": "_settings",
    "Result": "_result",
    "Settings": "_settings",
    "TableError": "_formats",
    "apply": "_apply",
    "fit_table": "fitting",
    "read_table": "reading",
    "separate": "_separate",
    "write_table": "writing",
}
__all__ = [
    "AppliedResult",
    "ApplySettings",
    "ModelSettings",
    "NamedTable",
    "Outputs",
    "Reading",
    "Result",
    "Settings",
    "TableError",
    "apply",
    "fit_table",
    "read_table",
    "separate",
    "write_table",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
