"""Arrays of NumPy in files, read as tables."""

from collections.abc import Sequence
from pathlib import Path

from ..._numpy_files import (
    ArrayHeader,
    DamagedError,
    check_memory,
    npy_header,
    npz_header,
    npz_names,
    read_npy,
    read_npz,
)
from ..._types import AnyArray
from ._formats import Form, TableError

KINDS_OF_NUMBERS = "biuf"


def read_array(path: Path) -> tuple[AnyArray, Form]:
    """Read the 2-D array of a .npy file, or that of a .npz file which is named X or is the only one."""
    if path.suffix.lower() == ".npy":
        try:
            _check_header(path, npy_header(path))
            return read_npy(path), Form(".npy")
        except DamagedError:
            raise TableError(_unreadable(path, "one 2-D array of numbers saved with numpy.save")) from None
    try:
        name = _array_name(path, npz_names(path))
        _check_header(path, npz_header(path, name))
        return read_npz(path, name), Form(".npz", array=name)
    except DamagedError:
        raise TableError(_unreadable(path, "arrays of numbers saved with numpy.savez")) from None


def _array_name(path: Path, names: Sequence[str]) -> str:
    if "X" in names:
        return "X"
    if len(names) == 1:
        return names[0]
    found = ", ".join(names[:10]) or "none"
    raise TableError(f"{path}: expected a single array or one named X; got {found}.")


def _unreadable(path: Path, expected: str) -> str:
    return f"{path} is damaged or holds Python objects; expected {expected}."


def _check_header(path: Path, header: ArrayHeader) -> None:
    """Refuse an array that is no table of numbers, or too large for the memory, before it is read."""
    if len(header.shape) != 2:
        raise TableError(
            f"{path} holds an array of shape {header.shape}; expected 2 dimensions, one sample per row: reshape it."
        )
    if header.dtype.kind not in KINDS_OF_NUMBERS:
        raise TableError(f"{path} holds an array of type {header.dtype}; expected real numbers.")
    check_memory(header)
