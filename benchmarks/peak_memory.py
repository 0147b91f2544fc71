"""Peak memory of one run in a process of its own, in copies of X, X included.

The high-water mark of the resident memory is reset after imports, compilation and the making of X; what was resident
then, X apart, is the baseline. Needs Linux (`/proc/self/clear_refs`).
"""

import json
import subprocess
import sys
from pathlib import Path

HOW = "high-water mark of resident memory in a fresh process, above what was resident after imports and compilation"


def peak_copies(contender: str, n: int, m: int, rank: int, noise: float, max_iter: int) -> float | None:
    """Peak of `contender` on an n x m matrix, measured in a fresh process; None where it cannot be measured."""
    if not Path("/proc/self/clear_refs").exists():
        return None
    order = json.dumps([contender, n, m, rank, noise, max_iter])
    done = subprocess.run([sys.executable, __file__, order], capture_output=True, text=True)
    if done.returncode:
        print(f"The memory of {contender} was not measured: {done.stderr.strip()}", file=sys.stderr)
        return None
    return float(json.loads(done.stdout.splitlines()[-1]))


def resident(field: str) -> int:
    """Bytes of `VmRSS` (now) or `VmHWM` (peak)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def _measure(name: str, n: int, m: int, rank: int, noise: float, max_iter: int) -> float:
    import gc

    import compare_memory
    import compare_pcp
    import compare_unconstrained
    from stopwatch import Stopwatch
    from tasks import Size, make

    comparisons = (compare_pcp, compare_unconstrained, compare_memory)
    contender = next(known for module in comparisons for known in module.contenders() if known.name == name)
    small = make(Size(90, 80, 2), noise, seed=0)[0].in_dtype(contender.dtype)
    contender.solve(small, Stopwatch(), 20)
    task = make(Size(n, m, rank), noise, seed=0)[0].in_dtype(contender.dtype)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    baseline = resident("VmRSS") - task.X.nbytes
    contender.solve(task, Stopwatch(), max_iter)
    return (resident("VmHWM") - baseline) / task.X.nbytes


if __name__ == "__main__":
    from environment import pin_threads

    pin_threads()
    print(json.dumps(_measure(*json.loads(sys.argv[1]))))
