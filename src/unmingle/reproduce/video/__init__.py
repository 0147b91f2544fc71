"""Video: the figure of the paper, masks compared with others', and lamps that are switched."""

from ._page import hall_png, video_page
from ._run import VideoFindings, video

__all__ = ["VideoFindings", "hall_png", "video", "video_page"]
