"""The experiments of the paper, on one's own copy of the data: figures in the documentation come from here."""

from ._missing import DataMissing
from .faces import FaceSet, online_faces, online_page, read_faces, table1, table1_page
from .video import VideoFindings, hall_png, video, video_page

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
