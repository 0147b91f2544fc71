"""An encoder in a few numbers."""

from typing import Any

import numpy as np

from ..._types import AnyArray
from .encoder import Encoder
from .sequence import SequenceEncoder


def describe(encoder: Encoder | SequenceEncoder) -> dict[str, Any]:
    """The form of an encoder in numbers and words of JSON.

    Parameters
    ----------
    encoder : Encoder or SequenceEncoder
        Trained or not.

    Examples
    --------
    >>> encoder = Encoder.from_components(np.eye(2, 5), rank_penalty=0.1, outlier_penalty=0.5, n_layers=3)
    >>> told = describe(encoder)
    >>> told["features"], told["components"], told["layers"], told["outlier_penalty"]
    (5, 2, 3, [0.5, 0.5])
    """
    if isinstance(encoder, SequenceEncoder):
        return {
            "features": encoder.n_features,
            "components": encoder.n_components,
            "layers": encoder.n_layers,
            "weights": encoder.n_weights,
            "dtype": encoder.dtype.name,
        }
    lam = encoder.outlier_penalty
    return {
        "features": encoder.components.shape[1],
        "components": encoder.components.shape[0],
        "layers": encoder.n_layers,
        "tied": encoder.tied,
        "structure": encoder.structure,
        "nonnegative_codes": bool(encoder.nonnegative_codes),
        "nonnegative_outliers": bool(encoder.nonnegative_outliers),
        "dtype": encoder.components.dtype.name,
        "rank_penalty": float(encoder.rank_penalty),
        "outlier_penalty": [float(lam.min()), float(lam.max())],
    }


def departure(encoder: Encoder) -> float:
    """How far the layers are from those of Algorithm 1, relative to their size: 0 if nothing was trained.

    Parameters
    ----------
    encoder : Encoder
        Trained or not.
    """
    return max(
        relative_difference(own, plain)
        for own, plain in zip(encoder.layers, encoder.untrained().layers, strict=True)
        if own.size
    )


def relative_difference(one: AnyArray, other: AnyArray) -> float:
    """The largest difference of two arrays, relative to the largest entry of the second.

    Parameters
    ----------
    one, other : arrays of one shape
        Not empty.
    """
    size = float(np.abs(other).max())
    return float(np.abs(one - other).max()) / (size or 1.0)
