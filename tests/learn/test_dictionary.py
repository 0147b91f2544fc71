"""A dictionary that is learnt with the layers, and samples that count more than others."""

from functools import partial

import numpy as np
import pytest
from small_training import M, Q, layers_differ, same_numbers, samples, train

from unmingle.core.encoder.answers import exact_answer
from unmingle.metrics import subspace_angle


class TestDictionary:
    @pytest.mark.parametrize("loss", ["unsupervised", "imitation"])
    def test_a_poor_one_improves(self, loss, start, X):
        """F = f + lam_* / (2 n) ||U||^2 falls, and so does the cost of exact answers: it is not the layers alone."""
        rng = np.random.default_rng(15)
        poor = start.untrained(start.components + 0.3 * rng.standard_normal(start.components.shape))
        training = train(poor, X, loss=loss, update_dictionary=True, max_steps=200)
        new, truth = samples(500, seed=3)[0], np.random.default_rng(99).standard_normal((Q, M))

        def F(encoder, answer):
            return encoder.cost(new, *answer).mean() + 2.0 / (2 * len(X)) * np.sum(encoder.components**2)

        good, before, after = (F(one, exact_answer(one, new)) for one in (start, poor, training.encoder))
        assert before - after > 0.9 * (before - good)
        own, frozen = (F(one, one.encode(new)) for one in (training.encoder, train(poor, X, loss=loss).encoder))
        assert own < frozen
        assert subspace_angle(training.encoder.components, truth) < 0.3 * subspace_angle(poor.components, truth)
        assert np.array_equal(training.encoder.components.shape, poor.components.shape)

    def test_with_true_parts_it_is_fitted_to_the_background(self, start):
        X, background, foreground = samples(400, seed=2)
        rng = np.random.default_rng(16)
        poor = start.untrained(start.components + 0.3 * rng.standard_normal(start.components.shape))
        aim = {"loss": "source", "targets": (background, foreground), "max_steps": 200}
        frozen, moved = (train(poor, X, update_dictionary=update, **aim).encoder for update in (False, True))
        truth = np.linalg.svd(background)[2][:Q]
        assert subspace_angle(poor.components, truth) > 5
        assert subspace_angle(moved.components, truth) < 1e-6, "the background has no noise, and no outliers"
        new, wanted, _ = samples(500, seed=3)
        first, still, last = (
            np.mean((one.encode(new)[0] @ one.components - wanted) ** 2) for one in (poor, frozen, moved)
        )
        assert last < 0.85 * still < first

    def test_left_alone_it_stays(self, start, X):
        assert np.array_equal(train(start, X, loss="imitation").encoder.components, start.components)


class TestWeights:
    @pytest.mark.parametrize("update_dictionary", [False, True])
    def test_samples_without_weight_do_not_matter(self, update_dictionary, start, X):
        weights = (np.random.default_rng(13).random(400) < 0.7).astype(float)
        other = np.where(weights[:, None] > 0, X, 50 * X[::-1])
        results = [
            train(start, rows, sample_weight=weights, update_dictionary=update_dictionary) for rows in (X, other)
        ]
        assert same_numbers(*(result.encoder for result in results))
        assert results[0].history == results[1].history
        assert layers_differ(results[0].encoder, train(start, X, update_dictionary=update_dictionary).encoder)

    def test_weight_two_is_a_sample_twice(self, start, X):
        """With all samples in every batch: the same sums in another order."""
        X, whole = X[:50], partial(train, max_steps=20, validation=0.0)
        weights = np.ones(50)
        weights[3] = 2
        one = whole(start, X, sample_weight=weights, batch_size=50)
        two = whole(start, np.concatenate([X, X[3:4]]), batch_size=51)
        plain = whole(start, X, batch_size=50)
        parts = (result.encoder.layers for result in (one, two, plain))
        for mine, twice, once, before in zip(*parts, start.layers, strict=True):
            moved = np.abs(mine - before).max()
            assert np.abs(mine - twice).max() <= 1e-6 * moved
            assert not moved or np.abs(mine - once).max() > 0.01 * moved
        assert np.allclose([look.measure for look in one.history], [look.measure for look in two.history], rtol=1e-9)

    def test_their_scale_does_not_matter(self, start, X):
        weights = np.random.default_rng(14).random(400)
        one, other = (train(start, X, sample_weight=scale * weights) for scale in (1, 2**10))
        assert same_numbers(one.encoder, other.encoder)
