"""What the processes do that get killed; in a module of its own, which they can import."""

import numpy as np

from unmingle import OnlineRobustPCA


def model(**options):
    return OnlineRobustPCA(**{"n_components": 3, "batch_size": 16, "random_state": 0, **options})


def learn_with_checkpoints(data, checkpoint, started, every):
    X = np.load(data, mmap_mode="r")
    model().fit(X[:200])  # loads all compiled code
    started.set()
    model().fit(X, checkpoint=checkpoint, every=every)
