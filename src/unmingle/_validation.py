"""Checks of what comes from outside, and the sentences that say what is wrong with it."""

import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ._types import Array, BoolArray, Float64Array


EXTRAS = {
    "train": {"torch": "torch"},
    "onnx": {"onnx": "onnx", "onnxruntime": "onnxruntime"},
    "media": {"av": "av", "soundfile": "soundfile", "PIL": "pillow"},
    "dask": {"dask": "'dask[array]'", "distributed": "distributed", "zarr": "zarr"},
    "table": {"pandas": "pandas", "openpyxl": "openpyxl", "pyarrow": "pyarrow"},
    "cli": {"typer": "typer", "rich": "rich", "PIL": "pillow", "pandas": "pandas"},
    "web": {"starlette": "starlette", "uvicorn": "uvicorn", "h11": "h11"},
    "live": {"sounddevice": "sounddevice"},
}
"""For each extra of unmingle the packages in it, by the names to import them, and what pip calls them."""
TITLES = {"torch": "PyTorch", "av": "PyAV", "PIL": "Pillow", "dask": "Dask", "rich": "Rich", "typer": "Typer"}
"""What some of them call themselves."""


def require(module: str, extra: str) -> ModuleType:
    """Import a module that needs an optional package.

    Parameters
    ----------
    module : str
        Full name of the module: the optional package itself, or one of unmingle's modules that imports it.
    extra : str
        The extra of unmingle that installs the package.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    ImportError
        The package is not installed; the message names the command that installs it.

    Examples
    --------
    >>> require("json", extra="cli").dumps([1])
    '[1]'
    >>> require("no_such_package", extra="cli")
    Traceback (most recent call last):
    ImportError: This needs no_such_package, which is not installed: pip install no_such_package
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or module).partition(".")[0]
        if package == "unmingle":
            raise
        names = EXTRAS.get(extra, {})
        missing = [package, *(one for one in names if one != package and not is_installed(one))]
        wanted = " ".join(names.get(one, one) for one in missing)
        message = f"This needs {TITLES.get(package, package)}, which is not installed: pip install {wanted}"
        raise ImportError(message, name=package) from error


def is_installed(package: str) -> bool:
    """Whether an optional package can be imported."""
    try:
        return find_spec(package) is not None
    except ImportError:
        return False


def is_missing(path: Path) -> str:
    """Why there is nothing at a path, in a few words after its name."""
    return "is a link that leads nowhere" if path.is_symlink() else "does not exist"


def first_cause(error: BaseException) -> BaseException:
    """The error at the root of others; of a missing package, the sentence that tells how to install it."""
    while error.__cause__ is not None and not isinstance(error.__cause__, ModuleNotFoundError):
        error = error.__cause__
    return error


def is_panic(error: BaseException) -> bool:
    """Whether an error is a panic of a library written in Rust, which Python does not count among its exceptions."""
    return type(error).__module__ == "pyo3_runtime"


def as_floats(X: Any, name: str = "X") -> "Array":
    """Return ``X`` as an array of float32 or float64, NaN where missing, or say why that cannot be.

    Integers, booleans, strings of numbers and nullable columns of DataFrames become float64. No needless copy is made.
    """
    import numpy as np

    from ._frames import frame_as_floats, is_frame

    if hasattr(X, "toarray"):
        raise TypeError(f"{name} must be a dense array, got a sparse one; convert it with {name}.toarray().")
    if np.ma.isMaskedArray(X):
        return np.ma.filled(X.astype(np.float64), np.nan)
    if is_frame(X):
        return frame_as_floats(X, name)
    if isinstance(X, str | PathLike):
        raise ValueError(f"{name} must hold numbers, got the name of a file, {str(X)!r}; read it first.")
    try:
        array = np.asarray(X)
        dated, imaginary = array.dtype.kind in "Mm", array.dtype.kind == "c"
        if array.dtype not in (np.float32, np.float64) and not dated and not imaginary:
            array = array.astype(np.float64)
    except TypeError:
        raise TypeError(
            f"{name} must hold numbers: an argument must be a string or a real number to be read."
        ) from None
    except (ValueError, OverflowError):
        raise ValueError(f"{name} must hold numbers in rows of equal length; some entry is not a number.") from None
    if imaginary:
        raise ValueError(f"{name} must be real. Complex data not supported; decompose its magnitude instead.")
    if dated:
        raise ValueError(f"{name} must hold numbers, got dates; drop that column or make it the index.")
    return array


def check_matrix(X: Any, name: str = "X") -> "Array":
    """Return ``X`` as a two-dimensional C-ordered array of floats, NaN where missing, or say what is wrong."""
    import numpy as np

    array = as_floats(X, name)
    if array.ndim != 2:
        hint = "; reshape a single sample with X.reshape(1, -1)" if array.ndim == 1 else ""
        raise ValueError(f"{name} must have two dimensions, samples by features, got {array.ndim}{hint}.")
    if 0 in array.shape:
        n, m = array.shape
        raise ValueError(f"{name} must hold at least one sample and one feature, got {n} sample(s) and {m} feature(s).")
    largest = np.max(np.abs(array), where=~np.isnan(array), initial=0.0)
    if np.isinf(largest):
        raise ValueError(f"{name} contains infinity; replace it, by NaN if the entry is to count as missing.")
    if np.isnan(array).all():
        raise ValueError(f"{name} contains only NaN: every entry is missing.")
    return np.ascontiguousarray(array)


def warn_of_rounding(X: "Array") -> None:
    """Warn of columns that vary so little beside their size that squares, in their precision, do not see it.

    These are columns whose median deviation is below sqrt(eps) times their median, but not 0. A column is judged by
    500 rows at most, and a matrix by 2000 columns.
    """
    import numpy as np

    n, m = X.shape
    some = X[:: max(1, n // 500), :: max(1, m // 2000)].astype(np.float64)
    some = some[:, ~np.isnan(some).all(axis=0)]
    middle = np.nanmedian(some, axis=0)
    spread = np.nanmedian(np.abs(some - middle), axis=0)
    least = float(np.sqrt(np.finfo(X.dtype).eps))
    count = int(np.count_nonzero((spread > 0) & (spread < least * np.abs(middle))))
    if count:
        columns = "A column varies by less than" if count == 1 else f"{count} columns vary by less than"
        single = ", or pass float64" if X.dtype == np.float32 else ""
        warnings.warn(
            f"{columns} {least:.0e} of the numbers in it, too little for the precision of {X.dtype}; subtract the "
            f"median first{single}.",
            stacklevel=3,
        )


def within_range(answer: "Array", by: str) -> "Array":
    """Return an answer whose numbers are finite, or say that they are not."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        in_doubt = not np.isfinite(np.sum(answer))
    if in_doubt and not np.isfinite(answer).all():
        raise ValueError(
            f"The answer of this {by} is beyond the range of {answer.dtype}: X, or what was learnt, holds numbers that "
            "are too large."
        )
    return answer


