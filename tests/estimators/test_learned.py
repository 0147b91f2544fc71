"""`LearnedRobustPCA`: what it learns, at once and from streams, and that its answers need no torch."""

import os
import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import unmingle
from unmingle import Encoder, LearnedRobustPCA, RobustPCA, solvers, store
from unmingle.metrics import relative_error, subspace_angle
from unmingle.synth import subspace_stream

M, Q = 24, 3


def learned(n_components=Q, **options):
    return LearnedRobustPCA(n_components, **{"max_passes": 10, "n_layers": 3, "random_state": 0, **options})


@parametrize_with_checks(
    [
        LearnedRobustPCA(max_passes=2, random_state=0),
        LearnedRobustPCA(2, update_dictionary=True, max_passes=2, n_layers=2, random_state=0),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def samples(n, seed, noise=0.05):
    """Samples of one subspace with outliers, their low-rank part and their outliers."""
    U = np.random.default_rng(99).standard_normal((Q, M))
    rng = np.random.default_rng(seed)
    low_rank = rng.standard_normal((n, Q)) @ U
    outliers = np.where(rng.random((n, M)) < 0.15, rng.uniform(-5, 5, (n, M)), 0)
    return low_rank + outliers + noise * rng.standard_normal((n, M)), low_rank, outliers


@pytest.fixture(scope="module")
def X():
    return samples(300, 1)[0]


@pytest.fixture(scope="module")
def new():
    return samples(200, 2)[0]


@pytest.fixture(scope="module")
def model(X):
    return learned(max_passes=50).fit(X)


def state_of(model):
    """Everything that a model holds, as plain values and bytes."""

    def plain(value):
        if isinstance(value, Encoder):
            return [plain(part) for part in (value._to_store(), value.layers)]
        if isinstance(value, dict):
            return {name: plain(part) for name, part in value.items()}
        if isinstance(value, tuple | list):
            return [plain(part) for part in value]
        return (value.dtype, value.shape, value.tolist()) if isinstance(value, np.ndarray) else value

    return {name: plain(value) for name, value in vars(model).items()}


def assert_same(one, other):
    """The same numbers to the last bit."""
    mine, wanted = state_of(one), state_of(other)
    assert mine.keys() == wanted.keys()
    for name, value in mine.items():
        assert value == wanted[name], name


class TestFit:
    def test_the_components_are_those_of_the_factored_problem(self, X, model):
        exact = RobustPCA(Q, random_state=0).fit(X)
        assert model.n_components_ == Q
        assert model.rank_penalty_ == pytest.approx(exact.rank_penalty_, rel=1e-3)
        assert subspace_angle(model.components_, exact.components_) < 0.1
        assert subspace_angle(model.components_, np.random.default_rng(99).standard_normal((Q, M))) < 2

    def test_training_brings_new_samples_nearer_to_the_exact_answer(self, X, new, model):
        start = model.encoder_.untrained()
        exact = unmingle.learn.exact_answer(start, new)
        least, before, after = (
            start.cost(new, *answer).mean() for answer in (exact, start.encode(new), model.encoder_.encode(new))
        )
        assert before - after > 0.15 * (before - least)
        assert len(model.history_) > 10

    def test_history_and_card_are_in_units_of_the_data(self, X):
        data = 37 * X
        model = learned(validation=0.0, update_dictionary=True).fit(data)
        plain = RobustPCA(Q, random_state=0).fit(data)
        weights = None
        for encoder, cost in (
            (Encoder.from_components(plain.components_, rank_penalty=model.rank_penalty_,
                                     outlier_penalty=model.outlier_penalty_, n_layers=3), model.history_[0, 1]),
            (model.encoder_, model.history_[:, 1].min()),
        ):  # fmt: skip
            size = model.rank_penalty_ / (2 * len(X)) * np.sum(encoder.components**2)
            f = encoder.cost(data, *encoder.encode(data))
            weights = 1 / np.maximum(1, f / np.median(f)) if weights is None else weights  # those of the start
            assert np.average(f, weights=weights) + size == pytest.approx(cost, rel=1e-3)
        assert model.card_["validation cost, untrained"] == model.history_[0, 1]
        assert model.card_["validation cost, trained"] == model.history_[:, 1].min()
        assert (model.card_["samples"], model.card_["features"], model.card_["components"]) == (300, M, Q)
        assert model.card_["steps"] == model.history_[-1, 0] == 40

    def test_dictionary_too(self, X, model):
        moved = learned(update_dictionary=True, max_passes=50).fit(X)
        assert not np.array_equal(moved.components_, model.components_)
        assert np.array_equal(moved.components_, moved.encoder_.components)
        assert subspace_angle(moved.components_, model.components_) < 3
        assert moved.history_[:, 1].min() < moved.history_[0, 1]

    @pytest.mark.parametrize("options", [{"tied": False}, {"structure": "full"}, {"loss": "imitation"}], ids=str)
    def test_settings_reach_the_network(self, options, X):
        model = learned(**options).fit(X)
        assert model.encoder_.tied == options.get("tied", True)
        assert model.encoder_.structure == options.get("structure", "low_rank")
        assert model.encoder_.n_layers == 3
        assert model.history_[:, 1].min() < model.history_[0, 1]

    def test_penalties_that_were_given(self, X):
        lam = np.linspace(0.2, 0.4, M)
        model = learned(rank_penalty=3.0, outlier_penalty=lam).fit(X)
        assert model.rank_penalty_ == model.encoder_.rank_penalty == 3.0
        assert np.array_equal(model.outlier_penalty_, lam)
        assert np.allclose(model.encoder_.outlier_penalty, lam, rtol=1e-15)

    def test_seeds(self, X):
        one, again, other = (learned(random_state=seed).fit(X) for seed in (0, 0, 1))
        assert_same(one, again)
        assert not np.array_equal(one.encoder_.layers.decoder, other.encoder_.layers.decoder)

    def test_budget(self, X):
        assert learned(max_passes=3).fit(X).history_[-1, 0] == 12, "270 samples to learn from, 4 batches a pass"
        assert learned(max_passes=3, max_steps=5).fit(X).history_[-1, 0] == 5

    def test_scale_is_a_matter_of_units(self, X, new):
        """A power of two loses no digit anywhere."""
        c = 2.0**20
        plain, large = (learned(update_dictionary=True).fit(rows) for rows in (X, c * X))
        assert large.rank_penalty_ == pytest.approx(c * plain.rank_penalty_, rel=1e-12)
        assert np.allclose(large.history_[:, 1], c**2 * plain.history_[:, 1], rtol=1e-9)
        one, other = plain.decompose(new), large.decompose(c * new)
        assert np.allclose(other.low_rank, c * one.low_rank, rtol=1e-9, atol=1e-9 * c)
        assert np.allclose(other.outliers, c * one.outliers, rtol=1e-9, atol=1e-9 * c)
        assert np.allclose(other.codes, np.sqrt(c) * one.codes, rtol=1e-9, atol=1e-9 * np.sqrt(c))
        assert np.allclose(other.sample_gap, one.sample_gap, rtol=1e-6)

    def test_float32_stays_float32(self, X, new):
        model = learned(update_dictionary=True).fit(X.astype(np.float32))
        for _ in range(2):
            assert model.components_.dtype == model.encoder_.layers.decoder.dtype == np.float32
            part = model.decompose(new.astype(np.float32))
            parts = model.transform(new.astype(np.float32)), part.codes, part.low_rank, part.outliers, part.residual
            assert {part.dtype for part in parts} == {np.dtype(np.float32)}
            assert model.transform(new).dtype == np.float64
            assert model.history_[:, 1].min() < model.history_[0, 1]
            model.partial_fit(X[:20].astype(np.float32))

    def test_interrupted_fit_goes_on(self, X, tmp_path):
        def interrupt(progress):
            if progress.done == 17:
                raise KeyboardInterrupt

        path = tmp_path / "c.safetensors"
        for seed in (0, None):
            with pytest.raises(KeyboardInterrupt):
                learned(random_state=seed).fit(X, checkpoint=path, callback=interrupt)
            resumed = learned(random_state=seed).fit(X, checkpoint=path)
            path.unlink()
            assert resumed.history_[-1, 0] > 17
            if seed == 0:
                assert_same(resumed, learned().fit(X))
        assert learned().fit(X, callback=lambda progress: progress.done == 4).history_[-1, 0] == 4

    def test_a_checkpoint_of_other_settings_is_refused(self, X, tmp_path):
        path = tmp_path / "c.safetensors"
        learned().fit(X, checkpoint=path, callback=lambda progress: True)
        for other in ({"n_layers": 4}, {"rank_penalty": 1.0}, {"n_components": 2}, {"loss": "imitation"}):
            with pytest.raises(ValueError, match="belongs to other data or settings"):
                learned(**other).fit(X, checkpoint=path)
        with pytest.raises(ValueError, match="belongs to other data or settings"):
            learned().fit(X[::-1], checkpoint=path)


class TestAnswers:
    def test_transform_is_the_encoder(self, new, model):
        codes, outliers = model.encoder_.encode(new)
        assert np.array_equal(model.transform(new), codes)
        part = model.decompose(new)
        assert np.array_equal(part.codes, codes)
        assert np.array_equal(part.outliers, outliers)
        assert np.array_equal(model.inverse_transform(codes), codes @ model.components_)

    def test_the_parts_make_up_the_sample(self, new, model):
        part = model.decompose(new)
        assert np.allclose(part.low_rank + part.outliers + part.residual, new, rtol=0, atol=1e-12)
        assert np.array_equal(part.low_rank, model.inverse_transform(part.codes))
        cost = model.encoder_.cost(new, part.codes, part.outliers)
        assert part.objective == pytest.approx(cost.sum())
        assert part.gap == part.sample_gap.max()

    @pytest.mark.parametrize("missing", [0.0, 0.2])
    def test_the_gap_bounds_how_far_an_answer_is_from_the_exact_one(self, missing, new, model):
        data = new.copy()
        data[np.random.default_rng(3).random(new.shape) < missing] = np.nan
        part = model.decompose(data)
        lam = np.full(M, model.outlier_penalty_)
        atoms = np.array(model.components_)
        codes = next(solvers.newton(data, atoms, model.rank_penalty_, lam, tol=1e-13)).codes
        misfit = np.nan_to_num(data - codes @ atoms)
        outliers = misfit - np.clip(misfit, -lam, lam)
        exact, own = (model.encoder_.cost(data, *answer) for answer in ((codes, outliers), (part.codes, part.outliers)))
        assert (own >= exact * (1 - 1e-12)).all()
        assert (own - exact <= part.sample_gap * own + 1e-12).all()
        assert part.sample_gap.max() < 1
        assert np.median(part.sample_gap * own / (own - exact)) < 20, "a bound, not a void one"

    def test_outliers_are_taken_off(self, model):
        dirty, clean, outliers = samples(200, 4)
        assert relative_error(model.decompose(dirty).low_rank, clean) < 0.5 * relative_error(dirty, clean)
        found = np.abs(model.decompose(dirty).outliers)
        assert found[np.abs(outliers) > 3].min() > 1

    def test_missing_entries_are_imputed(self, model):
        data, clean, _ = samples(200, 5)
        holes = np.random.default_rng(6).random(data.shape) < 0.15
        holes[7] = True
        part = model.decompose(np.where(holes, np.nan, data))
        rest = holes & (np.arange(200) != 7)[:, None]
        assert np.std((part.low_rank - clean)[rest]) < 0.5 * np.std(clean[rest])
        assert not part.outliers[holes].any()
        assert not part.codes[7].any()
        learnt = learned().fit(np.where(holes, np.nan, data))
        assert subspace_angle(learnt.components_, model.components_) < 5
        assert learnt.history_[:, 1].min() < learnt.history_[0, 1]

    def test_frames_in_frames_out(self, X, new):
        columns = [f"sensor {k}" for k in range(M)]
        model = learned().fit(pd.DataFrame(X, columns=columns))
        frame = pd.DataFrame(new, columns=columns, index=[f"day {k}" for k in range(len(new))])
        part = model.decompose(frame)
        for one in (part.low_rank, part.outliers, part.residual):
            assert list(one.columns) == columns
            assert list(one.index) == list(frame.index)
        assert np.allclose(part.low_rank + part.outliers + part.residual, frame)
        assert np.array_equal(part.outliers.to_numpy(), learned().fit(X).decompose(new).outliers)
        codes = model.set_output(transform="pandas").transform(frame)
        assert list(codes.columns) == [f"learnedrobustpca{k}" for k in range(Q)]

    def test_two_threads_are_as_good_as_one(self, model):
        many = samples(1000, 7)[0]
        two = clone(model).set_params(n_jobs=2).fit(samples(300, 1)[0])
        assert_same(two.set_params(n_jobs=None), model)
        two.set_params(n_jobs=2)
        assert np.allclose(two.transform(many), model.transform(many), rtol=0, atol=1e-12)
        assert np.allclose(two.decompose(many).outliers, model.decompose(many).outliers, rtol=0, atol=1e-12)

    def test_strange_samples_score_high(self, model):
        ordinary, _, _ = samples(300, 8)
        strange = 5 * np.random.default_rng(9).standard_normal((50, M))
        assert np.median(model.score_samples(strange)) > np.quantile(model.score_samples(ordinary), 0.95)
        assert model.score(ordinary) > model.score(strange)

    def test_pipeline_clone_and_pickle(self, X, new, model):
        y = X @ np.linalg.pinv(np.random.default_rng(99).standard_normal((Q, M)))[:, 0]
        pipe = make_pipeline(learned(), LinearRegression()).fit(X, y)
        assert pipe.predict(new).shape == (200,)
        again = pickle.loads(pickle.dumps(model))
        assert_same(again, model)
        assert np.array_equal(again.transform(new), model.transform(new))
        assert clone(model).get_params() == model.get_params()
        with pytest.raises(NotFittedError):
            clone(model).transform(new)


class TestSources:
    def test_true_parts_separate_better(self):
        X, background, foreground = samples(400, 10)
        new, *wanted = samples(500, 11)
        y = np.stack([background, foreground], axis=1)
        models = [learned(loss=loss, max_passes=60).fit(X, y) for loss in ("source", "unsupervised")]
        errors = [
            np.mean([(part.low_rank - wanted[0]) ** 2, (part.outliers - wanted[1]) ** 2])
            for part in (model.decompose(new) for model in models)
        ]
        assert errors[0] < 0.9 * errors[1]

    @pytest.mark.parametrize(
        ("y", "sentence"),
        [
            (None, "requires y to be passed, but the target y is None"),
            (np.zeros((300, M)), r"shape \(300, 2, 24\), got \(300, 24\)"),
            (np.zeros((300, 2, M - 1)), r"got \(300, 2, 23\)"),
            (np.zeros((299, 2, M)), r"got \(299, 2, 24\)"),
            (np.full((300, 2, M), np.nan), "finite background and foreground"),
            (["voice"] * 300, "y must hold numbers"),
        ],
        ids=lambda value: str(np.shape(value)),
    )
    def test_wrong_parts_are_refused(self, y, sentence, X):
        for learn in (learned(loss="source").fit, learned(loss="source").partial_fit):
            with pytest.raises(ValueError, match=sentence):
                learn(X, y)

    def test_y_is_not_read_otherwise(self, X):
        assert_same(learned().fit(X[:60], "nonsense"), learned().fit(X[:60]))
        assert_same(learned().partial_fit(X[:60], np.zeros(3)), learned().partial_fit(X[:60]))

    def test_streams_with_true_parts(self, tmp_path):
        X, *parts = samples(130, 12)
        y = np.stack(parts, axis=1)
        options = {"loss": "source", "window": 40, "update_dictionary": True}
        model, path = learned(**options).partial_fit(X[:73], y[:73]), tmp_path / "m.safetensors"
        model.save(path)
        other = unmingle.load(path)
        for one in (model, other):
            one.partial_fit(X[73:], y[73:])
        assert_same(other, model)
        assert subspace_angle(model.components_, np.random.default_rng(99).standard_normal((Q, M))) < 0.5


STREAM = {"window": 20, "window_step": 5, "max_passes": 5}


class TestStream:
    @pytest.mark.parametrize("update_dictionary", [False, True])
    def test_blocks_of_any_size_give_the_same_numbers(self, update_dictionary, X):
        """Whatever the blocks, the window begins and moves on at the same samples."""
        models = []
        for ends in ([0, 43], range(44), [0, 3, 20, 31, 32, 43]):
            models.append(learned(update_dictionary=update_dictionary, **STREAM))
            for i, j in pairwise(ends):
                models[-1].partial_fit(X[i:j])
        for other in models[1:]:
            assert np.array_equal(other.components_, models[0].components_)
            assert np.array_equal(other.transform(X), models[0].transform(X))
            assert_same(other, models[0])

    def test_samples_seen_are_those_learnt_from(self, X):
        model = learned(**STREAM)
        seen = []
        for row in X[:33]:
            model.partial_fit(row[None])
            seen.append(model.n_samples_seen_)
        assert seen == [*range(1, 21), *(20 + 5 * (k // 5) for k in range(1, 14))]

    def test_there_is_a_model_from_the_first_sample_on(self, X):
        model = learned(**STREAM)
        for k, row in enumerate(X[:12]):
            codes = model.partial_fit(row[None]).transform(X[: k + 1])
            assert codes.shape == (k + 1, model.n_components_)

    def test_the_first_window_is_learnt_as_by_fit(self, X):
        stream, whole = learned(**STREAM).partial_fit(X[:20]), learned(**STREAM).fit(X[:20])
        assert np.array_equal(stream.transform(X), whole.transform(X))
        assert np.array_equal(stream.history_, whole.history_)
        assert stream.card_ == whole.card_

    @pytest.mark.parametrize("n", [7, 150])
    def test_fit_then_go_on(self, n, X):
        model = learned(**STREAM).fit(X[:n])
        before = model.encoder_
        model.partial_fit(X[n : n + 30])
        assert model.n_samples_seen_ == n + 30
        assert not np.array_equal(before.layers.decoder, model.encoder_.layers.decoder)
        assert_same(model.fit(X), learned(**STREAM).fit(X))

    @pytest.mark.parametrize("seen", [7, 20, 33])
    def test_a_saved_model_goes_on_as_if_nothing_had_happened(self, seen, X, tmp_path):
        model = learned(update_dictionary=True, **STREAM).partial_fit(X[:seen])
        model.save(tmp_path / "m.safetensors")
        other = unmingle.load(tmp_path / "m.safetensors")
        assert_same(other, model)
        for rows in (X[seen : seen + 8], X[seen + 8 : seen + 31]):
            model.partial_fit(rows)
            other.partial_fit(rows)
            assert_same(other, model)

    def test_follows_a_subspace_that_turns(self):
        """90 degrees in 1500 samples; a model that learnt from the beginning only is lost at the end."""
        blocks = list(subspace_stream(1500, 30, 3, rotation=90.0, noise=0.05, random_state=0))
        moving, frozen = learned(update_dictionary=True, window=50, window_step=25), learned().fit(blocks[0].X)
        errors = []
        for block in blocks:
            if hasattr(moving, "encoder_"):
                pair = (model.decompose(block.X).low_rank for model in (moving, frozen))
                errors.append([relative_error(low_rank, block.low_rank) for low_rank in pair])
            moving.partial_fit(block.X)
        assert subspace_angle(frozen.components_, block.basis) > 70
        assert subspace_angle(moving.components_, block.basis) < 25
        moved, stayed = np.mean(errors[-5:], axis=0)
        assert moved < 0.6 * stayed

    def test_without_the_dictionary_the_layers_alone_learn(self, X):
        model = learned(**STREAM).partial_fit(X[:100])
        first = learned(**STREAM).fit(X[:20])
        assert np.array_equal(model.components_, first.components_)
        assert not np.array_equal(model.encoder_.layers.decoder, first.encoder_.layers.decoder)

    def test_silence_and_nothing_known_are_no_harm(self, X, new):
        model = learned(update_dictionary=True, **STREAM).partial_fit(X[:60])
        for rows in (np.full((25, M), np.nan), np.zeros((40, M)), np.full((40, M), np.nan), X[:25]):
            model.partial_fit(rows)
            assert np.isfinite(model.transform(new)).all()
        with pytest.raises(ValueError, match="only NaN"):
            learned().partial_fit(np.full((5, M), np.nan))

    def test_other_features_and_infinity_are_refused(self, X):
        model = learned(**STREAM).partial_fit(X[:30])
        before = state_of(model)
        with pytest.raises(ValueError, match="24 features"):
            model.partial_fit(X[:, :5])
        with pytest.raises(ValueError, match="infinity"):
            model.partial_fit(np.full((3, M), np.inf))
        assert state_of(model) == before


class TestFiles:
    @pytest.mark.parametrize("kind", ["plain", "frame", "full"])
    def test_all_comes_back(self, kind, X, new, tmp_path):
        options = {"full": {"structure": "full", "tied": False, "outlier_penalty": np.linspace(0.2, 0.3, M)}}
        columns = [f"sensor {k}" for k in range(M)]
        data, fresh = (pd.DataFrame(rows, columns=columns) if kind == "frame" else rows for rows in (X, new))
        model = learned(**options.get(kind, {})).fit(data)
        model.save(tmp_path / "m.safetensors")
        again = unmingle.load(tmp_path / "m.safetensors")
        assert type(again) is LearnedRobustPCA
        assert_same(again, model)
        for mine, other in zip(again.encoder_.layers, model.encoder_.layers, strict=True):
            assert mine.tobytes() == other.tobytes()
        assert np.array_equal(again.transform(fresh), model.transform(fresh))
        assert np.array_equal(again.decompose(fresh).sample_gap, model.decompose(fresh).sample_gap)
        assert_same(again.fit(data), model)

    @pytest.mark.parametrize(
        "lost",
        ["encoder", "stream", "encoder.readout", "stream.rows.0", "fitted.components_", "fitted.history_", "fitted"],
    )
    def test_an_incomplete_file_is_refused(self, lost, model, tmp_path):
        path = tmp_path / "m.safetensors"
        model.save(path)
        kind, _, parameters, arrays = store.read(path)
        assert lost in parameters or lost in arrays
        parameters, arrays = (
            {name: part for name, part in all_.items() if name != lost} for all_ in (parameters, arrays)
        )
        store.write(path, kind, parameters, arrays)
        with pytest.raises(store.StoreError, match="complete"):
            unmingle.load(path)

    def test_a_damaged_file_is_refused(self, model, tmp_path):
        path = tmp_path / "m.safetensors"
        model.save(path)
        kind, _, parameters, arrays = store.read(path)
        for spoilt in (
            arrays | {"encoder.threshold": -arrays["encoder.threshold"]},
            arrays | {"encoder.components": arrays["encoder.components"][:, 1:]},
        ):
            store.write(path, kind, parameters, spoilt)
            with pytest.raises(store.StoreError, match="complete"):
                unmingle.load(path)
        model.save(path)
        path.write_bytes(path.read_bytes()[:-8])
        with pytest.raises(store.StoreError, match="damaged"):
            unmingle.load(path)

    def test_a_fitted_model_holds_no_training_data(self, X, model, tmp_path):
        """What is trained may be given away; a model in mid-stream needs its window."""
        for one, holds in ((model, False), (learned(**STREAM).partial_fit(X[:30]), True)):
            one.save(tmp_path / "m.safetensors")
            arrays = [
                part for part in store.read(tmp_path / "m.safetensors").arrays.values() if part.shape[-1:] == (M,)
            ]
            rows = np.concatenate([part.reshape(-1, M) for part in arrays])
            assert holds == any((np.abs(rows - x).max(axis=1) == 0).any() for x in X)

    def test_only_fitted_models_are_saved(self, tmp_path):
        with pytest.raises(NotFittedError):
            learned().save(tmp_path / "m.safetensors")


WITHOUT_TORCH = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoTorch())
import numpy as np, unmingle
folder = sys.argv[1]
X, model = np.load(folder + "/X.npy"), unmingle.load(folder + "/m.safetensors")
part = model.decompose(X)
np.savez(folder + "/answer.npz", codes=model.transform(X), outliers=part.outliers, gap=part.sample_gap)
model.score_samples(X), model.save(folder + "/again.safetensors")
for learn in (unmingle.LearnedRobustPCA().fit, unmingle.LearnedRobustPCA().partial_fit, model.partial_fit):
    try:
        learn(X)
    except ImportError as error:
        print(error)
assert "torch" not in sys.modules
"""


def test_answers_need_no_torch(new, model, tmp_path):
    np.save(tmp_path / "X.npy", new)
    model.save(tmp_path / "m.safetensors")
    command = [sys.executable, "-W", "error", "-c", WITHOUT_TORCH, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == 3 * ["torch is not installed; install it with: pip install 'unmingle[train]'"]
    answer, part = np.load(tmp_path / "answer.npz"), model.decompose(new)
    for name, expected in (("codes", part.codes), ("outliers", part.outliers), ("gap", part.sample_gap)):
        assert np.allclose(answer[name], expected, rtol=0, atol=1e-12)
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "m.safetensors").read_bytes()


def extremes():
    rows = samples(60, 13)[0]
    rng = np.random.default_rng(14)
    yield "constant", np.full((40, 6), 3.0)
    yield "zeros", np.zeros((40, 6))
    yield "one sample", rows[:1]
    yield "one feature", rows[:, :1]
    yield "one number", np.array([[5.0]])
    yield "few samples", rows[:4]
    yield "one spike", np.where(np.arange(rows.size).reshape(rows.shape) == 77, 1e6, rows)
    yield "spikes", np.where(rng.random(rows.shape) < 0.02, 1e6 * rows, rows)
    yield "an empty feature", np.where(np.arange(M) == 3, np.nan, rows)
    yield "an empty sample", np.where(np.arange(60)[:, None] == 3, np.nan, rows)
    yield "a loud feature", np.where(np.arange(M) == 3, 1e6 * rows, rows)
    yield "a dead feature", np.where(np.arange(M) == 3, 0, rows)


@pytest.mark.parametrize(("data"), [pytest.param(rows, id=name) for name, rows in extremes()])
@pytest.mark.parametrize(
    ("dtype", "options"), [(np.float32, {}), (np.float64, {"update_dictionary": True, "loss": "imitation"})]
)
def test_extreme_data(data, options, dtype):
    data = data.astype(dtype)
    model = learned(10, window=30, **options).fit(data)
    assert model.n_components_ <= min(data.shape)
    assert model.n_components_ == 0 or data.any()
    for _ in range(2):
        part = model.decompose(data)
        for numbers in (part.codes, part.low_rank, part.outliers, part.sample_gap, model.score_samples(data)):
            assert np.isfinite(numbers).all()
        assert np.isfinite([model.score(data), part.objective, part.gap]).all()
        assert np.isfinite(model.history_).all()
        model.partial_fit(data[:25])


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_data_of_any_scale_can_be_learnt(scale, X, new):
    model, plain = learned().fit(scale * X), learned().fit(X)
    assert np.allclose(model.inverse_transform(model.transform(scale * new)) / scale,
                       plain.inverse_transform(plain.transform(new)), atol=1e-2)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_components": 0}, "n_components must be a whole number"),
        ({"n_layers": 0}, "n_layers must be a whole number"),
        ({"loss": "l2"}, "loss must be one of 'unsupervised', 'imitation', 'source', got 'l2'"),
        ({"structure": "half"}, "structure must be one of 'low_rank', 'full', got 'half'"),
        ({"rank_penalty": -1.0}, "rank_penalty must be a finite number above 0"),
        ({"outlier_penalty": np.ones(3)}, "one for each of the 24 features"),
        ({"max_passes": 0}, "max_passes must be a finite number above 0, got 0"),
        ({"max_steps": 0}, "^max_steps must be a whole number of at least 1, got 0"),
        ({"max_steps": "all"}, "^max_steps must be a whole number of at least 1, got 'all'"),
        ({"batch_size": 2.5}, "batch_size must be a whole number"),
        ({"step_size": 0.0}, "step_size must be a finite number above 0"),
        ({"validation": 1.0}, "validation must be a number of at least 0 and below 1, got 1.0"),
        ({"validation": None}, "validation must be a number of at least 0 and below 1, got None"),
        ({"window": 0}, "window must be a whole number"),
        ({"window_step": 0}, "window_step must be a whole number"),
        ({"forgetting": 0.0}, "forgetting must be above 0 and at most 1, or 'auto', got 0.0"),
        ({"forgetting": "never"}, "forgetting must be above 0 and at most 1, or 'auto', got 'never'"),
        ({"random_state": "dice"}, "random_state must be a seed"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_parameters_get_one_sentence(options, sentence, X):
    with pytest.raises(ValueError, match=sentence):
        learned(**options).partial_fit(X)
    if "window_step" not in options:
        with pytest.raises(ValueError, match=sentence):
            learned(**options).fit(X)


@pytest.mark.parametrize("size", [1e2, 1e4, 1e8])
def test_spikes_in_the_training_data_do_not_spoil_the_network(size):
    made = unmingle.synth.low_rank_plus_sparse(800, 20, 3, noise=0.05, random_state=0)
    X, clean = made.X.copy(), made.X[600:]
    X[:600][np.random.default_rng(0).random((600, 20)) < 0.01] = size
    model = learned(max_steps=300).fit(X[:600])
    untrained = model.encoder_.untrained()
    costs = [encoder.cost(clean, *encoder.encode(clean)).mean() for encoder in (model.encoder_, untrained)]
    assert costs[0] < costs[1]
    spiked = clean.copy()
    spiked[:, 4] = size
    part = model.decompose(spiked)
    assert np.isfinite(part.sample_gap).all()
    np.testing.assert_allclose(part.low_rank + part.outliers + part.residual, spiked, rtol=1e-12, atol=1e-12)
    assert (part.outliers[:, 4] > size / 2).all()


def test_a_change_of_the_loss_in_mid_stream_is_refused(X):
    model = learned().fit(X)
    with pytest.raises(ValueError, match="mid-stream"):
        model.set_params(loss="source").partial_fit(X, np.stack([X, X], axis=1))
