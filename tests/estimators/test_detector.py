"""Estimators as detectors of bad rows, beside scikit-learn's."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import unmingle
from unmingle import LearnedRobustNMF, LearnedRobustPCA, OnlineRobustNMF, OnlineRobustPCA, RobustNMF, RobustPCA

DETECTORS = [
    RobustPCA(),
    RobustNMF(),
    OnlineRobustPCA(),
    OnlineRobustNMF(3),
    LearnedRobustPCA(training=unmingle.learn.Training(passes=2)),
    LearnedRobustNMF(3, training=unmingle.learn.Training(passes=2)),
]
BAD = slice(0, 15)


def table(n=300, seed=0):
    """Rows of a nonnegative low-rank table; the first 15 of 300 do not belong to it."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(4.0, 0.5, (n, 3)) @ np.random.default_rng(9).gamma(1.0, 1.0, (3, 20))
    X = np.abs(X + 0.1 * rng.standard_normal(X.shape))
    if n == 300:
        X[BAD] = rng.permuted(X[BAD], axis=1)
    return X


@pytest.fixture(scope="module", params=DETECTORS, ids=lambda model: type(model).__name__)
def fitted(request):
    return clone(request.param).fit(table())


def test_one_loop_beside_isolation_forest(fitted):
    X = table()
    for detector in (fitted, IsolationForest(random_state=0).fit(X)):
        scores = detector.score_samples(X)
        assert scores.shape == (300,)
        assert np.allclose(detector.decision_function(X), scores - detector.offset_)
        assert np.array_equal(detector.predict(X), np.where(scores < detector.offset_, -1, 1))
        assert np.mean(scores[BAD, None] < scores[15:]) > 0.6


def test_bad_rows_are_found_and_ordinary_ones_are_not(fitted):
    told = fitted.predict(table())
    assert (told[BAD] == -1).mean() > 0.9
    assert (fitted.predict(table(2000, 1)) == -1).mean() < 0.06


def test_flags_at_the_usual_rate_are_what_predict_tells(fitted):
    X = table()
    assert np.array_equal(fitted.outlier_flags(X), fitted.predict(X) == -1)
    assert fitted.outlier_flags(X, false_alarm_rate=0.2).sum() > fitted.outlier_flags(X).sum()


@pytest.mark.parametrize("model", DETECTORS, ids=lambda model: type(model).__name__)
def test_contamination_is_the_share_of_outliers(model):
    X = table()
    told = clone(model).set_params(contamination=0.1).fit_predict(X)
    assert (told == -1).sum() == 30
    for share in (0, 0.6, "some", True):
        with pytest.raises(ValueError, match=r"contamination must be .auto. or a number above 0"):
            clone(model).set_params(contamination=share).fit(X)


def test_files_keep_scores(fitted, tmp_path):
    fitted.save(tmp_path / "m.safetensors")
    again = unmingle.load(tmp_path / "m.safetensors")
    X = table()
    assert again.offset_ == fitted.offset_
    assert np.array_equal(again.score_samples(X), fitted.score_samples(X))


def test_missing_entries_do_not_count(fitted):
    X = table(200, 2)
    whole = fitted.score_samples(X)
    holes = np.random.default_rng(3).random(X.shape) < 0.3
    holes[5] = True
    scores = fitted.score_samples(np.where(holes, np.nan, X))
    assert np.isfinite(scores).all()
    assert scores[5] > np.median(whole) - 0.5
    assert abs(np.median(scores) - np.median(whole)) < 1


def test_a_stream_knows_what_is_ordinary_now():
    model, rng = OnlineRobustPCA(2, random_state=0), np.random.default_rng(0)
    V = rng.standard_normal((2, 10))
    quiet, loud = (rng.standard_normal((600, 2)) @ V + noise * rng.standard_normal((600, 10)) for noise in (0.1, 0.5))
    model.fit(quiet)
    assert (model.predict(loud) == -1).mean() > 0.9
    for start in range(0, 600, 50):
        model.partial_fit(loud[start : start + 50])
    model.partial_fit(np.concatenate([loud, loud]))
    assert (model.predict(loud) == -1).mean() < 0.1


