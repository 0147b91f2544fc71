"""Odd pieces of real tables: `make fuzz` tries more of them."""

import numpy as np
import pytest
from odd_tables import ESTIMATORS, odd_table, use_decompose, use_estimator
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

import unmingle

SEEDS = range(20)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_all_methods_give_finite_numbers(name):
    for seed in SEEDS:
        told, X = odd_table(seed)
        assert use_estimator(name, X) is None, told


def test_decompose_gives_finite_numbers():
    for seed in SEEDS:
        use_decompose(odd_table(seed)[1])


@pytest.mark.parametrize("kind", [unmingle.RobustPCA, unmingle.OnlineRobustPCA])
def test_few_rows_of_standardised_digits(kind):
    """Most pixels of few images are constant: systems of equations of their rows are nearly singular."""
    X = StandardScaler().fit_transform(load_digits().data)
    rng = np.random.default_rng(5)
    for n in (20, 30, 50, 100):
        scores = kind().fit(X[rng.permutation(len(X))[:n]]).score_samples(X)
        assert np.isfinite(scores).all()


@pytest.mark.filterwarnings("ignore:Stopped after")
@pytest.mark.parametrize("kind", [None, unmingle.RobustPCA, unmingle.OnlineRobustPCA])
def test_what_limits_precision_is_told(kind, rng):
    make = unmingle.decompose if kind is None else kind().fit
    X = rng.standard_normal((100, 6))
    flat = X.copy()
    flat[:, 2] = 7 + 1e-9 * X[:, 2]
    with pytest.warns(UserWarning, match=r"A column varies by less than 1e-08 .* precision of float64; subtract"):
        make(flat)
    with pytest.warns(UserWarning, match=r"6 columns vary by less than 3e-04 .* or pass float64"):
        make((X + 1e6).astype(np.float32))
    make((X + 100).astype(np.float32))
