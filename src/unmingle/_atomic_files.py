"""Temporary files, each locked by its writer: one that nobody holds was left behind by a killed run.

Where the system has no such locks, nothing is taken for left behind.
"""

import os
import re
from contextlib import suppress
from os import PathLike
from pathlib import Path
from time import sleep
from typing import Any

try:
    import fcntl as _fcntl
except ImportError:  # Windows
    _fcntl = None  # type: ignore[assignment]
locks: Any = _fcntl

_LOCK_ATTEMPTS = 100
"""A new file is locked within this number of hundredths of a second."""
_swept: set[tuple[Path, str]] = set()
"""Folders, and patterns of names, that this process has looked through for files left behind."""


class Hold:
    """A lock on a file, which ends with the process, however that ends."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the file up."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def hold(path: str | PathLike[str]) -> Hold:
    """Create a file, or take one that was left behind, so that nobody else takes it until it is released.

    Raises
    ------
    BlockingIOError
        Another process holds it.
    OSError
        It cannot be written.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(descriptor)
            still_there = os.path.samestat(os.fstat(descriptor), os.stat(path))
        except FileNotFoundError:
            still_there = False
        except OSError:
            os.close(descriptor)
            raise
        if still_there and locks is not None:
            return Hold(descriptor)
        os.close(descriptor)
        if locks is None:
            return Hold(None)


def hold_new(path: str | PathLike[str]) -> Hold:
    """Hold a file whose name nobody else has; somebody who sweeps the folder may have it in hand for a moment."""
    for _ in range(_LOCK_ATTEMPTS):
        try:
            return hold(path)
        except BlockingIOError:
            sleep(0.01)
    return hold(path)


def _lock(descriptor: int) -> bool:
    """Whether a file is locked now; some file systems have no locks."""
    if locks is None:
        return False
    try:
        locks.flock(descriptor, locks.LOCK_EX | locks.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def remove_abandoned(folder: Path, pattern: str) -> None:
    """Remove the files of a folder, by the pattern of their whole names, that no process holds; once in a process."""
    if (folder, pattern) in _swept:
        return
    _swept.add((folder, pattern))
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if re.fullmatch(pattern, entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove_unless_held(entry.path)


def _remove_unless_held(path: str) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        if _lock(descriptor):
            os.unlink(path)
    finally:
        os.close(descriptor)
