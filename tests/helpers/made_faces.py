"""Faces for the tests of experiments."""

import numpy as np
from PIL import Image


def made_faces(rng, n, shape=(9, 7), rank=3):
    """Mixtures of a few pictures with some spoilt pixels."""
    codes = rng.dirichlet(np.ones(rank), n)
    images = np.tensordot(codes, rng.random((rank, *shape)), 1)
    images[rng.random(images.shape) < 0.05] = 1.0
    return images.astype(np.float32)


def write_pictures(folder, images):
    folder.mkdir(parents=True, exist_ok=True)
    for number, picture in enumerate(images):
        Image.fromarray(np.rint(255 * picture).astype(np.uint8)).save(folder / f"{number:03}.png")
