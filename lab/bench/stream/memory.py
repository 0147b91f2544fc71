"""Part "memory" of comparison "stream": peak memory of a process in which a stream goes on and on.

The high-water mark of the resident memory is reset after imports and compilation; what was resident then is the
baseline.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from unmingle import OnlineRobustPCA
from unmingle.synth import StreamBlock, subspace_stream

from ..shared.peak_memory import baseline, in_fresh_process, obey, peak

FEATURES, RANK, BLOCK_SIZE = 200, 5, 100
CHECKPOINTS = (10_000, 100_000, 1_000_000)
QUICK_CHECKPOINTS = (2000, 10_000)


def peaks(checkpoints: Sequence[int]) -> dict[str, Any]:
    """Bytes at the baseline and the peak until each checkpoint; None where they cannot be measured."""
    facts = {"features": FEATURES, "rank": RANK, "block_size": BLOCK_SIZE, "checkpoints": list(checkpoints)}
    return facts | (in_fresh_process("lab.bench.stream.memory", checkpoints) or {"baseline": None, "peaks": None})


def _stream(n: int, seed: int) -> Iterator[StreamBlock]:
    return subspace_stream(n, FEATURES, RANK, noise=0.05, block_size=BLOCK_SIZE, random_state=seed)


def _measure(checkpoints: Sequence[int]) -> dict[str, Any]:
    practice = OnlineRobustPCA(RANK, random_state=0)
    for block in _stream(5 * BLOCK_SIZE, seed=1):
        practice.partial_fit(block.X)
    model = OnlineRobustPCA(RANK, random_state=0)
    del practice, block
    begin = baseline()
    blocks = _stream(checkpoints[-1], seed=0)
    found = [peak() for block in blocks if model.partial_fit(block.X).n_samples_seen_ in checkpoints]
    return {"baseline": begin, "peaks": found}


if __name__ == "__main__":
    obey(_measure)
