import traceback
import warnings
from inspect import signature

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import unmingle
from unmingle import decompose, penalty_max, pursue
from unmingle.core.decomposition.decompose_matrix import solve
from unmingle.core.penalties import from_noise, noise_level


def by_alternating(X, **options):
    """How models solve (2), whatever the number of components."""
    return solve(X, method="alternating", **options)


WAYS = [decompose, by_alternating, pursue]


@pytest.mark.parametrize("split", WAYS)
def test_the_parts_add_up(split):
    X = reference.mixture(40, 30, 2, missing=0.1)
    part = split(X, random_state=0)
    observed = ~np.isnan(X)
    total = part.low_rank + part.outliers + part.residual
    assert np.allclose(total[observed], X[observed])
    assert (part.outliers[~observed] == 0).all()
    assert (part.residual[~observed] == 0).all()
    assert np.allclose(part.low_rank, part.codes @ part.components)


@pytest.mark.parametrize("split", WAYS)
def test_components_fall_in_norm_and_signs_are_fixed(split):
    part = split(reference.mixture(40, 30, 3), random_state=0)
    norms = np.linalg.norm(part.components, axis=1)
    assert part.rank >= 2
    assert (np.diff(norms) <= 1e-12).all()
    gram = part.components @ part.components.T
    assert np.allclose(gram, np.diag(norms**2), atol=1e-8 * norms[0] ** 2)
    peaks = np.argmax(np.abs(part.components), axis=1)
    assert (part.components[np.arange(part.rank), peaks] > 0).all()


@pytest.mark.parametrize("split", WAYS)
@given(exponent=st.integers(-200, 200))
@settings(max_examples=8)
def test_scaling_the_data_scales_the_answer(split, exponent):
    X = reference.mixture(30, 20, 2)
    c = 10.0**exponent
    plain = split(X, tol=1e-6, random_state=0)
    scaled = split(c * X, tol=1e-6, random_state=0)
    size = np.abs(X).max()
    assert np.allclose(scaled.low_rank / c, plain.low_rank, atol=1e-4 * size)
    assert np.allclose(scaled.outliers / c, plain.outliers, atol=1e-4 * size)
    assert scaled.gap <= 2 * plain.gap + 1e-9
    assert plain.gap <= 2e-5
    if split is not pursue:
        assert np.isclose(scaled.rank_penalty / c, plain.rank_penalty, rtol=1e-6)


def test_a_mask_is_the_same_as_nan(rng):
    X = reference.mixture(40, 30, 2)
    mask = rng.random(X.shape) < 0.8
    one = decompose(X, mask=mask, random_state=0)
    other = decompose(np.where(mask, X, np.nan), random_state=0)
    assert np.array_equal(one.low_rank, other.low_rank)


def test_what_is_under_a_mask_does_not_matter(rng):
    X = reference.mixture(40, 30, 2)
    mask = rng.random(X.shape) < 0.8
    one = decompose(X, mask=mask, random_state=0)
    other = decompose(np.where(mask, X, 1e6), mask=mask, random_state=0)
    assert np.array_equal(one.low_rank, other.low_rank)


def test_missing_entries_are_imputed():
    rng = np.random.default_rng(0)
    L = rng.standard_normal((100, 2)) @ rng.standard_normal((2, 60))
    X = L + 0.01 * rng.standard_normal(L.shape)
    holes = rng.random(L.shape) < 0.3
    X[holes] = np.nan
    part = decompose(X, random_state=0)
    assert np.sqrt(np.mean((part.low_rank - L)[holes] ** 2)) < 0.02


def test_frames_come_back_as_frames():
    X = pd.DataFrame(reference.mixture(20, 4, 1), columns=list("abcd"), index=pd.date_range("2026-01-01", periods=20))
    part = decompose(X, random_state=0)
    for frame in (part.low_rank, part.outliers, part.residual):
        assert frame.columns.equals(X.columns)
        assert frame.index.equals(X.index)
    assert np.allclose(part.low_rank + part.outliers + part.residual, X)


@pytest.mark.parametrize("split", WAYS)
def test_same_seed_same_numbers(split):
    X = reference.mixture(40, 30, 2)
    one, other = (split(X, random_state=3) for _ in range(2))
    assert np.array_equal(one.low_rank, other.low_rank)
    assert np.array_equal(one.outliers, other.outliers)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, bool, np.float16])
