"""What is asked of `separate`: settings and outputs; light to import, since the command makes its options of them."""

from dataclasses import dataclass
from os import PathLike
from typing import Any

from ..._fields import default_of
from ...alignment.settings import AlignmentSettings

_OF_THE_MODEL = ("motion", "n_components", "rank_penalty", "outlier_penalty")
"""Settings that a model has already, beside the shape of its frame."""


@dataclass(frozen=True)
class Settings(AlignmentSettings):
    """How images are aligned: the parameters of `unmingle.Aligner`, or a model that has them already.

    Parameters
    ----------
    motion : {"translation", "euclidean", "similarity", "affine", "projective"}
        How the images may differ in position.
    shape : pair of int, optional
        Height and width of the aligned frame; by default four fifths of the usual image.
    n_components : int
        Largest rank allowed.
    rank_penalty, outlier_penalty : float or "auto"
        Weights of the rank and of the outliers.
    n_starts : int
        Starting places of new images along each axis, from 1 to 9; 3 or 5 for large shifts.
    model : Aligner or path, optional
        Align to this model, or to the one in this file, instead of to each other.
    """

    model: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        others = self.shape is not None or any(
            getattr(self, name) != default_of(type(self), name) for name in _OF_THE_MODEL
        )
        if self.model is not None and others:
            raise ValueError("with a model, motion, size, components and penalties are those of the model.")


@dataclass(frozen=True)
class Outputs:
    """What to write.

    Parameters
    ----------
    folder : path, optional
        Takes the pictures of the aligned images, their low-rank parts and their outliers, a table of the
        transformations, a page to look at, and the model, unless one was given. It is made if it is not there. Without
        a folder nothing is written.
    """

    folder: str | PathLike[str] | None = None
