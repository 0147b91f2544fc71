"""The paper's own way to align new images: gradient steps in the transformations, through an encoder of five layers."""

from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmingle.core.encoder.encoder import Encoder

from ._data import FacesApart, covered, shifted
from ._trials import LARGEST, PENALTIES, learnt_from, summary

Array = NDArray[Any]

GRADIENTS = "gradients through the encoder"
WITHOUT_TORCH = "PyTorch is not installed, so gradients through the encoder are left out: pip install torch."
LAYERS, PER_FACE = 5, 4


def has_torch() -> bool:
    """Whether gradients through an encoder can be found here."""
    return find_spec("torch") is not None


def gradient_trials(faces: FacesApart, *, cover: bool, seed: int = 0) -> dict[str, float]:
    """Four shifts of each face, all faces of a fold at once, by gradients through the untrained encoder of the model.

    Parameters
    ----------
    faces : FacesApart
        The set.
    cover : bool
        Whether a square covers a tenth of the frame.
    seed : int
        Of shifts and squares.
    """
    from unmingle import learn
    from unmingle.learn.aligned import align_through

    rng = np.random.default_rng(seed)
    rows = []
    for train, test in faces.folds():
        model = learnt_from(faces, train)[0].model
        rank, outliers = PENALTIES
        network = learn.Network(
            Encoder.from_components(model.sharp, rank_penalty=rank, outlier_penalty=outliers, n_layers=LAYERS)
        )

        def find(images: list[Array], starts: Array, network: Any = network) -> Array:
            return np.asarray(align_through(network, learn.Aligned(images, starts, faces.shape)))

        still = find([faces.images[number] for number in test], faces.starts[test])
        numbers = np.repeat(np.arange(len(test)), PER_FACE)
        shifts = rng.uniform(-LARGEST, LARGEST, (len(numbers), 2))
        moved = [shifted(faces.images[test[i]], shift) for i, shift in zip(numbers, shifts, strict=True)]
        if cover:
            moved = [covered(image, still[i], faces.shape, rng) for image, i in zip(moved, numbers, strict=True)]
        begun = process_time()
        found = find(moved, faces.starts[test][numbers])
        taken = (process_time() - begun) / len(moved)
        off = (found - still[numbers])[:, :2, 2] - shifts
        rows += [(float(error), taken) for error in np.linalg.norm(off, axis=1)]
    return summary(np.array(rows))
