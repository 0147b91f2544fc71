"""Songs: voice and music, from files, from samples or as a stream."""

from typing import TYPE_CHECKING

from ..._lazy import lazy_names

if TYPE_CHECKING:
    from ._engine import Stems as Stems
    from ._live import LiveStats as LiveStats
    from ._live import listen as listen
    from ._split import split as split
    from ._stream import Stream as Stream
    from .method import Method as Method
    from .method import Parts as Parts
    from .networks import VoiceModel as VoiceModel
    from .settings import Outputs as Outputs
    from .settings import Settings as Settings
    from .songs import Result as Result
    from .songs import separate as separate
    from .sound_devices import Loopback as Loopback
    from .sound_devices import SoundCard as SoundCard

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
        "Loopback": "sound_devices",
        "Method": "method",
        "Outputs": "settings",
        "Parts": "method",
        "Result": "songs",
        "Settings": "settings",
        "SoundCard": "sound_devices",
        "Stems": "_engine",
        "Stream": "_stream",
        "VoiceModel": "networks",
        "listen": "_live",
        "separate": "songs",
        "split": "_split",
    },
)
