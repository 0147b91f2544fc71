"""Arrays in files of NumPy, judged by what they say of themselves before anything is read."""

import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ._types import AnyArray

_COPIES = 3
"""A table is read to be taken apart: this number of arrays of its size must fit into memory."""


class DamagedError(ValueError):
    """A file of NumPy that cannot be read."""


class ArrayHeader(NamedTuple):
    """What a file says of its array."""

    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]

    @property
    def n_bytes(self) -> int:
        """How many bytes follow."""
        return math.prod(self.shape) * self.dtype.itemsize


@contextmanager
def damage_as_error() -> Iterator[None]:
    """Whatever NumPy and zipfile raise at a damaged file becomes a DamagedError; what the system says stays."""
    try:
        yield
    except (MemoryError, DamagedError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise DamagedError("The file is damaged or holds Python objects.") from error


def read_header(file: Any) -> ArrayHeader:
    """Read the header of an array, up to its first number."""
    with damage_as_error():
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        header = ArrayHeader(*read(file))
        if header.dtype.hasobject or not all(type(size) is int and size >= 0 for size in header.shape):
            raise DamagedError("The file holds Python objects.")
        return header


def npy_header(path: Path) -> ArrayHeader:
    """Read the header of a .npy file, which must hold as many bytes as it says."""
    with path.open("rb") as file:
        header = read_header(file)
        if header.n_bytes > os.fstat(file.fileno()).st_size - file.tell():
            raise DamagedError("The file is cut off.")
    return header


def map_npy(path: Path) -> AnyArray:
    """Open the array of a .npy file without reading it."""
    npy_header(path)
    with damage_as_error():
        return np.load(path, mmap_mode="r", allow_pickle=False)


def npz_names(path: Path) -> list[str]:
    """The names of the arrays in a .npz file."""
    with damage_as_error(), zipfile.ZipFile(path) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


def npz_header(path: Path, name: str) -> ArrayHeader:
    """Read the header of one of the arrays, which must be as long as the archive says."""
    with damage_as_error(), zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as file:
        header = read_header(file)
        if header.n_bytes != archive.getinfo(f"{name}.npy").file_size - file.tell():
            raise DamagedError("An array is not as long as it should be.")
        return header


def read_npy(path: Path) -> AnyArray:
    """Read the array of a .npy file."""
    with damage_as_error(), path.open("rb") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def read_npz(path: Path, name: str) -> AnyArray:
    """Read one of the arrays of a .npz file."""
    with damage_as_error(), zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def check_memory(header: ArrayHeader) -> None:
    """Raise a MemoryError if an array is too large to be read and taken apart."""
    known = getattr(os, "sysconf_names", {})
    if {"SC_PAGE_SIZE", "SC_PHYS_PAGES"} <= set(known):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if 0 < memory < _COPIES * header.n_bytes:
            raise MemoryError
