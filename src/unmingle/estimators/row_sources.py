"""Where samples come from: arrays in memory or on disk, and iterables of blocks, as batches of equal size."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from .._types import AnyArray

_ROWS_AT_ONCE = 1024
"""Rows read at once from an array, or more if its chunks hold more."""


@dataclass(frozen=True)
class RecentLimits:
    """How much of a stream is kept to tell what is ordinary now."""

    rows: int = 1000
    """This number of the last rows is kept at most."""
    numbers: int = 2**18
    """They hold this number of numbers at most, unless that is less than a start."""


RECENT = RecentLimits()


@dataclass(frozen=True, eq=False)
class RecentRows:
    """The last rows of a stream, in memory that does not grow."""

    least: int
    """Rows that are kept at least."""
    blocks: tuple[AnyArray, ...] = ()

    def add(self, block: AnyArray) -> "RecentRows":
        """With a copy of a block, without those before it that are not needed any more."""
        most = self._most(block.shape[1])
        blocks = (*self.blocks, block[-most:].copy())
        spare, first = sum(map(len, blocks)) - most, 0
        while spare >= len(blocks[first]):
            spare, first = spare - len(blocks[first]), first + 1
        return replace(self, blocks=blocks[first:])

    def _most(self, m: int) -> int:
        return max(self.least, min(RECENT.rows, RECENT.numbers // m))

    def to_read_again(self, n_seen: int, m: int, batch_size: int) -> int:
        """How many of the rows seen, in whole batches, fill it again after an interruption."""
        return min(n_seen, (self._most(m) // batch_size + 2) * batch_size)

    def rows(self) -> AnyArray | None:
        """All that are kept, in their order."""
        return np.concatenate(self.blocks) if self.blocks else None


def in_memory(X: Any) -> bool:
    """Whether X lies in memory as one table: an array, a DataFrame or nested lists."""
    if isinstance(X, np.memmap):
        return False
    if isinstance(X, np.ndarray | np.generic | str) or hasattr(X, "columns") or hasattr(X, "toarray"):
        return True
    if isinstance(X, list | tuple):
        return not (X and np.ndim(X[0]) > 1)
    return not on_disk(X) and not isinstance(X, Iterable)


def on_disk(X: Any) -> bool:
    """Whether X is an array that is read by slices: a memory map, or one of zarr, HDF5 or Dask."""
    return isinstance(X, np.memmap) or (
        not isinstance(X, np.ndarray) and all(hasattr(X, name) for name in ("shape", "dtype", "__getitem__"))
    )


def batches(X: Any, size: int, skip: int = 0) -> Iterator[AnyArray]:
    """Rows of X in batches of ``size``, whatever blocks they come in; the first ``skip`` left out.

    Parameters
    ----------
    X : array, array on disk, or iterable of samples and blocks of samples
        The rows.
    size : int
        Rows of a batch.
    skip : int
        Rows to leave out; those of an array are not even read.
    """
    blocks = _slabs(X, skip) if in_memory(X) or on_disk(X) else _without_first(map(_as_block, X), skip)
    waiting: list[AnyArray] = []
    count = 0
    for block in blocks:
        start = 0
        if waiting and block.shape[1] != (m := waiting[0].shape[1]):
            raise ValueError(f"X must yield samples with equally many features, got {m} and then {block.shape[1]}.")
        while len(block) - start >= size - count:
            end = start + size - count
            yield np.concatenate([*waiting, block[start:end]]) if waiting else block[start:end]
            waiting, count, start = [], 0, end
        if start < len(block):
            waiting.append(block[start:])
            count += len(block) - start
    if waiting:
        yield np.concatenate(waiting)


def first_row(X: Any) -> tuple[AnyArray | None, Any]:
    """The first row of X and X itself, made whole again if it is an iterator; None if there is no row."""
    if in_memory(X) or on_disk(X):
        return (np.asarray(X[0]) if X.shape[0] else None), X
    rest = iter(X)
    for block in map(_as_block, rest):
        if len(block):
            return block[0], chain([block], rest)
    return None, iter(())


def _slabs(X: Any, start: int) -> Iterator[AnyArray]:
    """Slices of an array that do not cut its chunks, from a row on."""
    chunks = getattr(X, "chunks", None)
    rows = chunks[0] if chunks else _ROWS_AT_ONCE
    rows = rows if isinstance(rows, int) else max(rows)
    step = rows * max(1, _ROWS_AT_ONCE // rows)
    while start < X.shape[0]:
        end = min(start - start % step + step, X.shape[0])
        yield np.asarray(X[start:end])
        start = end


def _as_block(block: Any) -> AnyArray:
    rows = np.asarray(block)
    if rows.ndim not in (1, 2):
        raise ValueError(f"X must yield samples or blocks of samples, got an item with {rows.ndim} dimensions.")
    return rows[None] if rows.ndim == 1 else rows


def _without_first(blocks: Iterable[AnyArray], skip: int) -> Iterator[AnyArray]:
    for block in blocks:
        if skip < len(block):
            yield block[skip:]
        skip = max(skip - len(block), 0)
