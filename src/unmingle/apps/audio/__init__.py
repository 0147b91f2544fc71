"""Songs: voice and music, from a file or as a stream."""

from ._adapt import Adaptive
from ._drivers import Device, Loopback, SoundCard, devices
from ._encoder import Encoded
from ._engine import Stems, magnitudes
from ._exact import ExactProximal, ExactPursuit
from ._excerpt import Excerpt
from ._factors import RepeatedSpectra
from ._files import STEMS, SeparatedSong, separate_file
from ._ideal import Ideal
from ._learned import SHIPPED, VoiceModel, shipped, shipped_path
from ._live import Driver, Heard, Session, listen
from ._masks import binary, wiener
from ._method import Method, Parts
from ._methods import METHODS, NAMES, as_method
from ._plan import PlannedSong, plan_songs
from ._report import report_page, write_report
from ._separate import separate
from ._spectrogram import spectrograms
from ._stream import Stream

__all__ = [
    "METHODS",
    "NAMES",
    "SHIPPED",
    "STEMS",
    "Adaptive",
    "Device",
    "Driver",
    "Encoded",
    "ExactProximal",
    "ExactPursuit",
    "Excerpt",
    "Heard",
    "Ideal",
    "Loopback",
    "Method",
    "Parts",
    "PlannedSong",
    "RepeatedSpectra",
    "SeparatedSong",
    "Session",
    "SoundCard",
    "Stems",
    "Stream",
    "VoiceModel",
    "as_method",
    "binary",
    "devices",
    "listen",
    "magnitudes",
    "plan_songs",
    "report_page",
    "separate",
    "separate_file",
    "shipped",
    "shipped_path",
    "spectrograms",
    "wiener",
    "write_report",
]
