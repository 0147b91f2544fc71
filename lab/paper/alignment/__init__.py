"""The paper's figure on misaligned faces, and how exactly displaced faces are found."""

from ._data import FacesApart, read_sets
from ._rasl import rasl

__all__ = ["FacesApart", "rasl", "read_sets"]
