"""What is learnt, how training ends, and what is wrong with what it was given."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from small_training import (
    BOTH,
    SIGNS,
    M,
    layers_differ,
    same_numbers,
    samples,
    shares,
    started,
    train,
)

from unmingle import learn
from unmingle.core.encoder.answers import exact_answer
from unmingle.core.encoder.layers import preconditioned


class TestTraining:
    def test_new_samples_cost_less(self, start, X):
        training = train(start, X, max_steps=300)
        assert shares(start, training.encoder, samples(1000, seed=3)[0]) > 0.3
        assert np.array_equal(training.encoder.components, start.components)
        assert training.gain > 0
        costs = [look.measure for look in training.history]
        assert training.history[-1].best == min(costs) < costs[0]

    @pytest.mark.parametrize("kind", [{"structure": "full"}, {"tied": False}, {"n_layers": 1}], ids=str)
    def test_every_structure_learns(self, kind, X):
        start = started(**kind)
        training = train(start, X, max_steps=200)
        assert shares(start, training.encoder, samples(1000, seed=3)[0]) > 0.2
        assert (training.encoder.structure, training.encoder.tied) == (start.structure, start.tied)

    @pytest.mark.parametrize("kind", SIGNS[1:], ids=str)
    def test_every_sign_learns(self, kind):
        start, X = started(positive=True, **kind), samples(400, seed=2, positive=True)[0]
        after = train(start, X, max_steps=200).encoder
        new = samples(500, seed=3, positive=True)[0]
        assert shares(start, after, new) > 0.2
        codes, outliers = after.encode(new)
        assert codes.min() >= 0 or not start.nonnegative_codes
        assert outliers.min() >= 0 or not start.nonnegative_outliers

    def test_missing_entries_are_no_obstacle(self, start):
        after = train(start, samples(400, seed=2, missing=0.2)[0], max_steps=200).encoder
        assert shares(start, after, samples(500, seed=3, missing=0.2)[0]) > 0.2

    @pytest.mark.parametrize("update_dictionary", [False, True])
    @pytest.mark.parametrize(
        ("step_size", "n_layers", "dtype"), [(10.0, 2, np.float64), (10.0, 20, np.float32), (1e6, 20, np.float64)]
    )
    def test_whatever_happens_it_is_no_worse_than_the_start(
        self, step_size, n_layers, dtype, update_dictionary, X, tmp_path
    ):
        start = started(n_layers=n_layers).astype(dtype)
        training = train(
            start, X.astype(dtype), step_size=step_size, update_dictionary=update_dictionary,
            checkpoint=tmp_path / "c.safetensors",
        )  # fmt: skip
        costs = [look.measure for look in training.history]
        assert max(costs) > 1.1 * costs[0], "no step was too large"
        assert training.history[-1].best <= costs[0]
        assert training.gain >= 0
        assert same_numbers(training.encoder, start) or min(costs) < costs[0]

    def test_the_readout_stays_where_it_is_the_best_one(self, start, X):
        """By f alone it has no slope; by another loss, with missing entries, or if it is another one, it has."""

        def learnt(before, rows, **options):
            before, after = before.astype(rows.dtype), train(before, rows, **options).encoder
            assert not np.array_equal(after.layers.threshold, before.layers.threshold)
            return not np.array_equal(after.layers.readout, before.layers.readout)

        missing, positive = samples(400, seed=2, missing=0.1)[0], samples(400, seed=2, positive=True)[0]
        other = replace(start, layers=start.layers._replace(readout=1.1 * start.layers.readout))
        assert not learnt(start, X)
        assert not learnt(start, X.astype(np.float32))
        assert not learnt(start, X, loss=learn.unsupervised)
        assert learnt(start, X, loss="imitation")
        assert learnt(start, missing)
        assert learnt(other, X)
        assert learnt(started(positive=True, **BOTH), positive)

    def test_a_slope_that_is_no_number_moves_nothing(self, start, X, tmp_path):
        def rooted(network, block, answer):
            return (answer.codes - answer.codes.detach()).square().sum(1).sqrt()

        training = train(start, X, loss=rooted, max_steps=3, checkpoint=tmp_path / "c.safetensors")
        assert same_numbers(training.encoder, start)

    def test_the_best_is_what_validation_says(self, start, X):
        """The cost of the history is that of the encoder returned, on samples that can be told."""
        for update_dictionary in (False, True):
            training = train(start, X, validation=0.0, update_dictionary=update_dictionary)
            one = training.encoder
            size = one.rank_penalty / (2 * len(X)) * np.sum(one.components**2) if update_dictionary else 0.0
            assert one.cost(X, *one.encode(X)).mean() + size == pytest.approx(training.history[-1].best, rel=1e-10)
            untrained = start.cost(X, *start.encode(X)).mean()
            size = start.rank_penalty / (2 * len(X)) * np.sum(start.components**2) if update_dictionary else 0.0
            assert untrained + size == pytest.approx(training.history[0].measure, rel=1e-10)

    def test_same_seed_same_bits(self, start, X):
        one, again, other = (train(start, X, random_state=seed) for seed in (5, 5, 6))
        assert same_numbers(one.encoder, again.encoder)
        assert one.history == again.history
        assert layers_differ(one.encoder, other.encoder)
        rng = np.random.default_rng(0)
        assert layers_differ(*(train(start, X, random_state=rng).encoder for _ in range(2)))

    def test_nothing_given_is_written_to(self, start, X):
        before, layers = X.copy(), [part.copy() for part in start.layers]
        X.setflags(write=False)
        train(start, X, max_steps=5, sample_weight=np.ones(len(X)), update_dictionary=True)
        assert np.array_equal(X, before)
        assert all(np.array_equal(a, b) for a, b in zip(start.layers, layers, strict=True))

    def test_the_type_of_the_data_is_that_of_the_encoder(self, start, X):
        training = train(start, X.astype(np.float32))
        assert {part.dtype for part in training.encoder.layers} == {np.dtype(np.float32)}
        assert training.gain > 0

    def test_thresholds_stay_feasible(self, start, X):
        after = train(start, X, step_size=0.5).encoder
        assert (after.layers.threshold >= 0).all()

    @pytest.mark.parametrize("n", [1, 2, 5])
    def test_few_samples(self, n, start, X):
        for share in (0.0, 0.1, 0.9):
            training = train(start, X[:n], validation=share, max_steps=20)
            assert training.history[-1].step >= 10
            assert training.history[-1].measure != training.history[0].measure, "nothing moved"


class TestCallback:
    def test_looks_in_order(self, start, X):
        seen = []
        training = train(start, X, callback=seen.append)
        assert [(look.step, look.measure) for look in training.history[1:]] == [
            (told.done, told.measure) for told in seen
        ]
        steps = [look.step for look in training.history]
        assert steps == list(range(61))
        assert {told.total for told in seen} == {60}
        best = np.minimum.accumulate([look.measure for look in training.history])
        assert [look.best for look in training.history] == best.tolist()

    def test_a_true_answer_ends_training(self, start, X):
        training = train(start, X, callback=lambda progress: progress.done >= 7)
        assert training.history[-1].step == 7
        assert len(training.history) == 8

    @pytest.mark.parametrize("steps", [10, 100, 600])
    def test_a_third_of_the_steps_without_gain_ends_training(self, steps, start, X):
        training = train(start, X, max_steps=steps, step_size=1e30)
        waited = max(10, steps / 3)
        assert waited <= training.history[-1].step <= waited + 1 + steps / 60
        assert same_numbers(training.encoder, start)
        assert len(training.history) <= 61


def _named(options):
    """A name for a test that is the same in every process."""
    return ", ".join(f"{name}={value}" if np.isscalar(value) else name for name, value in options.items())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"loss": "l2"}, r"^loss must be one of 'unsupervised', 'imitation', 'source', 'masked', got 'l2'\.$"),
        ({"loss": None}, r"^loss must be one of .*, got None\.$"),
        ({"loss": "source"}, r"^loss='source' needs finite targets of shapes \(400, 24\) and .*, got none\.$"),
        ({"loss": "source", "targets": np.ones((2, 400, 23))}, r"got \(400, 23\), \(400, 23\)\.$"),
        ({"loss": "source", "targets": np.full((2, 400, M), np.nan)}, "needs finite targets"),
        ({"loss": "imitation", "targets": np.ones((2, 400, M))}, r"shapes \(400, 3\) and \(400, 24\)"),
        ({"loss": learn.source, "targets": np.ones((2, 399, M))}, r"got \(399, 24\), \(399, 24\)\.$"),
        ({"loss": lambda *_: None, "targets": np.ones((2, 399, M))}, "targets must have one row for each of the 400"),
        ({"max_steps": 0}, "max_steps must be a whole number of at least 1, got 0"),
        ({"max_steps": 2.5}, "max_steps must be a whole number"),
        ({"batch_size": 0}, "batch_size must be a whole number"),
        ({"step_size": -1.0}, "step_size must be a finite number above 0"),
        ({"validation": 1.0}, "validation must be a number of at least 0 and below 1, got 1.0"),
        ({"validation": "tenth"}, "validation must be a number of at least 0 and below 1, got 'tenth'"),
        ({"sample_weight": np.ones(3)}, "sample_weight must hold 400 finite numbers of at least 0, not all 0"),
        ({"sample_weight": np.zeros(400)}, "not all 0"),
        ({"sample_weight": -np.ones(400)}, "at least 0"),
        ({"random_state": "dice"}, "random_state must be a seed"),
        ({"X": np.ones((5, 23))}, "X must have 24 columns, got 23"),
        ({"X": np.ones(5)}, "X must have two dimensions"),
        ({"X": np.full((5, M), np.nan)}, "X contains only NaN"),
        ({"X": np.full((5, M), np.inf)}, "X contains infinity"),
    ],
    ids=lambda value: _named(value) if isinstance(value, dict) else value[:40],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_sentence(options, sentence, start, X):
    options = dict(options)
    with pytest.raises(ValueError, match=sentence) as error:
        train(start, options.pop("X", X), **options)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


class TestNonnegativeCodes:
    """Projected gradient steps are short; training begins from longer ones."""

    @pytest.mark.parametrize("tied", [True, False])
    def test_training_begins_from_longer_steps_and_never_above_the_start(self, tied):
        start, X = started(positive=True, tied=tied, n_layers=4, **BOTH), samples(400, seed=2, positive=True)[0]
        training = train(start, X, max_steps=60)
        first, second = training.history[:2]
        assert (first.step, second.step) == (0, 0)
        assert second.measure == second.best < first.measure
        begun = train(start, X, max_steps=60, step_size=1e-9).encoder
        forms = [
            preconditioned(start.layers, start.components, 2.0, *form) for form in product((0.3, 1, 3), (1, 2, 3, 5))
        ]
        assert any(np.allclose(begun.layers.encoder, form.encoder, rtol=1e-5) for form in forms)
        new = samples(500, seed=3, positive=True)[0]
        before, after = (one.cost(new, *one.encode(new)).mean() for one in (start, training.encoder))
        assert after < before

    def test_what_was_trained_is_not_begun_anew(self):
        start, X = started(positive=True, **BOTH), samples(400, seed=2, positive=True)[0]
        once = train(start, X).encoder
        again = train(once, X)
        assert [look.step for look in again.history[:2]] == [0, 1]
        assert again.history[-1].best <= again.history[0].measure

    def test_longer_steps_are_those_of_the_formula(self):
        start, x = started(positive=True, n_layers=1, **BOTH), samples(1, seed=4, positive=True)[0][0]
        U, lam, lam_star = start.components, start.outlier_penalty, start.rank_penalty
        M = U @ U.T + lam_star * np.eye(len(U))
        P = np.linalg.inv(M + 0.3 * np.diag(np.diag(M)))
        c = np.maximum(0, 2 * P @ U @ x)
        g = U @ np.minimum(x - c @ U, lam) - lam_star * c
        longer = replace(start, layers=preconditioned(start.layers, U, lam_star, 0.3, 2.0))
        assert np.abs(longer.encode(x[None])[0][0] - np.maximum(0, c + 2 * P @ g)).max() < 1e-12

    def test_a_checkpoint_goes_on_to_the_same_numbers(self, tmp_path):
        start, X, path = started(positive=True, **BOTH), samples(400, seed=2, positive=True)[0], tmp_path / "c"
        whole = train(start, X)
        train(start, X, checkpoint=path, callback=lambda progress: progress.done >= 20)
        rest = train(start, X, checkpoint=path)
        assert same_numbers(rest.encoder, whole.encoder)
        assert rest.history == whole.history

    @pytest.mark.parametrize("loss", ["unsupervised", "imitation"])
    def test_a_poor_dictionary_improves_and_stays_nonnegative(self, loss):
        start, X = started(positive=True, n_layers=4, **BOTH), samples(400, seed=2, positive=True)[0]
        noise = 0.3 * np.random.default_rng(15).standard_normal(start.components.shape)
        poor = start.untrained(np.maximum(start.components + noise, 0))
        after = train(poor, X, loss=loss, update_dictionary=True, max_steps=200).encoder
        new = samples(500, seed=3, positive=True)[0]

        def F(encoder):
            exact = encoder.cost(new, *exact_answer(encoder, new)).mean()
            return exact + 2.0 / (2 * len(X)) * np.sum(encoder.components**2)

        assert after.components.min() >= 0
        assert F(poor) - F(after) > 0.8 * (F(poor) - F(start))
