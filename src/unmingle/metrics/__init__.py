"""How well did it go: measures that compare an answer with a known truth."""

from typing import TYPE_CHECKING

from .._lazy import lazy_names

if TYPE_CHECKING:
    from ._matrices import relative_error as relative_error
    from ._matrices import subspace_angle as subspace_angle
    from .masks import FMeasure as FMeasure
    from .masks import MaskCounts as MaskCounts
    from .masks import f_measure as f_measure
    from .sound import SeparationScores as SeparationScores
    from .sound import bss_eval as bss_eval
    from .sound import nsdr as nsdr
    from .sound import si_sdr as si_sdr
    from .sound import snr as snr

__all__ = [
    "FMeasure",
    "MaskCounts",
    "SeparationScores",
    "bss_eval",
    "f_measure",
    "nsdr",
    "relative_error",
    "si_sdr",
    "snr",
    "subspace_angle",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "FMeasure": "masks",
        "MaskCounts": "masks",
        "SeparationScores": "sound",
        "bss_eval": "sound",
        "f_measure": "masks",
        "nsdr": "sound",
        "relative_error": "_matrices",
        "si_sdr": "sound",
        "snr": "sound",
        "subspace_angle": "_matrices",
    },
)
