"""Estimators that follow scikit-learn's conventions; the mathematics is elsewhere."""

from ._learned import LearnedRobustPCA
from ._online import OnlineRobustPCA
from ._robust_pca import RobustPCA

__all__ = ["LearnedRobustPCA", "OnlineRobustPCA", "RobustPCA"]
