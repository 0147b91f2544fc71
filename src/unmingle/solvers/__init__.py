"""Solvers: generators of iterates, and measures of how good these are.

None of them decides when to stop; `unmingle.iterate.run` does.
"""

from ._alternating import alternating
from ._criteria import GapCriterion, PursuitCriterion, StationarityCriterion
from ._nmf import Factors, nmf
from ._nonnegative import nonnegative_components, nonnegative_newton
from ._pcp import pcp
from ._projection import algorithm_1, newton, some_features
from ._proximal import proximal

__all__ = [
    "Factors",
    "GapCriterion",
    "PursuitCriterion",
    "StationarityCriterion",
    "algorithm_1",
    "alternating",
    "newton",
    "nmf",
    "nonnegative_components",
    "nonnegative_newton",
    "pcp",
    "proximal",
    "some_features",
]
