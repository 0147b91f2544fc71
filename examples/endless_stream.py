"""A stream that never ends
===========================

Follow sixty sensors for as long as they run: the plant drifts, sensors fail, and one night it is rebuilt.

Run it with ``python examples/endless_stream.py``.
"""
# sphinx_gallery_thumbnail_path = "table.png"

import tempfile
from pathlib import Path

import numpy as np

import unmingle
from unmingle.synth import subspace_stream

rng = np.random.default_rng(0)
model = unmingle.OnlineRobustPCA(n_components=4, random_state=0)


def report(when: str, truth: np.ndarray) -> None:
    angle = unmingle.metrics.subspace_angle(model.components_, truth)
    print(f"{when:<22} angle to the truth {angle:4.1f} degrees, noise {model.noise_level_:.3f}, jumps {model.n_jumps_}")


# A tenth of all readings is wrong from the first one on, and the plant turns by 40 degrees in 4000 samples.
for block in subspace_stream(4000, 60, 4, rotation=40.0, noise=0.05, random_state=0):
    model.partial_fit(block.X)
report("after 4000 samples", block.basis)

# Save, switch off, load, go on: the numbers are those of a model that never stopped.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "plant.safetensors"
    model.save(path)
    model = unmingle.load(path)

# After the rebuilding nothing is as before; within a few samples the model knows.
for k, block in enumerate(subspace_stream(1000, 60, 4, noise=0.05, block_size=20, random_state=1)):
    model.partial_fit(block.X)
    if k in (0, 1, 4):
        report(f"{20 * (k + 1)} after the rebuilding", block.basis)
report("1000 after", block.basis)

# What to do with it: readings freed of faults.
faulty = block.X.copy()
faulty[3, 17] = 40.0
part = model.decompose(faulty)
print(f"sensor 17 read {faulty[3, 17]:.1f}, expected {part.low_rank[3, 17]:.2f}, in truth {block.low_rank[3, 17]:.2f}")
