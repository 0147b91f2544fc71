"""Songs: voice and music, from a file or as a stream."""

from ._adapt import Adaptive
from ._encoder import Encoded
from ._engine import Stems
from ._exact import Proximal, Pursuit
from ._factors import Factors
from ._method import Method, Parts
from ._methods import METHODS
from ._separate import separate
from ._stream import Stream

__all__ = [
    "METHODS",
    "Adaptive",
    "Encoded",
    "Factors",
    "Method",
    "Parts",
    "Proximal",
    "Pursuit",
    "Stems",
    "Stream",
    "separate",
]
