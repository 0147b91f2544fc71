"""Comparison "anomalies": bad rows of low-rank tables found, beside detectors of scikit-learn."""

import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.covariance import EllipticEnvelope
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import RobustScaler

from unmingle import RobustPCA

from ..shared.progress import say
from .data import CHOSEN_ON, KINDS, SHAPES, made_table

Array = np.ndarray
SEEDS, QUICK = 10, 2
CLEAN = ((800, 5, 1), (800, 10, 2), (800, 20, 3), (1000, 80, 3), (200, 40, 5), (100, 200, 3))
"""Rows, columns and rank of tables on which false alarms are counted."""
RATES = (0.05, 0.01)
OURS = "RobustPCA"


def _reconstruction(X: Array, rank: int) -> Array:
    """Minus the distance from as many principal components as there are in truth."""
    model = PCA(rank).fit(X)
    return -np.sum((X - model.inverse_transform(model.transform(X))) ** 2, axis=1)


DETECTORS: dict[str, Callable[[Array, int], Array]] = {
    OURS: lambda X, rank: RobustPCA(scale="columns").fit(X).score_samples(X),
    "EllipticEnvelope": lambda X, rank: EllipticEnvelope(random_state=0).fit(X).score_samples(X),
    "LocalOutlierFactor": lambda X, rank: LocalOutlierFactor().fit(X).negative_outlier_factor_,
    "IsolationForest": lambda X, rank: IsolationForest(random_state=0).fit(X).score_samples(X),
    "PCA reconstruction": _reconstruction,
}


def run(quick: bool) -> dict[str, Any]:
    seeds = QUICK if quick else SEEDS
    DETECTORS[OURS](made_table("200x10", "scaled", 0)[0], 2)  # compiles
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [_judged(shape, kind, seeds) for shape in SHAPES for kind in KINDS]
        rates = [_false_alarms(*shape, seeds) for shape in CLEAN]
    return {"seeds": seeds, "rows": rows, "rates": rates}


def _false_alarms(n: int, m: int, rank: int, seeds: int) -> dict[str, Any]:
    """Share of new ordinary rows that are flagged, over what was asked for, after training on clean rows."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        V = 3 * rng.standard_normal((rank, m))
        old, new = (rng.standard_normal((k, rank)) @ V + rng.standard_normal((k, m)) for k in (n, 5000))
        model = RobustPCA().fit(old)
        found.append([model.outlier_flags(new, false_alarm_rate=rate).mean() / rate for rate in RATES])
    ratios = dict(zip(map(str, RATES), np.mean(found, axis=0).tolist(), strict=True))
    say(f"  false alarms, {n}x{m}: {ratios}")
    return {"shape": f"{n}x{m}", "ratios": ratios}


def _judged(shape: str, kind: str, seeds: int) -> dict[str, Any]:
    """Mean area under the curve over the seeds, and CPU seconds, of each detector."""
    areas: dict[str, list[float]] = {name: [] for name in DETECTORS}
    times = dict.fromkeys(DETECTORS, 0.0)
    for seed in range(seeds):
        X, bad = made_table(shape, kind, seed)
        X = RobustScaler().fit_transform(X)
        for name, scores in DETECTORS.items():
            begin = process_time()
            found = scores(X, SHAPES[shape][2])
            times[name] += (process_time() - begin) / seeds
            areas[name].append(float(roc_auc_score(bad, -found)))
    means = {name: float(np.mean(values)) for name, values in areas.items()}
    say(f"  {shape}, {kind}: " + ", ".join(f"{name} {mean:.3f}" for name, mean in means.items()))
    return {"shape": shape, "kind": kind, "chosen_on": kind in CHOSEN_ON, "auc": means, "seconds": times}
