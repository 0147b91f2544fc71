"""`RobustNMF`: conventions, certified codes, recovery, files and refusals."""

import pickle
import warnings

import cvxpy
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import unmingle
from unmingle import RobustNMF, store
from unmingle.core import objective


@parametrize_with_checks(
    [RobustNMF(random_state=0), RobustNMF(2, random_state=0), RobustNMF(2, init="random", random_state=0)],
    expected_failed_checks=lambda _: dict.fromkeys(
        ("check_outliers_fit_predict", "check_outliers_train"), "they give negative rows, whatever the tags say"
    ),
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def planted(n, m, q, *, noise=0.02, outliers=0.1, seed=0):
    """Data of at least 0, and the product without noise and outliers."""
    rng = np.random.default_rng(seed)
    product = rng.gamma(1.0, 1.0, (n, q)) @ rng.gamma(1.0, 1.0, (q, m)) / q
    X = product + noise * rng.standard_normal((n, m))
    X += np.where(rng.random((n, m)) < outliers, rng.uniform(0, 10, (n, m)), 0)
    return np.maximum(X, 0), product


def distance(found, truth):
    return np.linalg.norm(found - truth) / np.linalg.norm(truth)


@pytest.fixture(scope="module")
def world():
    return planted(150, 60, 3)


@pytest.fixture(scope="module")
def model(world):
    return RobustNMF(3, random_state=0).fit(world[0])


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(("n", "m", "q"), [(150, 120, 4), (600, 60, 5), (60, 500, 5)])
@pytest.mark.parametrize("surplus", [0, 3])
def test_automatic_penalties_find_planted_parts(n, m, q, kind, surplus):
    """Five times nearer than plain NMF, which is told the number of parts, even if the number is not known here."""
    rng = np.random.default_rng(3)
    S, U = rng.gamma(1.0, 1.0, (n, q)), rng.gamma(1.0, 1.0, (q, m))
    if kind == "sparse":
        S, U = S * (rng.random(S.shape) < 0.5), U * (rng.random(U.shape) < 0.4)
    product = S @ U
    X = product + 0.02 * product.mean() * rng.standard_normal((n, m))
    X = np.maximum(X + np.where(rng.random((n, m)) < 0.1, rng.uniform(0, 10 * product.mean(), (n, m)), 0), 0)
    found = RobustNMF(q + surplus, tol=1e-3, random_state=0).fit(X).decompose(X)
    plain = NMF(q, init="nndsvda", max_iter=300, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        other = plain.fit_transform(X) @ plain.components_
    assert distance(found.low_rank, product) < 0.2 * distance(other, product)
    assert distance(found.low_rank, product) < 0.05


def test_it_counts_its_components_if_nobody_does(world):
    assert RobustNMF(random_state=0).fit(world[0]).n_components_ == 3
    assert RobustNMF(1000, rank_penalty=1.0, max_iter=5000).fit(world[0][:20]).n_components_ <= 20


def test_what_fit_tells_of_itself(world, model):
    X = world[0]
    codes, components = model.transform(X), model.components_
    lam = np.full(X.shape[1], model.outlier_penalty_)
    norms = np.linalg.norm(components, axis=1)
    assert components.min() >= 0
    assert (np.diff(norms) <= 0).all()
    assert model.converged_
    measured = objective.nonnegative_stationarity(X, components, codes, model.rank_penalty_, lam)
    assert measured <= 2 * model.tol
    assert model.stationarity_ <= model.tol
    outliers = np.maximum(X - codes @ components - lam, 0)
    value = objective.factored(X, components, codes, outliers, model.rank_penalty_, lam)
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    assert model.objective_ >= value
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(X - codes @ components), rel=1e-3)
    n, m = X.shape
    assert model.outlier_penalty_ == pytest.approx(3 * model.rank_penalty_ / (np.sqrt(n) + np.sqrt(m)))


def test_without_outliers_it_is_scikit_learns_nmf(world):
    X = world[1]
    (n, m), start = X.shape, np.random.default_rng(1).random((3, X.shape[1]))
    ours = RobustNMF(init=start, rank_penalty=0.1, outlier_penalty=1e6, tol=1e-7, max_iter=20000).fit(X)
    how = {"alpha_W": 0.1 / m, "alpha_H": 0.1 / n, "l1_ratio": 0.0, "tol": 1e-10, "max_iter": 20000}
    theirs = NMF(3, init="custom", **how)
    codes = theirs.fit_transform(X, W=ours.transform(X), H=start.copy())
    squares = np.sum(codes**2) + np.sum(theirs.components_**2)
    value = 0.5 * np.sum((X - codes @ theirs.components_) ** 2) + 0.05 * squares
    assert ours.objective_ == pytest.approx(value, rel=1e-4)
    assert ours.reconstruction_err_ == pytest.approx(theirs.reconstruction_err_, rel=1e-2)
    assert np.allclose(ours.inverse_transform(ours.transform(X)), codes @ theirs.components_, atol=1e-2)


def test_codes_are_the_nonnegative_regression_where_there_are_no_outliers(world, model):
    light = clone(model).set_params(rank_penalty=1e-9, outlier_penalty=1e6, max_iter=1)
    with pytest.warns(ConvergenceWarning, match=r"1 iterations at a stationarity of .*, above tol=1.0e-04"):
        light.fit(world[0])
    wanted = np.array([nnls(light.components_.T, row)[0] for row in world[1][:20]])
    assert np.allclose(light.transform(world[1][:20]), wanted, atol=1e-6)


def test_codes_and_outliers_are_those_of_a_general_solver(world, model):
    X = world[0][:5].copy()
    X[2, 7:30] = np.nan
    part = model.decompose(X)
    for row, code, outlier in zip(X, part.codes, part.outliers, strict=True):
        known = ~np.isnan(row)
        s, o = cvxpy.Variable(3, nonneg=True), cvxpy.Variable(int(known.sum()), nonneg=True)
        rest = row[known] - s @ model.components_[:, known] - o
        penalties = 0.5 * model.rank_penalty_ * cvxpy.sum_squares(s) + model.outlier_penalty_ * cvxpy.sum(o)
        cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(rest) + penalties)).solve()
        assert np.allclose(code, s.value, atol=1e-3)
        assert np.allclose(outlier[known], o.value, atol=1e-3)


