"""Faces: encoders on new faces (Table 1), and faces in the order of time."""

from ._data import FaceSet, read_faces
from ._online import online_faces
from ._page import online_page, table1_page
from ._table1 import table1

__all__ = ["FaceSet", "online_faces", "online_page", "read_faces", "table1", "table1_page"]
