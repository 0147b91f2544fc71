"""Single cells of a matrix: what a low-rank part expects of them without its penalty, and which of them stand out."""

from ._columns import column_scales
from ._refit import Refit, refit
from ._tails import flagged, tail_probabilities

__all__ = ["Refit", "column_scales", "flagged", "refit", "tail_probabilities"]
