"""Whole jobs, each a package that is imported when first used: arrays or files in, results out, streaming first."""

from typing import TYPE_CHECKING

from .._lazy import lazy_names

if TYPE_CHECKING:
    from . import alignment as alignment
    from . import audio as audio
    from . import demo as demo
    from . import tables as tables
    from . import video as video
    from ._apply import apply as apply
    from ._settings import ApplyOutputs as ApplyOutputs
    from ._settings import FitOutputs as FitOutputs
    from ._settings import FitSettings as FitSettings
    from .description import describe as describe
    from .fitting import FitResult as FitResult
    from .fitting import fit as fit
    from .tables import ApplySettings as ApplySettings

_HOMES = {
    "ApplyOutputs": "_settings",
    "ApplySettings": "tables",
    "FitOutputs": "_settings",
    "FitResult": "fitting",
    "FitSettings": "_settings",
    "alignment": "",
    "apply": "_apply",
    "audio": "",
    "demo": "",
    "describe": "description",
    "fit": "fitting",
    "tables": "",
    "video": "",
}
__all__ = [
    "ApplyOutputs",
    "ApplySettings",
    "FitOutputs",
    "FitResult",
    "FitSettings",
    "alignment",
    "apply",
    "audio",
    "demo",
    "describe",
    "fit",
    "tables",
    "video",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