def first_negative(X: "Array") -> tuple[int, int] | None:
    """Row and column of the first negative entry, row by row; None if there is none."""
    import numpy as np

    if not np.fmin.reduce(X, axis=None) < 0:
        return None
    row, column = np.unravel_index(int(np.argmax(X < 0)), X.shape)
    return int(row), int(column)


def refuse_negative(X: "Array", given: Any, by: str) -> None:
    """Say where the first negative entry is, by the names of its row and column if ``given`` has such."""
    place = first_negative(X)
    if place is not None:
        from ._frames import is_frame, place_in

        row, column = place_in(given, *place) if is_frame(given) else place
        raise ValueError(
            f"Negative values in data passed to {by}: the first is {X[place]:g} in row {row!r}, column {column!r}; "
            "make it 0, or NaN if it is unknown, or use RobustPCA, which allows any sign."
        )


def check_mask(mask: Any, shape: tuple[int, ...]) -> "BoolArray":
    """Return a mask of observed entries, or say what is wrong with it."""
    import numpy as np

    array = np.asarray(mask)
    if array.dtype != bool or array.shape != shape:
        raise ValueError(
            f"mask must be a boolean array of the shape of X, {shape}, True where an entry is observed; "
            f"got {array.dtype} of shape {array.shape}."
        )
    return array