def test_other_numbers_become_float64(kind):
    X = (10 * np.abs(reference.mixture(20, 10, 2))).astype(kind)
    assert decompose(X, random_state=0).low_rank.dtype == np.float64


def test_masked_arrays_mark_missing_entries(rng):
    X = reference.mixture(20, 10, 2)
    holes = rng.random(X.shape) < 0.1
    one = decompose(np.ma.array(X, mask=holes), random_state=0)
    assert np.array_equal(one.low_rank, decompose(np.where(holes, np.nan, X), random_state=0).low_rank)


def test_callback_counts_and_stops():
    seen = []

    def callback(progress):
        seen.append(progress.done)
        return progress.done == 4

    with pytest.warns(ConvergenceWarning, match="4 iterations"):
        part = decompose(reference.mixture(40, 30, 2), callback=callback, random_state=0)
    assert seen == [1, 2, 3, 4]
    assert part.n_iter == 4
    assert not part.converged


@pytest.mark.parametrize("split", WAYS)
def test_an_unfinished_run_says_so(split):
    with pytest.warns(ConvergenceWarning, match=r"Stopped after 3 iterations at a .* above tol=.*raise max_iter"):
        part = split(reference.mixture(40, 30, 2), max_iter=3, random_state=0)
    assert not part.converged
    assert 0 < part.gap <= 1


def test_all_zero_from_the_largest_penalties_on():
    X = reference.mixture(30, 20, 2, missing=0.1)
    rank_penalty, outlier_penalty = penalty_max(X)
    beyond = decompose(X, rank_penalty=1.001 * rank_penalty, outlier_penalty=1.001 * outlier_penalty)
    assert beyond.rank == 0
    assert not beyond.outliers.any()
    assert decompose(X, rank_penalty=0.99 * rank_penalty, outlier_penalty=1.001 * outlier_penalty).rank == 1
    assert decompose(X, rank_penalty=1.001 * rank_penalty, outlier_penalty=0.99 * outlier_penalty).outliers.any()


@pytest.mark.parametrize(("n", "m", "sigma"), [(200, 200, 0.05), (200, 200, 0.5), (400, 40, 0.1), (40, 400, 0.1)])
def test_the_noise_level_is_found_under_outliers(n, m, sigma):
    X = reference.mixture(n, m, 3, noise=sigma)
    found = noise_level(X, np.random.default_rng(0))
    assert 0.95 * sigma <= found <= 1.35 * sigma


def test_pure_noise_has_no_low_rank_part(rng):
    X = rng.standard_normal((150, 100))
    part = decompose(X, random_state=0)
    assert np.linalg.norm(part.low_rank) < 0.1 * np.linalg.norm(X)
    assert from_noise(1.0, 150, 100).rank_penalty == pytest.approx(part.rank_penalty, rel=0.05)


def test_huge_outliers_change_nothing():
    rng = np.random.default_rng(0)
    L = rng.standard_normal((120, 3)) @ rng.standard_normal((3, 90))
    X = L + 0.05 * rng.standard_normal(L.shape)
    where = rng.random(L.shape) < 0.05
    errors = []
    for size in (10, 1e4, 1e10):
        part = decompose(np.where(where, X + size * rng.choice([-1, 1], L.shape), X), random_state=0)
        assert part.converged
        errors.append(np.linalg.norm(part.low_rank - L) / np.linalg.norm(L))
    assert max(errors) < 0.03


@pytest.mark.parametrize("shape", [(1000, 2), (5, 5), (40, 30)])
def test_constant_data_are_not_noise(shape):
    part = decompose(np.full(shape, 7.0), random_state=0)
    assert part.rank == 1
    assert np.allclose(part.low_rank, 7.0, rtol=1e-3)


def test_exact_data_with_one_outlier_converge():
    rng = np.random.default_rng(0)
    L = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 20))
    X = L.copy()
    X[3, 4] += 10
    for part in (
        decompose(X, random_state=0),
        decompose(X, n_components=2, random_state=0),
        by_alternating(X, random_state=0),
    ):
        assert part.converged
        assert np.abs(part.low_rank - L).max() < 0.01


