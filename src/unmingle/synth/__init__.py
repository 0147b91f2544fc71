"""Synthetic data with known truth."""

from .matrices import Mixture, low_rank_plus_sparse
from .streams import StreamBlock, subspace_stream
from .street import Scene, surveillance_scene

__all__ = ["Mixture", "Scene", "StreamBlock", "low_rank_plus_sparse", "subspace_stream", "surveillance_scene"]
