"""The experiments of the paper, on one's own copy of the data: figures in the documentation come from here."""

from ._faces import DataMissing, FaceSet, read_faces
from ._online import online_faces, online_page
from ._table1 import table1, table1_page

__all__ = ["DataMissing", "FaceSet", "online_faces", "online_page", "read_faces", "table1", "table1_page"]
