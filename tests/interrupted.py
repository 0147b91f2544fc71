"""What the processes do that get killed; in a module of its own, which they can import."""

import numpy as np

from unmingle import OnlineRobustPCA


def model(**options):
    return OnlineRobustPCA(**{"n_components": 3, "batch_size": 16, "random_state": 0, **options})


def learn_with_checkpoints(data, checkpoint, started, every):
    started.set()
    model().fit(np.load(data, mmap_mode="r"), checkpoint=checkpoint, every=every)