def test_calibrate_changes_scores_alone():
    X = table()
    model = RobustPCA().fit(X[15:])
    components, before = model.components_.copy(), model.offset_
    assert model.set_params(contamination=0.25).calibrate(X) is model
    assert np.array_equal(model.components_, components)
    assert model.offset_ > before
    assert (model.predict(X) == -1).sum() == 75


def test_a_model_of_an_older_file_says_how_to_go_on():
    model = RobustPCA().fit(table())
    del model._rows
    with pytest.raises(ValueError, match=r"This RobustPCA does not know what ordinary rows look like; .*calibrate"):
        model.predict(table())
    assert (model.calibrate(table()).predict(table())[BAD] == -1).all()


def test_pipeline_and_grid_search_without_scoring():
    X = table()
    pipe = make_pipeline(FunctionTransformer(np.sqrt), RobustPCA()).fit(X)
    assert (pipe.predict(X)[BAD] == -1).mean() > 0.9
    assert pipe.score_samples(X).shape == pipe.decision_function(X).shape == (300,)
    search = GridSearchCV(RobustPCA(), {"n_components": [1, 3]}, cv=3).fit(X[15:])
    assert search.best_params_ == {"n_components": 3}
    assert search.predict(X).shape == (300,)


def test_polars_in_polars_out():
    X = table()
    frame = pl.DataFrame(X, schema=[f"sensor {j}" for j in range(20)])
    model = RobustPCA().set_output(transform="polars").fit(frame)
    assert list(model.feature_names_in_) == frame.columns
    codes = model.transform(frame)
    assert isinstance(codes, pl.DataFrame)
    assert codes.columns == [f"robustpca{k}" for k in range(model.n_components_)]
    part = model.decompose(frame)
    assert isinstance(part.low_rank, pl.DataFrame)
    assert part.outliers.columns == frame.columns
    plain = RobustPCA().fit(X)
    assert np.array_equal(part.low_rank.to_numpy(), plain.decompose(X).low_rank)
    assert np.array_equal(model.predict(frame), plain.predict(X))
    gaps = frame.with_columns(pl.when(pl.arange(0, 300) % 7 > 0).then(pl.col("sensor 3")).alias("sensor 3"))
    assert gaps["sensor 3"].null_count() == 43
    assert np.isfinite(model.decompose(gaps).low_rank.to_numpy()).all()
    assert isinstance(unmingle.decompose(gaps).outliers, pl.DataFrame)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["Oslo", "Rome", "Oslo"], "column 'place' holds 'Oslo'; drop that column, or turn it into numbers"),
        (["1", "2", "high"], "column 'place' holds 'high'"),
        (np.array(["2024-01-01", "2024-01-02", "2024-01-03"], "M8[us]"), "dates in column 'place'"),
    ],
)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_column_without_numbers_is_named(frame, values, message):
    X = frame({"level": [1.0, 2.0, 3.0], "place": values})
    for call in (RobustPCA().fit, OnlineRobustPCA().partial_fit, unmingle.decompose):
        with pytest.raises(ValueError, match=message):
            call(X)


def test_categories_without_numbers_are_named_and_numbers_as_text_are_read():
    X = pd.DataFrame({"level": [1.0, 2.0, 4.0], "kind": pd.Categorical(["a", "b", "a"])})
    with pytest.raises(ValueError, match="column 'kind' holds 'a'"):
        RobustPCA().fit(X)
    with pytest.raises(ValueError, match="column 'kind' holds 'a'"):
        RobustPCA().fit(
            pl.DataFrame({"level": [1.0, 2.0, 4.0], "kind": pl.Series(["a", "b", "a"], dtype=pl.Categorical)})
        )
    for frame in (pd.DataFrame, pl.DataFrame):
        read = frame({"level": [1, 2, 4], "more": ["1.5", "2", None], "on": [True, False, True]})
        assert unmingle.decompose(read).low_rank.shape == (3, 3)
