"""Models to and from ``.safetensors`` files.

What is saved is a tree: a table of JSON values, arrays, and tables of the same. In the file the arrays are separate,
under their dotted paths: ``{"fitted": {"mean": array, "count": 3}}`` is the array ``fitted.mean`` beside the
parameters ``{"fitted": {"count": 3}}``. Kind, format version, parameters (as JSON) and a checksum of all content are
one entry of the file's metadata; the arrays are its tensors. Reading runs no code from the file.

This module knows no classes. Saving names a kind, and loading finds the class by that name; `Storable` and `Kind` say
what such a class needs.
"""

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from ._atomic_files import hold_new, remove_abandoned
from ._rules import MismatchError, Rule, check
from ._types import AnyArray
from ._validation import is_missing, is_panic

FORMAT_VERSION = 1
DEEPEST = 20
"""Tables and lists within each other, at most."""

_METADATA_KEY = "unmingle"
_TEMPORARY_NAME = r"\.unmingle-[0-9a-f]{16}(\..*)?"
"""Names of files while they are written."""
_DTYPES = {
    "BOOL": "bool",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
}


class StoreError(ValueError):
    """A file that cannot be read or written, with the reason in one sentence."""


class Stored(NamedTuple):
    """The content of a file."""

    kind: str
    version: int
    parameters: dict[str, Any]
    arrays: dict[str, AnyArray]


class ArrayInfo(NamedTuple):
    """Shape and dtype of a stored array."""

    shape: tuple[int, ...]
    dtype: str


class Header(NamedTuple):
    """The content of a file, without the values of its arrays."""

    kind: str
    version: int
    parameters: dict[str, Any]
    arrays: dict[str, ArrayInfo]


class Storable(Protocol):
    """What can be stored, alone or as a part of something else."""

    def _to_store(self) -> dict[str, Any]:
        """What a file holds of it: a tree of JSON values, arrays and tables."""
        ...

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        """The object of which `_to_store` gave the tree."""
        ...


class Kind(Storable, Protocol):
    """What has files of its own."""

    @classmethod
    def _schema(cls, content: dict[str, Any]) -> Rule:
        """What the tree must be; it may depend on what is there, none of which has been checked."""
        ...


def save(path: str | PathLike[str], kind: str, content: Mapping[str, Any], schema: Rule | None = None) -> None:
    """Write a tree to a file, as a whole or not at all, and only one that can be read back.

    Parameters
    ----------
    path : path
        Where to write; an older file there is replaced.
    kind : str
        What is stored, by the name of its class.
    content : mapping of str
        JSON values, arrays, and mappings of the same.
    schema : Rule, optional
        What reading will demand of the content.

    Raises
    ------
    StoreError
        The content cannot be stored or the file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save(f"{folder}/model.safetensors", "Scaler", {"fitted": {"mean": np.zeros(3), "count": 3}})
    ...     stored = read(f"{folder}/model.safetensors")
    >>> stored.parameters, stored.arrays
    ({'fitted': {'count': 3}}, {'fitted.mean': array([0., 0., 0.])})
    >>> put_together(stored.parameters, stored.arrays)
    {'fitted': {'count': 3, 'mean': array([0., 0., 0.])}}
    """
    try:
        parameters, arrays = take_apart(content)
        if schema is not None:
            check(put_together(_description(kind, FORMAT_VERSION, parameters)["parameters"], arrays), schema)
    except MismatchError as error:
        raise StoreError(f"This {kind} cannot be stored: {error}.") from error
    write(path, kind, parameters, arrays)


def write(
    path: str | PathLike[str],
    kind: str,
    parameters: Mapping[str, Any],
    arrays: Mapping[str, AnyArray],
) -> None:
    """Write JSON values and arrays to a file, as a whole or not at all.

    Parameters
    ----------
    path : path
        Where to write; an older file there is replaced.
    kind : str
        What is stored, by the name of its class.
    parameters : mapping of str
        JSON values, with NaN, infinities and NumPy scalars allowed; tuples come back as lists.
    arrays : mapping of str to ndarray
        Real, integer or boolean arrays, which come back equal in every bit.

    Raises
    ------
    StoreError
        The content cannot be stored or the file cannot be written.
    """
    portable = {name: _portable(name, array) for name, array in arrays.items()}
    description = _description(kind, FORMAT_VERSION, parameters)
    entry = json.dumps({**description, "checksum": _checksum(description, portable)})
    content = to_safetensors(portable, metadata={_METADATA_KEY: entry})
    with write_atomically(path) as temporary:
        temporary.write_bytes(content)


def read(path: str | PathLike[str]) -> Stored:
    """Read a file and check it.

    Parameters
    ----------
    path : path
        A file from `write`.

    Returns
    -------
    Stored
        Kind, format version, parameters and arrays.

    Raises
    ------
    StoreError
        The file is missing, damaged, not one of unmingle's, or of a newer format.
    """
    with _opened(path) as file:
        header, checksum = _read_header(path, file)
        arrays = {name: file.get_tensor(name) for name in header.arrays}
    if checksum != _checksum(_description(*header[:3]), arrays):
        raise StoreError(f"{path} is damaged: its checksum does not match its content.")
    return Stored(*header[:3], arrays)


def peek(path: str | PathLike[str]) -> Header:
    """Read what a file holds, but neither the values of its arrays nor, therefore, its checksum.

    Parameters
    ----------
    path : path
        A file from `write`.

    Returns
    -------
    Header
        Kind, format version, parameters, and the shape and dtype of each array.

    Raises
    ------
    StoreError
        The file is missing, not one of unmingle's, of a newer format, or damaged in its header.
    """
    with _opened(path) as file:
        return _read_header(path, file)[0]


