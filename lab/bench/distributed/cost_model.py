"""How long a distributed pass takes, from flops, bytes and tasks."""

from dataclasses import dataclass
from math import ceil, log

FLOPS_PER_ENTRY_AND_ATOM = 20
"""Of encoding and summing up one sample: about four evaluations of 4 m q flops, and 4 m q for what follows."""
FAN_IN = 8


@dataclass(frozen=True)
class Work:
    """One pass over n samples of m features with q components, in chunks of rows."""

    n: int
    m: int
    q: int
    rows_per_chunk: int
    itemsize: int

    @property
    def chunks(self) -> int:
        return ceil(self.n / self.rows_per_chunk)

    @property
    def flops(self) -> float:
        return FLOPS_PER_ENTRY_AND_ATOM * self.n * self.m * self.q

    @property
    def bytes_read(self) -> float:
        return self.n * self.m * self.itemsize

    @property
    def bytes_of_statistics(self) -> float:
        """What one chunk returns: A and B, in float64."""
        return self.q * (self.q + self.m) * 8

    def bytes_moved(self, workers: int) -> float:
        """The components to every worker; statistics between workers, all but those that stay where they are."""
        sums = ceil((self.chunks - 1) / (FAN_IN - 1))
        arriving = (self.chunks + sums) * (1 - 1 / workers) + 1
        return self.q * self.m * self.itemsize * workers + arriving * self.bytes_of_statistics


@dataclass(frozen=True)
class Machine:
    """Rates of one worker with one thread."""

    flops_per_second: float
    """Of encoding, all of its overhead included."""
    bytes_read_per_second: float
    bytes_moved_per_second: float = 1e9
    seconds_per_task: float = 2e-3


def seconds_per_pass(work: Work, machine: Machine, workers: int) -> float:
    """Computing and reading are divided among the workers; tasks are dealt out and sums moved by one scheduler."""
    divided = work.flops / machine.flops_per_second + work.bytes_read / machine.bytes_read_per_second
    rounds = ceil(work.chunks / workers) * workers / work.chunks  # the last round may leave some workers idle
    depth = ceil(log(max(work.chunks, 2), FAN_IN))
    tasks = (2 * work.chunks + depth) * machine.seconds_per_task
    return divided * rounds / workers + tasks / workers + work.bytes_moved(workers) / machine.bytes_moved_per_second
