"""Video: the figure of the paper, masks compared with others', and lamps that are switched."""

from ._data import HIGHWAY, Film, find_film, labelled_films, make_scene, read_labelled
from ._findings import VideoFindings
from ._masks import race
from ._page import hall_png, video_page
from ._rivals import Rival, View, one_thread, opencv, ours, subtractor
from ._run import reproduce_video

__all__ = [
    "HIGHWAY",
    "Film",
    "Rival",
    "VideoFindings",
    "View",
    "find_film",
    "hall_png",
    "labelled_films",
    "make_scene",
    "one_thread",
    "opencv",
    "ours",
    "race",
    "read_labelled",
    "reproduce_video",
    "subtractor",
    "video_page",
]
