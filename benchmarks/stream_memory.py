"""Part "memory" of comparison "stream": peak memory of a process in which a stream goes on and on.

The high-water mark of the resident memory is reset after imports and compilation; what was resident then is the
baseline. Needs Linux (`/proc/self/clear_refs`).
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FEATURES, RANK, BLOCK_SIZE = 200, 5, 100
CHECKPOINTS = (10_000, 100_000, 1_000_000)
QUICK_CHECKPOINTS = (2000, 10_000)


def peaks(checkpoints: Sequence[int]) -> dict[str, Any]:
    """Bytes at the baseline and the peak until each checkpoint; None where they cannot be measured."""
    facts = {"features": FEATURES, "rank": RANK, "block_size": BLOCK_SIZE, "checkpoints": list(checkpoints)}
    if not Path("/proc/self/clear_refs").exists():
        return facts | {"baseline": None, "peaks": None}
    done = subprocess.run([sys.executable, __file__, json.dumps(checkpoints)], capture_output=True, text=True)
    if done.returncode:
        print(f"The memory over time was not measured: {done.stderr.strip()}", file=sys.stderr)
        return facts | {"baseline": None, "peaks": None}
    return facts | json.loads(done.stdout.splitlines()[-1])


def _measure(checkpoints: Sequence[int]) -> dict[str, Any]:
    import gc

    from peak_memory import resident

    from unmingle import OnlineRobustPCA
    from unmingle.synth import subspace_stream

    def stream(n: int, seed: int) -> Any:
        return subspace_stream(n, FEATURES, RANK, noise=0.05, block_size=BLOCK_SIZE, random_state=seed)

    practice = OnlineRobustPCA(RANK, random_state=0)
    for block in stream(5 * BLOCK_SIZE, seed=1):
        practice.partial_fit(block.X)
    model = OnlineRobustPCA(RANK, random_state=0)
    del practice, block
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    baseline = resident("VmRSS")
    found = [
        resident("VmHWM")
        for block in stream(checkpoints[-1], seed=0)
        if model.partial_fit(block.X).n_samples_seen_ in checkpoints
    ]
    return {"baseline": baseline, "peaks": found}


if __name__ == "__main__":
    from environment import pin_threads

    pin_threads()
    print(json.dumps(_measure(json.loads(sys.argv[1]))))
