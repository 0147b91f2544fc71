"""Trees of values and arrays, and the parts in which they lie in a file.

A tree is a table of JSON values, arrays, and tables of the same. In a file its arrays lie apart, by their dotted paths.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._rules import MismatchError
from ._types import AnyArray

DEEPEST = 20
"""Tables and lists within each other, at most."""


def take_apart(content: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The JSON values of a tree, and its arrays by their dotted paths.

    Parameters
    ----------
    content : mapping of str
        JSON values, arrays, and mappings of the same.

    Raises
    ------
    MismatchError
        A table that holds arrays has a dot in its name.
    """
    parameters: dict[str, Any] = {}
    arrays: dict[str, AnyArray] = {}
    for name, value in content.items():
        if isinstance(value, np.ndarray):
            arrays[name] = value
        elif isinstance(value, Mapping):
            values, parts = take_apart(value)
            if values or not parts:
                parameters[name] = values
            arrays |= {f"{name}.{path}": part for path, part in parts.items()}
            if parts and "." in name:
                raise MismatchError(f"the table {name!r} holds arrays and has a dot in its name")
        else:
            parameters[name] = value
    return parameters, arrays


def put_together(parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The tree of which `take_apart` gave the parts.

    Parameters
    ----------
    parameters : mapping of str
        JSON values.
    arrays : mapping of str to ndarray
        Arrays by their dotted paths.

    Raises
    ------
    MismatchError
        An array has the place of something else.
    """
    content = _copied(parameters)
    for path, array in arrays.items():
        *tables, name = path.split(".")
        holder: Any = content
        for table in tables[:DEEPEST]:
            holder = holder.setdefault(table, {}) if isinstance(holder, dict) else None
        if len(tables) > DEEPEST or not isinstance(holder, dict) or name in holder:
            raise MismatchError(f"{path!r:.60} is not part of it")
        holder[name] = array
    return content


def is_deep(parameters: dict[str, Any]) -> bool:
    """Whether parameters lie deeper in each other than any that are written."""
    level: list[Any] = [parameters]
    for _ in range(DEEPEST):
        level = [part for whole in level for part in (whole.values() if isinstance(whole, dict) else whole)]
        level = [part for part in level if isinstance(part, dict | list)]
    return bool(level)


def _copied(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table with tables of its own, which may be added to."""
    return {name: _copied(value) if isinstance(value, dict) else value for name, value in table.items()}
