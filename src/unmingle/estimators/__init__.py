"""Estimators that follow scikit-learn's conventions; the mathematics is elsewhere."""

from ._aligner import Aligner
from ._learned import LearnedRobustPCA
from ._learned_nmf import LearnedRobustNMF
from ._online import OnlineRobustPCA
from ._online_nmf import OnlineRobustNMF
from ._passes import Distributable, Found, Projector, Wanted
from ._robust_nmf import RobustNMF
from ._robust_pca import RobustPCA

__all__ = [
    "Aligner",
    "Distributable",
    "Found",
    "LearnedRobustNMF",
    "LearnedRobustPCA",
    "OnlineRobustNMF",
    "OnlineRobustPCA",
    "Projector",
    "RobustNMF",
    "RobustPCA",
    "Wanted",
]
