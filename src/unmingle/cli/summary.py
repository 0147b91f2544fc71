"""What the commands tell about a decomposition."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decomposition import Decomposition

Array = NDArray[Any]


def singular_values(part: Decomposition) -> Array:
    """Return the singular values of the low-rank part: its components and codes share them as square roots."""
    return np.linalg.norm(part.codes, axis=0) * np.linalg.norm(part.components, axis=1)


def noise_level(departure: Array) -> float:
    """Return the standard deviation of Gaussian noise with the same median size; missing entries do not count."""
    return float(1.4826 * np.nanmedian(np.abs(departure)))