def test_a_few_columns_with_outliers_converge():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 1)) @ rng.standard_normal((1, 5))
    X += np.where(rng.random(X.shape) < 0.1, rng.uniform(-3, 3, X.shape), 0)
    part = decompose(X, random_state=0)
    assert part.converged
    assert part.rank == 1


def test_what_lies_under_a_mask_may_be_anything(rng):
    X = reference.mixture(20, 10, 2)
    mask = rng.random(X.shape) < 0.9
    part = decompose(np.where(mask, X, np.inf), mask=mask, random_state=0)
    assert np.isfinite(part.low_rank).all()


def test_nullable_columns_are_missing_entries():
    for kind in ("Int64", "Float64"):
        holes = pd.array([1, 2, None, 4] * 5, dtype=kind)
        frame = pd.DataFrame({"a": holes, "b": [1.5, 2.5, 3.5, 4.5] * 5, "c": 1.0})
        part = decompose(frame, random_state=0)
        assert (part.outliers["a"][frame["a"].isna()] == 0).all()
        assert unmingle.RobustPCA(random_state=0).fit(frame).n_features_in_ == 3


def test_zero_is_its_own_answer():
    for split in WAYS:
        part = split(np.zeros((5, 4)))
        assert (part.rank, part.objective, part.gap, part.converged) == (0, 0.0, 0.0, True)


def test_one_entry_one_row_one_column():
    for shape in ((1, 1), (1, 9), (9, 1)):
        part = decompose(np.full(shape, 3.0), rank_penalty=0.1, outlier_penalty=5.0)
        assert np.allclose(part.low_rank, 3.0 - 0.1 / np.sqrt(np.prod(shape)), atol=1e-4)


REFUSALS = [
    ({"X": [1.0, 2.0]}, "two dimensions"),
    ({"X": np.zeros((2, 3, 4))}, "two dimensions"),
    ({"X": np.zeros((0, 3))}, "at least one sample"),
    ({"X": np.full((3, 3), np.nan)}, "every entry is missing"),
    ({"X": np.array([[1.0, np.inf]])}, "infinity"),
    ({"X": [["a", "b"]]}, "numbers"),
    ({"X": [[1.0, 2.0], [3.0]]}, "equal length"),
    ({"X": [[{}, 1.0]]}, "numbers"),
    ({"X": pd.Series([1.0, 2.0])}, "two dimensions"),
    ({"X": pd.DataFrame({"when": pd.date_range("2026-01-01", periods=3)})}, "dates"),
    ({"rank_penalty": 10**400}, "rank_penalty"),
    ({"outlier_penalty": ["a"] * 4}, "outlier_penalty"),
    ({"X": np.eye(2) * 1j}, "real"),
    ({"n_components": 0}, "n_components"),
    ({"n_components": 2.5}, "n_components"),
    ({"rank_penalty": -1}, "rank_penalty"),
    ({"rank_penalty": "large"}, "rank_penalty"),
    ({"rank_penalty": np.nan}, "rank_penalty"),
    ({"outlier_penalty": 0}, "outlier_penalty"),
    ({"outlier_penalty": [1.0, 2.0]}, "4 features"),
    ({"outlier_penalty": [1.0, 2.0, -1.0, 1.0]}, "every feature"),
    ({"rank_penalty": 1e-320}, "penalty_max"),
    ({"tol": 0}, "tol"),
    ({"max_iter": 0}, "max_iter"),
    ({"mask": np.ones((2, 2))}, "mask"),
    ({"mask": np.zeros((5, 4), bool)}, "every entry is missing"),
    ({"random_state": "dice"}, "random_state"),
]


REFUSALS_OF_PURSUE = [
    ({"eps": -1.0}, "eps"),
    ({"eps": "none"}, "eps"),
    *((arguments, hint) for arguments, hint in REFUSALS if not {"rank_penalty", "n_components"} & arguments.keys()),
]


@pytest.mark.parametrize(
    ("split", "arguments", "hint"),
    [*((decompose, *refusal) for refusal in REFUSALS), *((pursue, *refusal) for refusal in REFUSALS_OF_PURSUE)],
)
def test_refusals_name_what_was_wrong(split, arguments, hint):
    arguments = {"X": np.arange(20.0).reshape(5, 4), **arguments}
    with pytest.raises((ValueError, TypeError)) as caught:
        split(**arguments)
    sentence = str(caught.value)
    assert hint in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")


