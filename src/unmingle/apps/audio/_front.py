"""What trained networks see of a spectrum: fewer features than bins, of about the same size."""

from typing import NamedTuple

import numpy as np

from ..._types import AnyArray
from ._stft import BINS

_ALONE, _BANDS = 192, 48
"""Bins that are features by themselves, up to 3 kHz, and bands of a constant ratio above."""
EDGES = np.concatenate([np.arange(_ALONE), np.round(np.geomspace(_ALONE, BINS, _BANDS + 1)[:-1])]).astype(np.intp)
"""The first bin of each feature."""
WIDTHS = np.diff(EDGES, append=BINS)
"""Bins of each feature."""
FEATURES = len(EDGES)


class Front(NamedTuple):
    """Roots of mean magnitudes over bands, each over its usual size."""

    usual: AnyArray
    """(features,), positive."""

    @classmethod
    def neutral(cls) -> "Front":
        """Before it is known what is usual."""
        return cls(np.ones(FEATURES, np.float32))

    def features(self, magnitudes: AnyArray) -> AnyArray:
        """Features (n, m) of frames (n, bins) over their level; bins that a low rate does not have are silent."""
        full = magnitudes
        if magnitudes.shape[1] < BINS:
            full = np.zeros((len(magnitudes), BINS), magnitudes.dtype)
            full[:, : magnitudes.shape[1]] = magnitudes
        x = self.sums(full)
        x /= WIDTHS.astype(x.dtype)
        np.sqrt(x, out=x)
        x /= self.usual.astype(x.dtype)
        return x

    @staticmethod
    def sums(bins: AnyArray) -> AnyArray:
        """Sums over the bins of each feature, along the last axis."""
        sums = np.empty((*bins.shape[:-1], FEATURES), bins.dtype)
        sums[..., :_ALONE] = bins[..., :_ALONE]
        np.add.reduceat(bins, EDGES[_ALONE:], axis=-1, out=sums[..., _ALONE:])
        return sums

    @staticmethod
    def spread(features: AnyArray, bins: int) -> AnyArray:
        """The value of its feature for each of the lowest bins."""
        return np.repeat(features, WIDTHS, axis=-1)[..., :bins]
