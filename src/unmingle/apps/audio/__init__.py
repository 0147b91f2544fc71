"""Songs: voice and music, from a file or as a stream."""

from ._adapt import Adaptive
from ._encoder import Encoded
from ._engine import Stems
from ._exact import Proximal, Pursuit
from ._excerpt import Excerpt
from ._factors import Factors
from ._files import STEMS, SeparatedSong, separate_file
from ._method import Method, Parts
from ._methods import METHODS
from ._plan import PlannedSong, plan_songs
from ._separate import separate
from ._stream import Stream

__all__ = [
    "METHODS",
    "STEMS",
    "Adaptive",
    "Encoded",
    "Excerpt",
    "Factors",
    "Method",
    "Parts",
    "PlannedSong",
    "Proximal",
    "Pursuit",
    "SeparatedSong",
    "Stems",
    "Stream",
    "plan_songs",
    "separate",
    "separate_file",
]
