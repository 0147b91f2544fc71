"""Small, doubled, constant, far away: odd pieces of real tables, and all that every estimator does with them."""

import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import unmingle
from unmingle.learn import Training

PACKAGE = Path(unmingle.__file__).parent
LOADERS = (
    datasets.load_iris,
    datasets.load_wine,
    datasets.load_digits,
    datasets.load_breast_cancer,
    datasets.load_diabetes,
)
SIZES = (2, 3, 5, 10, 20, 30, 50, 100, 200)
METHODS = ("transform", "score_samples", "decision_function", "predict", "outlier_flags", "score", "decompose")
ODDITIES = ("doubled", "constant", "nearly constant", "equal", "offset", "single")
ESTIMATORS = {
    "RobustPCA": (unmingle.RobustPCA, {}),
    "RobustPCA, cells": (unmingle.RobustPCA, {"n_components": 3, "scale": "columns", "debias": True}),
    "OnlineRobustPCA": (unmingle.OnlineRobustPCA, {}),
    "LearnedRobustPCA": (unmingle.LearnedRobustPCA, {"training": Training(max_steps=20)}),
    "RobustNMF": (unmingle.RobustNMF, {}),
    "RobustNMF, cells": (unmingle.RobustNMF, {"n_components": 3, "scale": "columns", "debias": True}),
    "OnlineRobustNMF": (unmingle.OnlineRobustNMF, {}),
    "LearnedRobustNMF": (unmingle.LearnedRobustNMF, {"training": Training(max_steps=20)}),
}


class Finding(AssertionError):
    """Something that no table should lead to."""


def odd_table(seed):
    """Rows of a real table with some oddities, and what they are."""
    rng = np.random.default_rng(seed)
    load = LOADERS[rng.integers(len(LOADERS))]
    X = load().data.astype(np.float64)
    name = [load.__name__.removeprefix("load_")]
    if rng.random() < 0.5:
        X = StandardScaler().fit_transform(X)
        name.append("standardised")
    X = X[rng.permutation(len(X))[: rng.choice(SIZES)]]
    for odd in ODDITIES:
        if rng.random() < 0.2:
            X = made_odd(X, odd, rng)
            name.append(odd)
    return f"{seed}: {' '.join(name)} {X.shape} {X.dtype}", X


def made_odd(X, odd, rng):
    """The table with one oddity more."""
    some = rng.permutation(X.shape[1])[: 1 + X.shape[1] // 4]
    size = 10.0 ** rng.integers(0, 10)
    if odd == "doubled":
        return np.hstack([X, X[:, some]])
    if odd == "equal":
        return np.repeat(X[:1], len(X), axis=0)
    if odd == "single":
        return X.astype(np.float32)
    X = X.copy()
    if odd == "offset":
        return X + size
    X[:, some] = size
    if odd == "nearly constant":
        X[:, some] += 1e-9 * rng.standard_normal((len(X), len(some)))
    return X


@contextmanager
def strict_warnings():
    """Warnings are errors, but for those that tell users what they may want to know."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        for told in ("Training gained nothing", "A column varies by less", "[0-9]+ columns vary by less"):
            warnings.filterwarnings("ignore", told, UserWarning)
        yield


def use_estimator(name, X):
    """Fit an estimator and call all its methods: finite numbers, or one sentence. Tells what was refused."""
    kind, settings = ESTIMATORS[name]
    X = np.abs(X) if "NMF" in name else X
    with strict_warnings():
        model = kind(**settings)
        refused = attempt(f"{name}.fit", model.fit, X)
        if refused:
            return refused
        codes = attempt(f"{name}.fit_transform", model.fit_transform, X, wants=True)
        attempt(f"{name}.inverse_transform", model.inverse_transform, codes)
        for method in METHODS:
            attempt(f"{name}.{method}", getattr(model, method), X)
            attempt(f"{name}.{method} of other rows", getattr(model, method), X[::-1] + 1)
        attempt(f"{name}.calibrate", model.calibrate, X)
        if settings.get("debias"):
            part = attempt(f"{name}.decompose without bias", lambda: model.decompose(X, debias=True), wants=True)
            attempt(f"{name}.flags", part.flags)
        check_finite(f"{name}, attributes", vars(model))
    return None


def use_decompose(X):
    """Take a table apart in several ways."""
    with strict_warnings():
        for settings in ({}, {"scale": "columns", "debias": True}, {"n_components": 2}):
            part = attempt(f"decompose {settings}", lambda given: unmingle.decompose(X, **given), settings, wants=True)
            attempt(f"flags {settings}", part.flags)
            attempt(f"significance {settings}", lambda part=part: part.significance)
        attempt("pursue", unmingle.pursue, X, wants=True)


def is_sentence(problem):
    """Whether an error was raised by the package itself, in one sentence."""
    raised_in = traceback.extract_tb(problem.__traceback__)[-1].filename
    return Path(raised_in).is_relative_to(PACKAGE) and "\n" not in str(problem) and str(problem).endswith(".")


def attempt(what, call, *arguments, wants=False):
    """Call it: what it gives must be finite. A ValueError of one sentence is told, where that is allowed."""
    try:
        answer = call(*arguments)
    except ValueError as problem:
        if wants or not is_sentence(problem):
            raise Finding(f"{what}: {problem!r}") from problem
        return f"{what}: {problem}"
    except Exception as problem:
        raise Finding(f"{what}: {problem!r}") from problem
    check_finite(what, answer)
    return answer if wants else None


def check_finite(what, answer):
    """Look for NaN and infinity in arrays and numbers, in whatever holds them."""
    if isinstance(answer, unmingle.Decomposition):
        answer = [answer.low_rank, answer.outliers, answer.codes, answer.components, answer.residual, answer.objective]
    if isinstance(answer, dict):
        for name, value in answer.items():
            check_finite(f"{what}, {name}", value)
    elif isinstance(answer, tuple | list):
        for value in answer:
            check_finite(what, value)
    elif np.asarray(answer).dtype.kind == "f" and not np.isfinite(answer).all():
        raise Finding(f"{what}: not finite")