def restore(path: str | PathLike[str], stored: Stored, kind: type[Kind]) -> Any:
    """Make what a file holds, by the class that its kind stands for.

    Parameters
    ----------
    path : path
        The file, for errors.
    stored : Stored
        Its content.
    kind : type
        A class with the methods of `Kind`.

    Returns
    -------
    object

    Raises
    ------
    StoreError
        Something is missing, is surplus or breaks its rule.
    """
    try:
        content = put_together(stored.parameters, stored.arrays)
        check(content, kind._schema(content))
        return kind._from_store(content)
    except Exception as error:
        reason = f": {str(error).removesuffix('.')}" if type(error) in (MismatchError, ValueError) else ""
        raise StoreError(f"{path} does not hold a complete {stored.kind}{reason}.") from error


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


def _is_deep(parameters: dict[str, Any]) -> bool:
    """Whether parameters lie deeper in each other than any that are written."""
    level: list[Any] = [parameters]
    for _ in range(DEEPEST):
        level = [part for whole in level for part in (whole.values() if isinstance(whole, dict) else whole)]
        level = [part for part in level if isinstance(part, dict | list)]
    return bool(level)


def _copied(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table with tables of its own, which may be added to."""
    return {name: _copied(value) if isinstance(value, dict) else value for name, value in table.items()}


@contextmanager
def write_atomically(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a temporary file to write, then put it in the place of `path` in one step.

    If anything fails before, `path` stays as it was and the temporary file is removed; that of a run which was killed
    is removed by the next one that writes to the same folder.

    Parameters
    ----------
    path : path
        The file to write or replace.

    Yields
    ------
    Path
        An empty file in the same folder, with the same suffix.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".unmingle-{secrets.token_hex(8)}{target.suffix}")
    remove_abandoned(target.parent, _TEMPORARY_NAME)
    held = None
    try:
        if target.exists() and not target.is_file():
            raise StoreError(f"{path} cannot be written: it exists and is not a file.")
        held = hold_new(temporary)
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {_reason(error)}.") from error
    finally:
        with suppress(OSError):
            temporary.unlink()
        if held is not None:
            held.release()


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _portable(name: str, array: AnyArray) -> AnyArray:
    """The array in C order and little-endian, as it lies in the file."""
    array = np.asarray(array)
    if array.dtype.name not in _DTYPES.values():
        raise StoreError(f"Array {name!r} cannot be stored: its dtype is {array.dtype}, not a real number.")
    if name == "__metadata__":
        raise StoreError("Array '__metadata__' cannot be stored: the file format reserves this name.")
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def _description(kind: str, version: int, parameters: Mapping[str, Any]) -> dict[str, Any]:
    try:
        plain = json.loads(json.dumps(dict(parameters), default=_plain))
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"The parameters of a {kind} cannot be stored: {error}.") from error
    if _is_deep(plain):
        raise StoreError(f"The parameters of a {kind} cannot be stored: they are more than {DEEPEST} levels deep.")
    return {"kind": kind, "format": version, "parameters": plain}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _checksum(description: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> str:
    digest = sha256(json.dumps(description).encode())
    for name in sorted(arrays):
        array = _portable(name, arrays[name])
        digest.update(json.dumps([name, array.dtype.name, array.shape]).encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


@contextmanager
def _opened(path: str | PathLike[str]) -> Iterator[Any]:
    try:
        if not Path(path).exists():
            raise StoreError(f"{path} {is_missing(Path(path))}.")
        if not Path(path).is_file():
            raise StoreError(f"{path} is not a file.")
        with safe_open(path, framework="numpy") as file:
            yield file
    except SafetensorError as error:
        raise StoreError(f"{path} is damaged or not a .safetensors file.") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {_reason(error)}.") from error
    except MemoryError as error:
        raise StoreError(f"{path} does not fit into memory.") from error
    except BaseException as error:
        if is_panic(error):
            raise StoreError(f"{path} is damaged or not a .safetensors file.") from error
        raise


def _read_header(path: str | PathLike[str], file: Any) -> tuple[Header, str]:
    entry = (file.metadata() or {}).get(_METADATA_KEY)
    if entry is None:
        raise StoreError(f"{path} was not written by unmingle.")
    match _parsed(entry):
        case {"format": int(version)} if version > FORMAT_VERSION:
            raise StoreError(
                f"{path} has format {version}, but this unmingle reads formats up to {FORMAT_VERSION}; "
                "install a newer unmingle."
            )
        case {
            "format": int(version),
            "kind": str(kind),
            "parameters": dict(parameters),
            "checksum": str(checksum),
        } if version >= 1 and not _is_deep(parameters):
            return Header(kind, version, parameters, _array_infos(path, file)), checksum
        case _:
            raise StoreError(f"{path} is damaged: its header is invalid.")


def _parsed(entry: str) -> Any:
    try:
        return json.loads(entry)
    except (ValueError, RecursionError):
        return None


def _array_infos(path: str | PathLike[str], file: Any) -> dict[str, ArrayInfo]:
    infos = {}
    for name in sorted(file.keys()):
        stored = file.get_slice(name)
        dtype = stored.get_dtype()
        if dtype not in _DTYPES:
            raise StoreError(f"{path} is damaged: its array {name!r} is of type {dtype}.")
        infos[name] = ArrayInfo(tuple(stored.get_shape()), _DTYPES[dtype])
    return infos
