"""What the processes do that get killed; in a module of its own, which they can import."""

import numpy as np

from unmingle import OnlineRobustPCA


def model(**options):
    return OnlineRobustPCA(**{"n_components": 3, "batch_size": 16, "random_state": 0, **options})


def learn_with_checkpoints(data, checkpoint, batches, every):
    """Learn, and tell how many batches are done: -1 until all compiled code is loaded."""
    X = np.load(data, mmap_mode="r")
    model().fit(X[:200])
    batches.value = 0

    def count(_):
        batches.value += 1

    model().fit(X, checkpoint=checkpoint, every=every, callback=count)
