"""Low-rank matrices, singular value thresholding, bounds on the spectral norm, units of data."""

from ._low_rank import LowRank, ridge_encoder
from ._memory import empty_apart
from ._norms import gram_of_shorter_side, leading_direction, spectral_norm_bound
from ._systems import solvable, solve_positive
from ._thresholding import WarmSubspace, gram_threshold, thin_svd
from ._units import Units

__all__ = [
    "LowRank",
    "Units",
    "WarmSubspace",
    "empty_apart",
    "gram_of_shorter_side",
    "gram_threshold",
    "leading_direction",
    "ridge_encoder",
    "solvable",
    "solve_positive",
    "spectral_norm_bound",
    "thin_svd",
]
