"""`decompose`: one matrix into a low-rank part and sparse outliers, with a certificate."""

from ._matrix import decompose, penalty_max, solve
from ._parts import Decomposition, without_bias
from ._problem import refuse_vanishing, thresholds, warn_unfinished

__all__ = [
    "Decomposition",
    "decompose",
    "penalty_max",
    "refuse_vanishing",
    "solve",
    "thresholds",
    "warn_unfinished",
    "without_bias",
]
