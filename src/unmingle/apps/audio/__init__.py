"""Songs: voice and music, from files, from samples or as a stream."""

from typing import TYPE_CHECKING

from ..._lazy import lazy_names

if TYPE_CHECKING:
    from ._engine import Stems as Stems
    from ._live import LiveStats as LiveStats
    from ._live import listen as listen
    from ._separate import Result as Result
    from ._separate import separate as separate
    from ._sound_devices import Loopback as Loopback
    from ._sound_devices import SoundCard as SoundCard
    from ._split import split as split
    from ._stream import Stream as Stream
    from .method import Method as Method
    from .method import Parts as Parts
    from .networks import VoiceModel as VoiceModel
    from .settings import Outputs as Outputs
    from .settings import Settings as Settings

__all__ = [
    "LiveStats",
    "Loopback",
    "Method",
    "Outputs",
    "Parts",
    "Result",
    "Settings",
    "SoundCard",
    "Stems",
    "Stream",
    "VoiceModel",
    "listen",
    "separate",
    "split",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "LiveStats": "_live",
        "Loopback": "_sound_devices",
        "Method": "method",
        "Outputs": "settings",
        "Parts": "method",
        "Result": "_separate",
        "Settings": "settings",
        "SoundCard": "_sound_devices",
        "Stems": "_engine",
        "Stream": "_stream",
        "VoiceModel": "networks",
        "listen": "_live",
        "separate": "_separate",
        "split": "_split",
    },
)
