"""The model card of a trained encoder."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ._base import Array

if TYPE_CHECKING:
    from ._learned import LearnedRobustPCA

_JUDGED = 1000
"""Samples, at most, whose gaps the card tells of."""


def card_of(model: "LearnedRobustPCA", X: Array, training: Any) -> dict[str, Any]:
    """What was trained on what, and how good it became."""
    some = X[:: max(1, len(X) // _JUDGED)]
    gap, in_units = model._project(some)[1], model._units.cost_from_units
    return {
        "made by": f"unmingle {__version__}",
        "samples": len(X),
        "features": X.shape[1],
        "components": model.n_components_,
        "layers": f"{model.n_layers}, {'tied' if model.tied else 'untied'}, {model.structure}",
        "loss": model.loss,
        "dictionary trained": bool(model.update_dictionary),
        "rank penalty": model.rank_penalty_,
        "outlier penalty": float(np.mean(model.outlier_penalty_)),
        "steps": training.history[-1].step,
        "validation cost, untrained": in_units(training.history[0].cost),
        "validation cost, trained": in_units(training.history[-1].best),
        "median relative gap on training data": float(np.median(gap)),
    }
