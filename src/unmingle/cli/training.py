"""What `unmingle train` does: samples from files or a folder of images, and a trained encoder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimators import LearnedRobustPCA
from ..iterate import Callback, Progress
from ..media import SizesDifferError, read_images
from .files import TableError, read_table

Array = NDArray[Any]


class Samples(NamedTuple):
    """Samples in rows."""

    X: Array
    """(n, m): NaN where missing."""
    told: str
    """What they are, in a few words."""


def read_samples(path: Path, size: tuple[int, int] | None = None) -> Samples:
    """Read a .npy, .npz or .csv file, or a folder of images, one image for each row.

    Parameters
    ----------
    path : Path
        The file or folder.
    size : pair of int, optional
        Height and width to bring images to.

    Raises
    ------
    TableError, MediaError
        There are no samples, or not of one form.
    """
    if not path.is_dir():
        return Samples(read_table(path).values, path.name)
    try:
        pixels = read_images(path, size).pixels
    except SizesDifferError as error:
        raise TableError(f"{str(error).removesuffix('.')}; --size HxW brings all images to one size.") from None
    count, height, width = pixels.shape
    told = f"{path.resolve().name}, {count} images of {height} x {width} pixels"
    return Samples(pixels.reshape(count, height * width), told)


def read_parts(
    background: Path, foreground: Path, shape: tuple[int, ...], size: tuple[int, int] | None = None
) -> Array:
    """Read the true parts of samples, an array of shape (n, 2, m).

    Parameters
    ----------
    background, foreground : Path
        Files or folders, as the samples.
    shape : tuple of int
        That of the samples.
    size : pair of int, optional
        Height and width to bring images to.

    Raises
    ------
    TableError, MediaError
        A part is not readable, not complete or of another shape.
    """
    parts = []
    for path in (background, foreground):
        part = read_samples(path, size).X
        if part.shape != shape:
            raise TableError(f"{path} has {_form(part.shape)}, but the samples have {_form(shape)}.")
        if not np.isfinite(part).all():
            raise TableError(f"{path} has missing entries; the true parts must be complete.")
        parts.append(part)
    return np.stack(parts, axis=1)


def _form(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} rows and {shape[1]} columns"


def learn(
    model: LearnedRobustPCA,
    samples: Samples,
    parts: Array | None,
    checkpoint: Path,
    callback: Callback,
    tell: Callable[[str], None],
) -> None:
    """Train a model, from a checkpoint on if there is one, and write into its card what it was trained on.

    Parameters
    ----------
    model : LearnedRobustPCA
        The model.
    samples : Samples
        What to learn from.
    parts : array of shape (n, 2, m), optional
        True background and foreground.
    checkpoint : Path
        File that the work is kept in until it is complete.
    callback : callable
        Told how far it is, now and then.
    tell : callable
        Told in a sentence when training goes on from a checkpoint that fits.
    """
    news = [f"Going on from {checkpoint}."] if checkpoint.exists() else []

    def advance(progress: Progress) -> None:
        while news:
            tell(news.pop())
        callback(progress)

    model.fit(samples.X, parts, callback=advance, checkpoint=checkpoint)
    while news:
        tell(news.pop())
    model.card_ = {"data": samples.told, **model.card_}
