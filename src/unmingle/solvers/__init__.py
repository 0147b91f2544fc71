"""Solvers: generators of iterates. None of them decides when to stop; `unmingle.iterate.run` does."""

from ._alternating import alternating
from ._pcp import PursuitCriterion, certify_pursuit, pcp
from ._projection import algorithm_1, algorithm_1_of_matrix, newton, some_features
from ._proximal import proximal

__all__ = [
    "PursuitCriterion",
    "algorithm_1",
    "algorithm_1_of_matrix",
    "alternating",
    "certify_pursuit",
    "newton",
    "pcp",
    "proximal",
    "some_features",
]
