"""What files hold of estimators: parameters as they were given, what was fitted, and the state of streams."""

import numpy as np

from .._fields import record_of
from .._rules import (
    ANY_NUMBER,
    FLOATS,
    LEAST,
    POSITIVE,
    ArrayOf,
    Count,
    Each,
    Either,
    Flag,
    Number,
    OneOf,
    Record,
    Rule,
    Size,
    Table,
    Text,
    maybe,
)
from ..core.encoder.encoder import ENCODER, LAYERS, STRUCTURES
from ..core.online.stored import NONNEGATIVE_TRACKER, TRACKER
from ..learn import LOSSES, Training
from .window import STREAM_STATE

STEPS = ("block", "direct", "recursive")
"""Dictionary steps of `OnlineRobustPCA`."""

STARTS = ("nndsvd", "random")
"""Starts of `RobustNMF`."""

_PENALTY = Either(OneOf("auto"), POSITIVE)
_FORGETTING = Either(OneOf("auto"), Number(LEAST, 1.0))
_PER_FEATURE = ArrayOf(FLOATS, "m", low=LEAST)
_PENALTIES = Either(OneOf("auto"), POSITIVE, _PER_FEATURE)
_PARTS = ArrayOf(FLOATS, "q", "m", low=0.0)
_NAMES = Record({"names": Each(Text(), Size("m"))})
_RELATIVE = 1e30
"""What numbers in units of their own are at most."""
_CELLS = Record(
    {
        "components": ArrayOf(("float64",), "atoms of cells", "m"),
        "noise": ArrayOf(("float64",), "m", low=LEAST),
        "centre": ArrayOf(("float64",), "atoms of cells", low=-_RELATIVE, high=_RELATIVE),
        "degrees": ArrayOf(("float64",), "m", low=1.0, high=_RELATIVE),
        "widths": ArrayOf(("float64",), "m", low=1 / _RELATIVE, high=_RELATIVE),
    }
)
_ROWS = Record(
    {
        "scale": ArrayOf(("float64",), "m", low=LEAST),
        "centre": ArrayOf(("float64",), "m", low=-_RELATIVE, high=_RELATIVE),
        "loadings": ArrayOf(("float64",), "atoms of rows", "m", low=-_RELATIVE, high=_RELATIVE),
        "noise": ArrayOf(("float64",), "m", low=1e-6, high=_RELATIVE),
        "white": ArrayOf(("float64",), "atoms of rows", "atoms of rows", low=-_RELATIVE, high=_RELATIVE),
        "marks": ArrayOf(("float64",), 3, 2, low=-_RELATIVE, high=_RELATIVE),
        "law": ArrayOf(("float64",), 2, low=-_RELATIVE, high=_RELATIVE),
        "offset": Number(-(_RELATIVE**3), 0.0),
        "described": Count(),
        "smallest": Number(-np.inf, np.inf),
        "largest": Number(-np.inf, np.inf),
    }
)
_DETECTION: dict[str, Rule] = {"contamination": Either(OneOf("auto"), Number(LEAST, 0.5))}
"""Parameter of what detects rows."""
_SINGLE_CELLS: dict[str, Rule] = {"scale": maybe(OneOf("columns")), "debias": Flag()}
"""Parameters of estimators that know the whole table."""

_GIVEN: dict[str, Rule] = {
    "n_components": maybe(Count(1)),
    "rank_penalty": _PENALTY,
    "outlier_penalty": _PENALTIES,
    "random_state": maybe(Count(0, 2**1024)),
}
_FITTED: dict[str, Rule] = {
    "components_": ArrayOf(FLOATS, "q", "m"),
    "n_components_": Size("q"),
    "n_features_in_": Size("m"),
    "outlier_penalty_": Either(POSITIVE, _PER_FEATURE),
    "rank_penalty_": POSITIVE,
}


def _rules_of(init: dict[str, Rule], fitted: dict[str, Rule], *, of_cells: bool = False, **state: Rule) -> Record:
    """What a file holds of an estimator; features may have names, and scales and noise of their own."""
    further: dict[str, Rule] = {"column_scale_": _PER_FEATURE, "cells_": _CELLS} if of_cells else {}
    return Record(
        {
            "init": Record({**init, **_DETECTION}),
            "fitted": Record(fitted, {"feature_names_in_": _NAMES, "rows_": _ROWS, **further}),
            **state,
        }
    )


ROBUST_PCA = _rules_of(
    of_cells=True,
    init={
        **_GIVEN,
        **_SINGLE_CELLS,
        "tol": POSITIVE,
        "max_iter": Count(1),
    },
    fitted={
        **_FITTED,
        "converged_": Flag(),
        "explained_variance_ratio_": ArrayOf(FLOATS, "q", low=-np.inf, high=np.inf, nan=True),
        "gap_": ANY_NUMBER,
        "n_iter_": Count(),
        "objective_": ANY_NUMBER,
        "singular_values_": ArrayOf(FLOATS, "q", low=0.0, high=np.inf),
    },
)
ROBUST_NMF = _rules_of(
    of_cells=True,
    init={
        **_GIVEN,
        **_SINGLE_CELLS,
        "init": Either(OneOf(*STARTS), ArrayOf(FLOATS, "atoms", "m", low=0.0)),
        "tol": POSITIVE,
        "max_iter": Count(1),
    },
    fitted={
        **_FITTED,
        "components_": _PARTS,
        "converged_": Flag(),
        "n_iter_": Count(),
        "objective_": ANY_NUMBER,
        "reconstruction_err_": ANY_NUMBER,
        "stationarity_": ANY_NUMBER,
    },
)
_STREAM_GIVEN: dict[str, Rule] = {
    **_GIVEN,
    "forgetting": _FORGETTING,
    "start_size": Count(1),
    "batch_size": Count(1),
}
_STREAM_FITTED: dict[str, Rule] = {
    **_FITTED,
    "frozen_": Flag(),
    "n_jumps_": Count(),
    "n_samples_seen_": Count(),
    "noise_level_": Number(0.0),
}
ONLINE_ROBUST_PCA = _rules_of(
    of_cells=True,
    init={**_STREAM_GIVEN, "dictionary_step": OneOf(*STEPS), "n_layers": maybe(LAYERS)},
    fitted=_STREAM_FITTED,
    stream=Record({"origin": Text(), "tracker": TRACKER}),
)
ONLINE_ROBUST_NMF = _rules_of(
    of_cells=True,
    init=_STREAM_GIVEN,
    fitted={**_STREAM_FITTED, "components_": _PARTS},
    stream=Record({"origin": Text(), "tracker": NONNEGATIVE_TRACKER}),
)


LEARNED_ROBUST_PCA = _rules_of(
    of_cells=True,
    init={
        **_GIVEN,
        "n_layers": LAYERS,
        "loss": OneOf(*LOSSES),
        "update_dictionary": Flag(),
        "tied": Flag(),
        "structure": OneOf(*STRUCTURES),
        "forgetting": _FORGETTING,
        "training": maybe(record_of(Training)),
    },
    fitted={
        **_FITTED,
        "card_": Table(),
        "history_": ArrayOf(("float64",), "looks", 2, low=-np.inf, high=np.inf, nan=True),
        "n_samples_seen_": Count(),
    },
    encoder=ENCODER,
    stream=STREAM_STATE,
)
