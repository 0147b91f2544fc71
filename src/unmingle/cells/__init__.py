"""Single cells of a matrix: what a low-rank part expects of them without its penalty, and which of them stand out."""

from ._columns import column_scales
from ._model import CellModel, Refit
from ._refit import refit
from ._tails import TailLaws, flagged

__all__ = ["CellModel", "Refit", "TailLaws", "column_scales", "flagged", "refit"]
