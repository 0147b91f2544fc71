"""Images that are not aligned: transformations, and robust low-rank models found together with them.

Matrices map pixels (x, y, 1) of the aligned frame into the given image.
"""

from ._families import FAMILIES, AlignedFrame, Matrix, compose, inverse
from ._follower import IN_SIGHT, Follower, Sighting
from ._joint import align
from ._learning import Learned, aligned_images, apply, fit, learn_more, starting_parts
from ._pyramid import Grid, Pyramid, spline_of
from ._result import Alignment
from ._search import Landing, Model, search
from ._starts import SMALLEST, Pose
from ._stored import LEARNED, learned_from_store, learned_to_store

__all__ = [
    "FAMILIES",
    "IN_SIGHT",
    "LEARNED",
    "SMALLEST",
    "AlignedFrame",
    "Alignment",
    "Follower",
    "Grid",
    "Landing",
    "Learned",
    "Matrix",
    "Model",
    "Pose",
    "Pyramid",
    "Sighting",
    "align",
    "aligned_images",
    "apply",
    "compose",
    "fit",
    "inverse",
    "learn_more",
    "learned_from_store",
    "learned_to_store",
    "search",
    "spline_of",
    "starting_parts",
]
