"""Peak memory of one run, in copies of X, X included.

The high-water mark of the resident memory is reset after imports, compilation and the making of X; what was resident
then, X apart, is the baseline.
"""

from importlib import import_module

from ..shared.peak_memory import baseline, in_fresh_process, obey, peak
from .stopwatch import Stopwatch
from .tasks import Size, make

HOW = "high-water mark of resident memory in a fresh process, above what was resident after imports and compilation"


def peak_copies(comparison: str, contender: str, size: Size, noise: float, max_iter: int) -> float | None:
    """Peak of a contender of this comparison on a matrix of this size; None where it cannot be measured."""
    return in_fresh_process("lab.bench.matrices.memory", comparison, contender, size, noise, max_iter)


def _measure(comparison: str, name: str, shape: list[int], noise: float, max_iter: int) -> float:
    known = import_module(f"lab.bench.{comparison}.compare").contenders()
    contender = next(contender for contender in known if contender.name == name)
    small = make(Size(90, 80, 2), noise, seed=0)[0].in_dtype(contender.dtype)
    contender.solve(small, Stopwatch(), 20)
    task = make(Size(*shape), noise, seed=0)[0].in_dtype(contender.dtype)
    resident = baseline() - task.X.nbytes
    contender.solve(task, Stopwatch(), max_iter)
    return (peak() - resident) / task.X.nbytes


if __name__ == "__main__":
    obey(_measure)
