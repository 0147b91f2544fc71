"""Voice and music of songs: the rows of the paper's second table that need no sources to learn from."""

from ._clips import Clip, KnownSong, find_clips
from ._run import reproduce_audio

__all__ = ["Clip", "KnownSong", "find_clips", "reproduce_audio"]
