"""Synthetic data with known truth."""

from ._canvas import Scene
from .crowd import crowd_scene
from .matrices import Mixture, low_rank_plus_sparse
from .shaking import shaking_scene
from .streams import StreamBlock, subspace_stream
from .street import surveillance_scene
from .water import water_scene

__all__ = [
    "Mixture",
    "Scene",
    "StreamBlock",
    "crowd_scene",
    "low_rank_plus_sparse",
    "shaking_scene",
    "subspace_stream",
    "surveillance_scene",
    "water_scene",
]
