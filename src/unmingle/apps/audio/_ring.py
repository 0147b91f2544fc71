"""A ring of samples between two threads."""

import numpy as np

from ..._types import AnyArray


class Ring:
    """Holds up to so many samples (n, channels); one thread writes, another one reads, and neither waits.

    Each side moves a count of its own only: samples that were written and samples that were read.
    """

    def __init__(self, capacity: int, channels: int) -> None:
        self._samples = np.zeros((capacity, channels), np.float32)
        self._written, self._read = 0, 0

    def __len__(self) -> int:
        return self._written - self._read

    def write(self, block: AnyArray) -> int:
        """Add samples, and return how many had room."""
        count = min(len(block), len(self._samples) - len(self))
        first, rest = self._places(self._written, count)
        self._samples[first] = block[: first.stop - first.start]
        self._samples[rest] = block[first.stop - first.start : count]
        self._written += count
        return count

    def read_into(self, out: AnyArray) -> int:
        """Fill an array with the samples that have waited longest, and return how many there were."""
        count = min(len(out), len(self))
        first, rest = self._places(self._read, count)
        out[: first.stop - first.start] = self._samples[first]
        out[first.stop - first.start : count] = self._samples[rest]
        self._read += count
        return count

    def skip(self, count: int) -> int:
        """Drop the samples that have waited longest, and return how many there were."""
        count = min(count, len(self))
        self._read += count
        return count

    def _places(self, start: int, count: int) -> tuple[slice, slice]:
        """Where samples lie: up to the end, and on from the beginning."""
        capacity = len(self._samples)
        place = start % capacity
        before = min(count, capacity - place)
        return slice(place, place + before), slice(0, count - before)
