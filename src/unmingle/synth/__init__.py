"""Synthetic data with known truth."""

from .matrices import Mixture, low_rank_plus_sparse
from .street import Scene, surveillance_scene

__all__ = ["Mixture", "Scene", "low_rank_plus_sparse", "surveillance_scene"]