def assert_clear(refusal):
    raised_in = traceback.extract_tb(refusal.__traceback__)[-1].filename
    assert raised_in.endswith("_validation.py") or "decomposition" in raised_in, raised_in
    assert str(refusal).endswith(".")
    assert "\n" not in str(refusal)


def any_matrix(rng):
    n, m = int(rng.integers(1, 30)), int(rng.integers(1, 20))
    rank = min(n, m, 3)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m)) + 0.1 * rng.standard_normal((n, m))
    spoiled = [
        lambda: X[0],
        lambda: X[None],
        lambda: X.astype(np.float32),
        lambda: np.where(rng.random(X.shape) < 0.1, np.inf, X),
        lambda: np.where(rng.random((n, 1)) < 0.3, np.nan, X),
        lambda: np.where(rng.random((1, m)) < 0.3, np.nan, X),
        lambda: np.where(rng.random(X.shape) < 0.8, np.nan, X),
        lambda: np.full_like(X, np.nan),
        lambda: np.full_like(X, 3.0),
        lambda: X[:1],
        lambda: X[:, :1],
        lambda: np.zeros_like(X),
        lambda: X * 10.0 ** rng.integers(-200, 200),
        lambda: X.astype(str),
        lambda: X + 1j,
        lambda: (10 * X).astype(int),
        lambda: X[:0],
        lambda: np.where(rng.random(X.shape) < 0.05, 1e9 * X, X),
        lambda: X,
    ]
    return spoiled[rng.integers(len(spoiled))]()


def any_options(rng, split, n_features):
    choices = {
        "n_components": [1, 2, 100, 0, -1, 2.5, "two"],
        "rank_penalty": [1.0, 0.1, -1.0, 0, np.nan, 1e-300, 1e300, None],
        "outlier_penalty": [1.0, 0.05, -1.0, 1e-300, 1e300, np.ones(3), np.ones(n_features), -np.ones(n_features)],
        "tol": [1e-3, 0, -1.0, np.nan],
        "max_iter": [1, 50, 0, 1.5],
        "eps": [0.0, 0.5, -1.0, 1e9],
        "mask": [np.ones(3), "mask"],
        "scale": ["columns", "rows"],
    }
    choices = {name: values for name, values in choices.items() if name in signature(split).parameters}
    options = {}
    for name in rng.choice(list(choices), size=rng.integers(0, 3), replace=False):
        options[name] = choices[name][rng.integers(len(choices[name]))]
    return options


@pytest.mark.parametrize("seed", range(200))
def test_bad_input_gets_a_right_answer_or_one_clear_sentence(seed):
    rng = np.random.default_rng(seed)
    X = any_matrix(rng)
    split = decompose if rng.random() < 0.7 else pursue
    options = any_options(rng, split, np.shape(X)[-1])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            part = split(X, random_state=0, **options)
    except (TypeError, ValueError) as refusal:
        assert_clear(refusal)
        return
    X = np.asarray(X, dtype=float)
    observed = ~np.isnan(X)
    for array in (part.low_rank, part.outliers, part.residual, part.codes, part.components):
        assert np.isfinite(array).all()
    total = part.low_rank + part.outliers + part.residual
    assert np.allclose(total[observed], X[observed], rtol=1e-5, atol=1e-5 * np.abs(X[observed]).max())
    assert 0 <= part.gap <= 1
    if part.converged and "n_components" not in options:
        assert part.gap <= max(options.get("tol", 1e-4), 1e-4 if part.low_rank.dtype == np.float32 else 0)


def test_public_front_door_is_the_same_function():
    assert unmingle.decompose is decompose


def test_a_callback_that_stops_is_heeded_in_both_precisions():
    seen = []

    def stop(progress):
        seen.append(progress.done)
        return progress.done == 3

    with pytest.warns(ConvergenceWarning, match="3 iterations"):
        part = decompose(reference.mixture(60, 50, 2), tol=1e-4, callback=stop, random_state=0)
    assert seen == [1, 2, 3]
    assert part.low_rank.dtype == np.float64
    with pytest.warns(ConvergenceWarning, match="Stopped after 1 iterations"):
        decompose(reference.mixture(60, 50, 2), tol=1e-4, max_iter=1, random_state=0)