def test_every_projection_is_certified(world, model):
    X = world[0]
    part = model.decompose(X)
    signs = {"nonnegative_codes": True, "nonnegative_outliers": True}
    problem = model.components_, part.codes, model.rank_penalty_, model.outlier_penalty_
    assert part.sample_gap.max() <= 1e-10
    assert objective.projection_gap(X, *problem, part.outliers, **signs).max() < 1e-9
    assert part.codes.min() >= 0
    assert part.outliers.min() >= 0
    cost = objective.projection(X, model.components_, part.codes, part.outliers, *problem[2:])
    assert part.objective == pytest.approx(cost.sum())
    assert np.allclose(part.low_rank + part.outliers + part.residual, X)


def test_each_row_is_projected_on_its_own(world, model):
    X = world[0]
    whole = model.transform(X)
    assert np.allclose(model.transform(X[7:8]), whole[7:8], atol=1e-9)
    assert np.allclose(model.transform(X[::-1]), whole[::-1], atol=1e-9)
    assert np.array_equal(clone(model).fit_transform(X), whole)


def test_new_data_are_freed_of_outliers_and_holes_are_filled():
    X, product = planted(190, 60, 3)
    model, clean = RobustNMF(3, random_state=0).fit(X[:150]), product[150:]
    rng = np.random.default_rng(5)
    hit = rng.random(clean.shape) < 0.15
    holes = rng.random(clean.shape) < 0.2
    holes[5] = True
    dirty = np.where(holes, np.nan, clean + 50 * hit)
    part = model.decompose(dirty)
    rest = np.arange(40) != 5
    assert distance(part.low_rank[rest], clean[rest]) < 0.03
    assert (part.codes[5] == 0).all()
    assert (part.outliers[hit & ~holes] > 40).all()
    assert (part.outliers[holes] == 0).all()


def test_strange_rows_score_low(world, model):
    ordinary = np.maximum(world[1], 0)
    strange = np.random.default_rng(6).gamma(0.3, 5.0, (20, 60))
    assert np.mean(model.score_samples(strange)[:, None] < model.score_samples(ordinary)) > 0.95
    assert model.score(ordinary) > model.score(strange)


