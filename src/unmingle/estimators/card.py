"""The model card of a trained encoder."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from .._types import Array
from ..core.linalg.units import Units

if TYPE_CHECKING:
    from .learned import LearnedRobustPCA

_JUDGED = 1000
"""The card tells of the gaps of this number of samples at most."""
_WORTH = 1e-3
"""A gain is none below this share of the cost."""
_NEAR = 0.01
"""Answers with this relative gap leave nothing to be gained."""


def card_of(model: "LearnedRobustPCA", X: Array, training: Any, units: Units) -> dict[str, Any]:
    """What was trained on what, and how good it became."""
    some = X[:: max(1, len(X) // _JUDGED)]
    gap, in_units = model._project(some)[1], units.cost_from_units
    return {
        "made by": f"unmingle {__version__}",
        "samples": len(X),
        "features": X.shape[1],
        "smallest entry": float(np.nanmin(X)),
        "largest entry": float(np.nanmax(X)),
        "components": model.n_components_,
        "layers": f"{model.n_layers}, {'tied' if model.tied else 'untied'}, {model.structure}",
        "loss": model.loss,
        "dictionary trained": bool(model.update_dictionary),
        "rank penalty": model.rank_penalty_,
        "outlier penalty": float(np.mean(model.outlier_penalty_)),
        "steps": training.history[-1].step,
        "validation cost, untrained": in_units(training.history[0].measure),
        "validation cost, trained": in_units(training.history[-1].best),
        "gain of training": training.gain,
        "standard error of the gain": training.noise,
        "median relative gap on training data": float(np.median(gap)),
    }


def has_gained(card: dict[str, Any]) -> bool:
    """Whether training lowered the cost by a share worth speaking of, and by more than chance would."""
    return bool(card["gain of training"] > max(_WORTH, 2 * card["standard error of the gain"]))


def nothing_gained(card: dict[str, Any], n_layers: int) -> str:
    """What to say, and to do, where training has not made the network better."""
    near = card["median relative gap on training data"]
    if near < _NEAR:
        hint = (
            f"half of its answers are within {100 * near:.2g} % of the best possible already, so fewer layers will do"
        )
    else:
        hint = "try more samples, more steps or layers with numbers of their own (untied), or take the exact RobustPCA"
    return f"Training gained nothing worth speaking of over the untrained network of {n_layers} layers: {hint}."
