"""How well did it go: measures that compare an answer with a known truth."""

from ._masks import FMeasure, Labels, MaskCounts, f_measure
from ._matrices import relative_error, subspace_angle
from ._sound import SeparationScores, bss_eval, nsdr, si_sdr, snr, weighted_mean

__all__ = [
    "FMeasure",
    "Labels",
    "MaskCounts",
    "SeparationScores",
    "bss_eval",
    "f_measure",
    "nsdr",
    "relative_error",
    "si_sdr",
    "snr",
    "subspace_angle",
    "weighted_mean",
]