def check_positive(value: Any, name: str, *, zero: bool = False) -> float:
    """Return a finite positive number, or say what is wrong with it."""
    wanted = "at least 0" if zero else "above 0"
    plain = value.item() if hasattr(value, "item") else value  # float32 would be compared with the largest as inf
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not (0 <= plain <= sys.float_info.max) or (plain == 0 and not zero):
        raise ValueError(f"{name} must be a finite number {wanted}, got {value!r}.")
    return float(value)


def check_share(value: Any, name: str) -> float:
    """Return a number of at least 0 and below 1, or say what is wrong with it."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else -1.0
    if not 0 <= number < 1:
        raise ValueError(f"{name} must be a number of at least 0 and below 1, got {value!r}.")
    return number


def check_forgetting(value: Any, or_else: str = "") -> float:
    """Return a factor above 0 and at most 1 that the past fades by, or say what is wrong with it."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else 0.0
    if not 0 < number <= 1:
        raise ValueError(f"forgetting must be above 0 and at most 1{or_else}, got {value!r}.")
    return number


def check_optional_forgetting(value: Any) -> float | None:
    """Return None for "auto", or a factor as `check_forgetting` does."""
    return None if isinstance(value, str) and value == "auto" else check_forgetting(value, ", or 'auto'")


def check_count(value: Any, name: str, most: int | None = None) -> int:
    """Return a whole number of at least 1, and at most another one, or say what is wrong with it."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < 1 or (most is not None and value > most):
        wanted = f"from 1 to {most}" if most else "of at least 1"
        raise ValueError(f"{name} must be a whole number {wanted}, got {value!r}.")
    return int(value)


def check_optional_count(value: Any, name: str, most: int | None = None) -> int | None:
    """Return None, or a whole number as `check_count` does."""
    return None if value is None else check_count(value, name, most)


def check_choice(value: Any, name: str, choices: "tuple[str, ...]") -> str:
    """Return one of the choices, or list them."""
    if not isinstance(value, str) or value not in choices:
        wanted = f"one of {', '.join(map(repr, choices))}" if len(choices) > 1 else f"None or {choices[0]!r}"
        raise ValueError(f"{name} must be {wanted}, got {value!r}.")
    return str(value)


def check_outlier_penalty(value: Any, n_features: int) -> "float | Float64Array":
    """Return a positive number, or a vector of them, one for each feature."""
    import numpy as np

    if np.ndim(value) == 0:
        return check_positive(value, "outlier_penalty")
    try:
        vector = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"outlier_penalty must hold numbers, one for each of the {n_features} features.") from None
    if vector.shape != (n_features,):
        raise ValueError(
            f"outlier_penalty must be one number or one for each of the {n_features} features, "
            f"got an array of shape {vector.shape}."
        )
    if not (np.isfinite(vector).all() and (vector > 0).all()):
        raise ValueError("outlier_penalty must be finite and above 0 for every feature.")
    return vector


def given_penalties(rank_penalty: Any, outlier_penalty: Any, n_features: int) -> tuple[float | None, Any]:
    """Both penalties, checked; None stands for "auto"."""
    for name, value in (("rank_penalty", rank_penalty), ("outlier_penalty", outlier_penalty)):
        if isinstance(value, str) and value != "auto":
            raise ValueError(f"{name} must be a number above 0 or 'auto', got {value!r}.")
    return (
        None if isinstance(rank_penalty, str) else check_positive(rank_penalty, "rank_penalty"),
        None if isinstance(outlier_penalty, str) else check_outlier_penalty(outlier_penalty, n_features),
    )


def generator(random_state: Any) -> "np.random.Generator":
    """Random generator from a seed, a Generator, scikit-learn's RandomState, or None for the seed 0.

    What is random here only starts algorithms: unless asked otherwise, the same data give the same numbers.
    """
    import numpy as np

    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(0 if random_state is None else random_state)
    except (TypeError, ValueError):
        raise ValueError(f"random_state must be a seed, a generator or None, got {random_state!r}.") from None
