"""What files hold of estimators: parameters as they were given, what was fitted, and the state of streams."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from .._schema import (
    ANY_NUMBER,
    FLOATS,
    LEAST,
    POSITIVE,
    Array,
    Count,
    Each,
    Either,
    Flag,
    Number,
    OneOf,
    Record,
    Rule,
    Schema,
    Size,
    Table,
    Text,
    maybe,
    prefixed,
)
from ..encoder import ENCODER, ENCODER_ARRAYS, LAYERS, STRUCTURES
from ..online import TRACKER, TRACKER_ARRAYS
from ..store import Stored

LOSSES = ("unsupervised", "imitation", "source")
STEPS = ("block", "direct", "recursive")
"""Dictionary steps of `OnlineRobustPCA`."""

_PENALTY = Either(OneOf("auto"), POSITIVE)
_FORGETTING = Either(OneOf("auto"), Number(LEAST, 1.0))
_PER_FEATURE = Array(FLOATS, "m", low=LEAST)
_NAMES = Record({"names": Each(Text(), Size("m"))})
_ROOT = Number(2.0**-520, 2.0**520)
"""Units are squares of it."""
_MOST_THREADS = 4096

_GIVEN: dict[str, Rule] = {
    "n_components": maybe(Count(1)),
    "rank_penalty": _PENALTY,
    "outlier_penalty": _PENALTY,
    "random_state": maybe(Count(0, 2**1024)),
}
_FITTED: dict[str, Rule] = {
    "components_": Array(FLOATS, "q", "m"),
    "n_components_": Size("q"),
    "n_features_in_": Size("m"),
    "outlier_penalty_": POSITIVE,
    "rank_penalty_": POSITIVE,
}


class Rules(NamedTuple):
    """What a file holds of an estimator."""

    init: Mapping[str, Rule]
    fitted: Mapping[str, Rule]
    state: Mapping[str, Rule]
    arrays: Mapping[str, Array]
    """Of the state."""
    optional: Mapping[str, Array]
    """Those that not every state has."""


def schema_of(rules: Rules, stored: Stored) -> Schema:
    """The schema of a file: a penalty is a number or, for each feature, an array, and features may have names."""
    init, fitted = dict(rules.init), dict(rules.fitted)
    arrays = {name: rule for name, rule in fitted.items() if isinstance(rule, Array)} | dict(rules.arrays)
    arrays |= {name: rule for name, rule in rules.optional.items() if name in stored.arrays}
    fitted = {name: rule for name, rule in fitted.items() if name not in arrays}
    for part, name in ((init, "outlier_penalty"), (fitted, "outlier_penalty_")):
        if name in stored.arrays:
            del part[name]
            arrays[name] = _PER_FEATURE
    match stored.parameters:
        case {"fitted": {"feature_names_in_": _}}:
            fitted["feature_names_in_"] = _NAMES
    return Schema({"init": Record(init), "fitted": Record(fitted), **rules.state}, arrays)


ROBUST_PCA = Rules(
    init={**_GIVEN, "solver": OneOf("alternating", "proximal"), "tol": POSITIVE, "max_iter": Count(1)},
    fitted={
        **_FITTED,
        "converged_": Flag(),
        "explained_variance_ratio_": Array(FLOATS, "q", low=-np.inf, high=np.inf, nan=True),
        "gap_": ANY_NUMBER,
        "n_iter_": Count(),
        "objective_": ANY_NUMBER,
        "score_center_": ANY_NUMBER,
        "score_scale_": ANY_NUMBER,
        "singular_values_": Array(FLOATS, "q", low=0.0, high=np.inf),
    },
    state={},
    arrays={},
    optional={},
)
ONLINE_ROBUST_PCA = Rules(
    init={
        **_GIVEN,
        "forgetting": _FORGETTING,
        "dictionary_step": OneOf(*STEPS),
        "n_layers": maybe(LAYERS),
        "start_size": Count(1),
        "batch_size": Count(1),
    },
    fitted={
        **_FITTED,
        "frozen_": Flag(),
        "n_jumps_": Count(),
        "n_samples_seen_": Count(),
        "noise_level_": Number(0.0),
    },
    state={"stream": Record({"origin": Text(), "tracker": TRACKER})},
    arrays=prefixed("tracker.", TRACKER_ARRAYS),
    optional={},
)


def _rows(name: str, place: int) -> dict[str, Array]:
    """Samples, where NaN is missing, and their true parts."""
    return {f"stream.{name}.{place}": Array(FLOATS, name, "m", nan=place == 0)}


LEARNED_ROBUST_PCA = Rules(
    init={
        **_GIVEN,
        "n_layers": LAYERS,
        "loss": OneOf(*LOSSES),
        "update_dictionary": Flag(),
        "tied": Flag(),
        "structure": OneOf(*STRUCTURES),
        "max_passes": POSITIVE,
        "max_steps": Count(1),
        "batch_size": Count(1),
        "step_size": POSITIVE,
        "validation": Number(0.0, np.nextafter(1.0, 0.0)),
        "window": Count(1),
        "window_step": Count(1),
        "forgetting": _FORGETTING,
        "n_jobs": maybe(Count(-_MOST_THREADS, _MOST_THREADS)),
    },
    fitted={
        **_FITTED,
        "card_": Table(),
        "history_": Array(("float64",), "looks", 2, low=-np.inf, high=np.inf, nan=True),
        "n_samples_seen_": Count(),
    },
    state={
        "encoder": ENCODER,
        "stream": Record(
            {
                "seed": Count(0, 2**31),
                "root": _ROOT,
                "reach": Number(0.0, np.inf),
                "starting": Flag(),
                "n_learnt": Count(),
                "weight": Number(0.0),
                "decay": Number(0.0, 1.0),
            }
        ),
    },
    arrays={
        **prefixed("encoder.", ENCODER_ARRAYS),
        "stream.A": Array(("float64",), "q", "q"),
        "stream.B": Array(FLOATS, "q", "m"),
        **_rows("rows", 0),
        **_rows("fresh", 0),
    },
    optional={**_rows("rows", 1), **_rows("rows", 2), **_rows("fresh", 1), **_rows("fresh", 2)},
)
