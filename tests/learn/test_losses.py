"""Losses against formulas, exact answers against a general method, and what each loss aims at."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from reference import mixture
from scipy.optimize import minimize
from small_training import SIGNS, Q, encoder_of, layers_differ, same_numbers, samples, shaken, tensors, train

from unmingle import learn
from unmingle.core import objective
from unmingle.core.encoder.answers import exact_answer
from unmingle.core.encoder.layers import Layers
from unmingle.learn.network import Block


class TestLosses:
    """Each equals its formula, written in NumPy."""

    @pytest.fixture
    def case(self):
        encoder, X = shaken(encoder_of(3, 12)), mixture(20, 12, 3, missing=0.2, seed=8)
        network, (x, known) = learn.Network(encoder), tensors(X)
        with torch.no_grad():
            answer = network(x, known)
        return encoder, X, network, Block(x, known), answer

    def test_unsupervised(self, case):
        encoder, X, network, block, answer = case
        codes, outliers = encoder.encode(X, backend="numpy")
        expected = objective.projection(
            X, encoder.components, codes, outliers, encoder.rank_penalty, encoder.outlier_penalty
        )
        assert np.allclose(learn.unsupervised(network, block, answer).numpy(), expected, rtol=1e-12)

    def test_imitation_and_source(self, case):
        encoder, X, network, block, answer = case
        codes, outliers = encoder.encode(X, backend="numpy")
        rng = np.random.default_rng(9)
        s, o, background, foreground = (rng.standard_normal((20, k)) for k in (3, 12, 12, 12))
        expected = np.sum((codes - s) ** 2, axis=1) + np.sum((outliers - o) ** 2, axis=1)
        imitated = block._replace(targets=(torch.from_numpy(s), torch.from_numpy(o)))
        assert np.allclose(learn.imitation(network, imitated, answer).numpy(), expected, rtol=1e-12)
        expected = np.sum((codes @ encoder.components - background) ** 2 + (outliers - foreground) ** 2, axis=1)
        true = block._replace(targets=(torch.from_numpy(background), torch.from_numpy(foreground)))
        assert np.allclose(learn.source(network, true, answer).numpy(), expected, rtol=1e-12)

    def test_masked(self, case):
        encoder, X, network, block, answer = case
        codes, outliers = encoder.encode(X, backend="numpy")
        background, foreground = np.random.default_rng(9).standard_normal((2, *X.shape))
        true = block._replace(targets=(torch.from_numpy(background), torch.from_numpy(foreground)))
        share = outliers**2 / (outliers**2 + (codes @ encoder.components) ** 2)
        expected = np.sum((share * np.nan_to_num(X) - foreground) ** 2, axis=1)
        assert np.allclose(learn.masked(network, true, answer).numpy(), expected, rtol=1e-6)

    def test_missing_entries_drop_out(self, case):
        encoder, X, network, block, answer = case
        rng = np.random.default_rng(10)
        junk = answer._replace(
            low_rank=torch.where(block.known > 0, answer.low_rank, torch.from_numpy(rng.standard_normal(X.shape)))
        )
        plain, other = (learn.unsupervised(network, block, one) for one in (answer, junk))
        assert torch.equal(plain, other)
        whole, (x, _) = ~np.isnan(X).any(axis=0), tensors(X)
        assert whole.sum() < 12
        few = replace(
            encoder, components=encoder.components[:, :0], outlier_penalty=encoder.outlier_penalty[:0],
            layers=Layers(*(part[..., :0] if part.shape[-1] == 12 else part for part in encoder.layers)),
        )  # fmt: skip
        nothing = learn.Network(few)
        assert torch.count_nonzero(learn.unsupervised(nothing, Block(x[:, :0]), nothing(x[:, :0]))) == 0

    def test_block_takes_rows_of_everything(self, case):
        block = case[3]._replace(targets=(case[4].codes, case[4].outliers))
        rows = torch.tensor([4, 1, 1])
        part = block.take(rows)
        assert torch.equal(part.x, block.x[rows])
        assert torch.equal(part.known, block.known[rows])
        assert all(torch.equal(mine, all_[rows]) for mine, all_ in zip(part.targets, block.targets, strict=True))


def least_cost(encoder, x):
    """Minimum of (5) by a general method for smooth functions in a box."""
    U, lam, known = encoder.components, encoder.outlier_penalty, ~np.isnan(x)

    def cost(s):
        e = np.where(known, x - s @ U, 0)
        r = np.minimum(e, lam) if encoder.nonnegative_outliers else np.clip(e, -lam, lam)
        return np.sum(r * (e - r / 2)) + encoder.rank_penalty / 2 * s @ s, encoder.rank_penalty * s - U @ r

    bounds = [(0 if encoder.nonnegative_codes else None, None)] * len(U)
    options = {"maxiter": 5000, "maxfun": 50000, "ftol": 1e-16, "gtol": 1e-11}
    return minimize(cost, np.ones(len(U)), jac=True, bounds=bounds, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("kind", SIGNS, ids=str)
def test_exact_answers_are_exact(kind):
    encoder, X = encoder_of(3, 20, **kind), mixture(10, 20, 3, missing=0.1, seed=11)
    answer = exact_answer(shaken(encoder), X)
    assert encoder.gap(X, *answer).max() < 1e-5
    cost = encoder.cost(X, *answer)
    assert np.allclose(cost, [least_cost(encoder, x) for x in X], rtol=1e-5)
    assert not answer[1][np.isnan(X)].any()


class TestAims:
    def test_imitation_without_targets_imitates_the_exact_answers(self, start, X):
        targets = exact_answer(start, X)
        assert start.gap(X, *targets).max() < 1e-6
        found, given, other = (
            train(start, X, loss="imitation", targets=aim)
            for aim in (None, targets, (targets[0] * 0.5, targets[1]))
        )  # fmt: skip
        assert same_numbers(found.encoder, given.encoder)
        assert layers_differ(given.encoder, other.encoder)

        def distance(encoder):
            new = samples(500, seed=3)[0]
            pairs = zip(encoder.encode(new), exact_answer(start, new), strict=True)
            return sum(np.sum((mine - exact) ** 2) for mine, exact in pairs)

        assert distance(found.encoder) < 0.9 * distance(start)

    def test_true_parts_separate_better(self, start):
        X, L, outliers = samples(400, seed=2)
        new, background, foreground = samples(500, seed=3)

        def error(encoder):
            codes, outliers = encoder.encode(new)
            return np.mean((codes @ encoder.components - background) ** 2 + (outliers - foreground) ** 2)

        trained, plain = (train(start, X, max_steps=300, **options).encoder
                          for options in ({"loss": "source", "targets": (L, outliers)}, {}))  # fmt: skip
        assert error(trained) < 0.9 * min(error(start), error(plain))

    def test_a_loss_of_ones_own(self, start, X):
        """A callable is judged by itself; its targets come in blocks with the samples."""
        aims = np.random.default_rng(18).standard_normal((400, Q))

        def own(network, block, answer):
            return (answer.codes - block.targets[0]).square().sum(1)

        training = train(start, X, loss=own, targets=(aims,), validation=0.0)
        for encoder, cost in ((start, training.history[0].measure), (training.encoder, training.history[-1].best)):
            assert np.sum((encoder.encode(X)[0] - aims) ** 2, axis=1).mean() == pytest.approx(cost)
        assert training.gain > 0.1
        same = [train(start, X, loss=loss).encoder for loss in ("unsupervised", learn.unsupervised)]
        assert same_numbers(*same)


class Shifted(learn.Loss):
    """Imitates the exact codes of samples to which every step adds something of its own."""

    name = "shifted"
    targets = ("codes",)

    def __init__(self):
        self.chances = []

    def __call__(self, network, block, answer):
        return (answer.codes - block.targets[0]).square().sum(1)

    def find_targets(self, encoder, X):
        return (exact_answer(encoder, X)[0],)

    def block(self, samples, rows, chance):
        self.chances.append(chance)
        block, rng = samples.take(rows), np.random.default_rng(chance)
        return block._replace(x=block.x + torch.from_numpy(rng.standard_normal(block.x.shape)))


class TestOwnBlocks:
    """A loss may make its own samples of those that are there."""

    def test_every_step_has_its_own_chance_and_all_looks_the_same(self, start, X):
        loss = Shifted()
        train(start, X[:100], loss=loss, max_steps=10, validation=0.2, batch_size=80)
        looks = [chance for chance in loss.chances if len(chance) == 1]
        steps = [chance for chance in loss.chances if len(chance) == 3]
        assert len(set(looks)) == 1
        assert len(looks) == 11 + 2, "one at the start and after each step, and two for the noise of the gain"
        assert len(set(steps)) == len(steps) == 10

    def test_same_seed_same_bits_and_it_can_be_resumed(self, start, X, tmp_path):
        path = tmp_path / "c.safetensors"
        whole, other = (train(start, X, loss=Shifted(), random_state=seed) for seed in (0, 1))
        train(start, X, loss=Shifted(), checkpoint=path, callback=lambda progress: progress.done == 20)
        assert same_numbers(train(start, X, loss=Shifted(), checkpoint=path).encoder, whole.encoder)
        assert layers_differ(whole.encoder, other.encoder)
        assert layers_differ(whole.encoder, start)

    def test_its_targets_are_found_and_checked(self, start, X):
        found, given = (train(start, X, loss=Shifted(), targets=aim) for aim in (None, exact_answer(start, X)[:1]))
        assert same_numbers(found.encoder, given.encoder)
        with pytest.raises(
            ValueError, match=r"loss='shifted' needs finite targets of shapes \(400, 3\), got \(400, 24\)"
        ):
            train(start, X, loss=Shifted(), targets=(X,))


def test_the_names_of_losses_are_theirs():
    assert tuple(learn.LOSSES) == ("unsupervised", "imitation", "source", "masked")
    assert all(loss.name == name and loss is getattr(learn, name) for name, loss in learn.LOSSES.items())


def test_a_loss_is_the_same_by_name_and_by_itself(start, X):
    for name, loss in learn.LOSSES.items():
        targets = (X, 0 * X) if loss.true_parts else None
        one, other = (train(start, X, loss=aim, targets=targets, max_steps=10) for aim in (name, loss))
        assert same_numbers(one.encoder, other.encoder)
        assert one.history == other.history


class Broad(learn.Loss):
    """Judges by a column instead of a row: no name of its own, and one cost too many dimensions."""

    def __call__(self, network, block, answer):
        return learn.unsupervised(network, block, answer)

    def judge(self, network, block, answer):
        return learn.unsupervised(network, block, answer)[:, None]


class Doubling(learn.Loss):
    """Gives more samples than rows were asked for."""

    def __call__(self, network, block, answer):
        return learn.unsupervised(network, block, answer)

    def block(self, samples, rows, chance):
        return samples.take(torch.cat([rows, rows]))


@pytest.mark.parametrize("loss", [Broad(), Doubling()])
def test_costs_must_be_one_for_each_sample(loss, tmp_path):
    with pytest.raises(ValueError, match="one cost for each of"):
        train(encoder_of(2, 6), samples(40, seed=1)[0][:, :6], loss=loss, checkpoint=tmp_path / "c.safetensors")
