"""Tables with named columns, of pandas or polars, which are recognised without importing either."""

from typing import Any

import numpy as np

from ._types import Array


def is_frame(X: Any) -> bool:
    """Whether ``X`` is a DataFrame of pandas or polars."""
    return hasattr(X, "columns") and (hasattr(X, "iloc") or _is_polars(X))


def like_frame(frame: Any, values: Array) -> Any:
    """A frame with other values: of the same library, with the same columns and the same index, if it has one."""
    if _is_polars(frame):
        return type(frame)(values, schema=list(frame.columns))
    return type(frame)(values, index=frame.index, columns=frame.columns)


def place_in(frame: Any, row: int, column: int) -> tuple[Any, Any]:
    """What a frame calls a row and a column."""
    return (row if _is_polars(frame) else frame.index[row]), frame.columns[column]


def frame_as_floats(frame: Any, name: str) -> Array:
    """The numbers of a frame, NaN where missing; the first column without numbers is named in the error."""
    if not _is_polars(frame) and all(isinstance(one, np.dtype) and one.kind == "f" for one in frame.dtypes):
        values = np.asarray(frame)
        return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    columns = [_column_of(frame, j) for j in range(len(frame.columns))]
    single = bool(columns) and all(str(column.dtype).lower() == "float32" for column in columns)
    dtype = np.float32 if single else np.float64
    values = np.empty((len(frame), len(columns)), dtype)
    for j, column in enumerate(columns):
        dated = str(column.dtype).lower().startswith(("date", "time", "duration", "period"))
        try:
            if dated:
                raise ValueError
            values[:, j] = _numbers_of(column)
        except Exception:  # polars has errors of its own
            raise ValueError(_refusal(name, frame.columns[j], column, dated)) from None
    return values


def _is_polars(X: Any) -> bool:
    return hasattr(X, "get_columns") and hasattr(X, "schema")


def _column_of(frame: Any, j: int) -> Any:
    return frame.get_columns()[j] if _is_polars(frame) else frame.iloc[:, j]


def _numbers_of(column: Any) -> Any:
    if hasattr(column, "iloc"):
        return column.to_numpy(np.float64, na_value=np.nan)
    return (
        np.array([np.nan if entry is None else float(entry) for entry in column])
        if _is_text(column)
        else (column.cast(float).to_numpy())
    )


def _is_text(column: Any) -> bool:
    return str(column.dtype).startswith(("String", "Utf8", "Categorical", "Enum", "Object"))


def _refusal(name: str, title: Any, column: Any, dated: bool) -> str:
    """Which column has no numbers, what it has, and what to do."""
    if dated:
        return f"{name} must hold numbers, got dates in column {title!r}; drop that column or make it the index."
    entry = next((entry for entry in column if not _is_number(entry)), "")
    return (
        f"{name} must hold numbers, but column {title!r} holds {_shortened(entry)}; "
        "drop that column, or turn it into numbers first, as OneHotEncoder does."
    )


def _is_number(entry: Any) -> bool:
    try:
        float(entry)
    except (TypeError, ValueError):
        return entry is None
    return True


def _shortened(entry: Any) -> str:
    text = repr(entry)
    return text if len(text) <= 40 else f"{text[:37]}..."
