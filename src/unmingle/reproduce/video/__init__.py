"""Video: the figure of the paper, masks compared with others', and lamps that are switched."""

from ._data import HIGHWAY, Film, find_film, labelled_films, make_scene, read_labelled
from ._findings import VideoFindings
from ._masks import race
from ._page import hall_png, video_page
from ._rivals import Rival, View, one_thread, opencv, ours, subtractor
from ._run import reproduce_video
from ._true_objects import EventScore, TrueObject, event_score, found_events, true_objects

__all__ = [
    "HIGHWAY",
    "EventScore",
    "Film",
    "Rival",
    "TrueObject",
    "VideoFindings",
    "View",
    "event_score",
    "find_film",
    "found_events",
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
    "true_objects",
    "video_page",
]