@pytest.mark.parametrize("scale", [1e-180, 1e180])
def test_models_of_any_scale(scale, world, model):
    X = world[0]
    other = RobustNMF(3, random_state=0).fit(scale * X)
    assert np.allclose(other.decompose(scale * X).low_rank / scale, model.decompose(X).low_rank, atol=1e-3)
    assert np.allclose(other.score_samples(scale * X), model.score_samples(X), rtol=1e-2)
    assert other.reconstruction_err_ / scale == pytest.approx(model.reconstruction_err_, rel=1e-3)
    start = np.sqrt(scale) * np.ones((3, 60))
    start[:, ::2] *= np.random.default_rng(0).random((3, 30))
    given = RobustNMF(init=start, tol=1e-3).fit(scale * X)
    assert distance(given.decompose(scale * X).low_rank / scale, model.decompose(X).low_rank) < 0.05


def test_float32_stays_float32(world, model):
    X = world[0].astype(np.float32)
    single = RobustNMF(3, tol=1e-7, random_state=0).fit(X)
    assert single.converged_
    part = single.decompose(X)
    kinds = {array.dtype for array in (single.components_, part.codes, part.outliers, part.low_rank, part.residual)}
    assert kinds == {np.dtype(np.float32)}
    assert part.sample_gap.max() < 1e-4
    assert np.allclose(part.low_rank, model.decompose(world[0]).low_rank, atol=1e-2)
    assert model.transform(X).dtype == np.float32


@pytest.mark.parametrize(("dtype", "sizes"), [(np.float64, (1e6, 1e20, 1e200)), (np.float32, (1e6, 1e20, 1e36))])
def test_a_huge_outlier_changes_neither_its_own_code_nor_other_rows(dtype, sizes, world):
    model = RobustNMF(3, random_state=0).fit(world[0].astype(dtype))
    new = world[1].astype(dtype)
    new[3, 5] = 100
    expected = model.transform(new)
    for size in sizes:
        new[3, 5] = size
        assert np.allclose(model.transform(new), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_data(value):
    model = RobustNMF(2, random_state=0).fit(np.full((12, 7), value))
    part = model.decompose(np.full((3, 7), value))
    assert np.allclose(part.low_rank, value, atol=1e-2)
    assert model.n_components_ == (0 if value == 0 else model.n_components_)
    assert model.inverse_transform(model.transform(np.full((3, 7), value))).shape == (3, 7)


def test_the_same_data_give_the_same_numbers(world):
    bits = [RobustNMF(3, random_state=seed).fit(world[0]).components_.tobytes() for seed in (None, None, 0, 1)]
    assert bits[0] == bits[1] == bits[2] != bits[3]


def test_data_and_start_are_left_alone(world):
    X, start = world[0].copy(), np.ones((2, 60))
    start[0, :30] = 0
    X.setflags(write=False)
    start.setflags(write=False)
    RobustNMF(2, init=start, tol=1e-2).fit(X).decompose(X)


def test_pipeline_clone_pickle_and_frames(world, model):
    X = pd.DataFrame(world[0], columns=[f"bin {j}" for j in range(60)])
    pipe = make_pipeline(MaxAbsScaler(), RobustNMF(3, tol=1e-2)).set_output(transform="pandas")
    assert list(pipe.fit_transform(X).columns) == ["robustnmf0", "robustnmf1", "robustnmf2"]
    assert list(RobustNMF(1, tol=1e-2).fit(X).decompose(X).outliers.columns) == list(X.columns)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).transform(world[0]), model.transform(world[0]))


@pytest.mark.parametrize("options", [{}, {"outlier_penalty": np.linspace(0.1, 0.2, 60)}, {"init": np.eye(3, 60) + 1}])
def test_saved_models_come_back_the_same(options, world, tmp_path):
    train = pd.DataFrame(world[0], columns=[f"bin {j}" for j in range(60)])
    model = RobustNMF(3, **options, tol=1e-2, random_state=0).fit(train)
    model.save(tmp_path / "model.safetensors")
    again = unmingle.load(tmp_path / "model.safetensors")
    assert vars(again).keys() == vars(model).keys()
    assert np.array_equal(again.transform(train), model.transform(train))
    assert str(again.get_params()) == str(model.get_params())


