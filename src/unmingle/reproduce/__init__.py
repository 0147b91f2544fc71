"""The experiments of the paper, on one's own copy of the data: figures in the documentation come from here."""

from ._faces import DataMissing, FaceSet, read_faces
from ._online import online_faces, online_page
from ._table1 import table1, table1_page
from ._video import VideoFindings, video
from ._video_page import hall_png, video_page

__all__ = [
    "DataMissing",
    "FaceSet",
    "VideoFindings",
    "hall_png",
    "online_faces",
    "online_page",
    "read_faces",
    "table1",
    "table1_page",
    "video",
    "video_page",
]
