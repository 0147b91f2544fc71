"""Robust NMF of a spectrogram: a few spectra that repeat are the music."""

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._validation import check_count
from ._method import Method, Parts

Array = NDArray[Any]


_MOST = 200
"""Sweeps for a passage."""


class Factors(Method):
    """Robust NMF: spectra U >= 0 whose sums repeat, and outliers O >= 0."""

    name: ClassVar = "nmf"
    summary: ClassVar = "robust NMF of each passage: a few spectra that repeat, and what stands out"

    def __init__(self, n_components: int = 25, tol: float = 1e-2) -> None:
        self.n_components, self.tol = check_count(n_components, "n_components"), tol

    def parts(self, magnitudes: Array) -> Parts:
        """The parts of a passage; silence has none."""
        if not magnitudes.any():
            return Parts(np.zeros_like(magnitudes), np.zeros_like(magnitudes))
        from ...estimators import RobustNMF  # scikit-learn takes 85 MB, which other methods do not need

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a passage that is not quite solved is no harm to a mask
            model = RobustNMF(self.n_components, tol=self.tol, max_iter=_MOST).fit(magnitudes)
        part = model.decompose(magnitudes)
        return Parts(part.outliers, part.low_rank)