def test_a_file_with_negative_parts_is_refused(model, tmp_path):
    content = model._to_store()
    content["fitted"]["components_"] = -model.components_
    store.save(tmp_path / "odd.safetensors", "RobustNMF", content)
    with pytest.raises(store.StoreError, match="components_"):
        unmingle.load(tmp_path / "odd.safetensors")


def test_negative_entries_are_refused_by_name(world, model):
    X = world[0].copy()
    X[3, 4], X[2, 7], X[0, 0] = -1.5, -2.25, np.nan
    sentence = r"RobustNMF: the first is -2.25 in row 2, column 7; make it 0, or NaN if it is unknown, or use RobustPCA"
    for method in (RobustNMF(3).fit, model.transform, model.decompose, model.score_samples):
        with pytest.raises(ValueError, match=sentence):
            method(X)
    frame = pd.DataFrame(X, columns=[f"bin {j}" for j in range(60)], index=[f"day {i}" for i in range(150)])
    with pytest.raises(ValueError, match=r"-2.25 in row 'day 2', column 'bin 7';"):
        RobustNMF(3).fit(frame)
    X[[3, 2], [4, 7]] = -0.0
    assert RobustNMF(3, tol=1e-2).fit(X).n_components_ == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"init": "svd"}, "init must be one of 'nndsvd', 'random', got 'svd'"),
        ({"init": np.ones((2, 60))}, r"init must be .* 3 components of 60 features, got an array of shape \(2, 60\)"),
        ({"init": np.ones((3, 5))}, r"got an array of shape \(3, 5\)"),
        ({"init": -np.ones((3, 60))}, "init must be finite and at least 0"),
        ({"init": np.full((3, 60), np.nan)}, "init must be finite and at least 0"),
        ({"n_components": 0}, "n_components must be a whole number of at least 1, got 0"),
        ({"tol": 0}, "tol must be a finite number above 0, got 0"),
        ({"max_iter": 0.5}, "max_iter must be a whole number"),
        ({"rank_penalty": "none"}, "rank_penalty must be a number above 0 or 'auto', got 'none'"),
        ({"outlier_penalty": -1}, "outlier_penalty must be a finite number above 0, got -1"),
        ({"rank_penalty": 1e-320}, "penalty_max"),
    ],
)
def test_bad_parameters_get_one_sentence(options, words, world):
    with pytest.raises(ValueError, match=words):
        RobustNMF(**{"n_components": 3, **options}).fit(world[0])


def test_other_refusals_are_clear(world, model):
    with pytest.raises(NotFittedError):
        RobustNMF(3).transform(world[0])
    with pytest.raises(ValueError, match="only NaN"):
        RobustNMF(3).fit(np.full((4, 3), np.nan))
    with pytest.raises(ValueError, match="3 columns"):
        model.inverse_transform(np.zeros((2, 5)))


def test_progress_is_told_and_may_stop_the_work(world):
    seen = []

    def watch(progress):
        seen.append(progress.done)
        return len(seen) == 4

    with pytest.warns(ConvergenceWarning, match="after 4 iterations"):
        stopped = RobustNMF(3, tol=1e-9).fit(world[0], callback=watch)
    assert seen == [1, 2, 3, 4]
    assert (stopped.n_iter_, stopped.converged_) == (4, False)
    assert stopped.stationarity_ > 1e-9


def test_shadows_of_a_lit_face_add_darkness(data_dir):
    """Real data: one person under many lights, half of the images for training; darkness is one minus light."""
    faces = np.load(data_dir / "faces" / "yaleB_half_8subjects.npz")
    one = faces["images"][faces["subject"] == 15][:, ::2, ::2].reshape(-1, 48 * 42).astype(np.float32) / 255
    dark = 1 - one
    model = RobustNMF(6, random_state=0).fit(dark[::2])
    part = model.decompose(dark[1::2])
    assert model.converged_
    assert part.sample_gap.max() <= 1e-4
    plain = NMF(6, init="nndsvda", tol=1e-3, max_iter=500).fit(dark[::2])
    other = plain.transform(dark[1::2]) @ plain.components_
    lit = one[1::2] > 0.3
    assert np.median(np.abs(part.residual[lit])) < np.median(np.abs(dark[1::2] - other)[lit])
    assert np.mean(part.outliers[one[1::2] < 0.02]) > 3 * np.mean(part.outliers[lit])
