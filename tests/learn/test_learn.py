"""Training: network against encoder, slopes against differences, losses against formulas, and what is learnt."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from reference import mixture
from scipy.optimize import minimize

from unmingle import decompose, learn, objective, store
from unmingle.encoder import Encoder, Layers, clip_towards, propagate
from unmingle.learn._functions import clipped
from unmingle.metrics import subspace_angle

LAM_STAR, LAM = 0.7, 0.3
ONE_SIDED, POSITIVE = {"nonnegative_outliers": True}, {"nonnegative_codes": True}
SIGNS = [{}, ONE_SIDED, POSITIVE, ONE_SIDED | POSITIVE]
KINDS = [*SIGNS, {"structure": "full"}, {"structure": "full", **ONE_SIDED}]


def encoder_of(q, m, n_layers=3, dtype=np.float64, **kind):
    U = np.random.default_rng(1).standard_normal((q, m)).astype(dtype)
    U = np.abs(U) if kind.get("nonnegative_codes") else U
    lam = np.linspace(0.5 * LAM, 1.5 * LAM, m)
    return Encoder.from_components(U, rank_penalty=LAM_STAR, outlier_penalty=lam, n_layers=n_layers, **kind)


def shaken(encoder, seed=2):
    """The encoder with layers that are those of no algorithm, each one different."""
    rng = np.random.default_rng(seed)
    layers = (part * rng.uniform(0.7, 1.2, part.shape).astype(part.dtype) for part in encoder.layers)
    return replace(encoder, layers=Layers(*layers))


def tensors(X):
    """Samples, 0 where missing, and where they are known."""
    known = ~np.isnan(X)
    return torch.from_numpy(np.where(known, X, 0).astype(X.dtype)), torch.from_numpy(known.astype(X.dtype))


def layers_differ(one, other):
    return any(not np.array_equal(a, b) for a, b in zip(one.layers, other.layers, strict=True))


def same_numbers(one, other):
    return np.array_equal(one.components, other.components) and not layers_differ(one, other)


class TestNetwork:
    """The network in torch and the encoder are one."""

    @pytest.mark.parametrize("kind", KINDS, ids=str)
    @pytest.mark.parametrize("tied", [True, False])
    @pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 1e-5)])
    def test_the_network_is_the_encoder(self, kind, tied, dtype, tolerance):
        encoder = shaken(encoder_of(4, 33, tied=tied, dtype=dtype, **kind))
        network, start = learn.Network(encoder), np.random.default_rng(3).uniform(0, 1, (1000, 4)).astype(dtype)
        for n in (1, 7, 64, 1000):
            for missing, given in ((0, False), (0.2, False), (0, True), (0.2, True)):
                X, init = mixture(n, 33, 3, missing=missing, seed=n, dtype=dtype), start[:n] if given else None
                x, known = tensors(X)
                with torch.no_grad():
                    warm = None if init is None else torch.from_numpy(init)
                    answer = network(x, known if missing else None, warm)
                codes, outliers = encoder.encode(X, init=init, backend="numpy")
                expected = codes, outliers, codes @ encoder.components
                for mine, other in zip(answer, expected, strict=True):
                    assert mine.numpy().dtype == dtype
                    assert np.abs(mine.numpy() - other).max() <= tolerance * max(1, np.abs(other).max())
                assert not answer.outliers.numpy()[np.isnan(X)].any()

    @pytest.mark.parametrize("kind", KINDS, ids=str)
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_there_and_back_is_exact(self, kind, dtype):
        encoder = shaken(encoder_of(4, 9, tied=False, dtype=dtype, **kind))
        back = learn.Network(encoder).to_encoder()
        for mine, other in zip((back.components, *back.layers), (encoder.components, *encoder.layers), strict=True):
            assert mine.tobytes() == other.tobytes()
        assert np.array_equal(back.outlier_penalty, encoder.outlier_penalty)
        for name in ("rank_penalty", "n_layers", "signs", "structure", "tied"):
            assert getattr(back, name) == getattr(encoder, name)

    def test_an_encoder_taken_out_does_not_change_with_the_network(self):
        network = learn.Network(shaken(encoder_of(3, 9)))
        out = network.to_encoder()
        with torch.no_grad():
            network.threshold.add_(1.0)
        network.take(encoder_of(3, 9))
        assert same_numbers(out, shaken(encoder_of(3, 9)))
        assert same_numbers(network.to_encoder(), encoder_of(3, 9))


class TestSlopes:
    """Gradients against differences, and the short one of a layer against the one torch finds by itself."""

    @pytest.mark.parametrize("missing", [False, True])
    @pytest.mark.parametrize("one_sided", [False, True])
    def test_a_layer(self, one_sided, missing):
        rng = np.random.default_rng(4)
        x, d = (torch.from_numpy(rng.standard_normal((6, 5))) for _ in range(2))
        t = torch.from_numpy(rng.uniform(0.1, 1, 5)).requires_grad_()
        known = torch.from_numpy((rng.random((6, 5)) < 0.7).astype(float)) if missing else None
        x, d = x if known is None else x * known, d.requires_grad_()
        assert torch.autograd.gradcheck(lambda d, t: clipped(x, d, known, t, one_sided), (d, t))
        weights = torch.from_numpy(rng.standard_normal((6, 5)))
        mine, plain = (
            torch.autograd.grad((weights * clip(x, d, known, t, one_sided)).sum(), (d, t))
            for clip in (clipped, clip_towards)
        )
        assert all(torch.allclose(a, b, atol=1e-14) for a, b in zip(mine, plain, strict=True))
        assert 0 < torch.count_nonzero(mine[0]) < mine[0].numel()

    @pytest.mark.parametrize("loss", ["unsupervised", "imitation", "source"])
    @pytest.mark.parametrize("kind", KINDS, ids=str)
    def test_losses_by_all_parameters(self, kind, loss):
        encoder = shaken(encoder_of(2, 6, n_layers=2, tied=False, **kind))
        network = learn.Network(encoder)
        x, known = tensors(mixture(5, 6, 2, missing=0.15, seed=5))
        rng = np.random.default_rng(6)
        targets = tuple(torch.from_numpy(rng.standard_normal((5, k))) for k in (2 if loss == "imitation" else 6, 6))
        block, names = (
            learn.Block(x, known, targets),
            [n for n, p in network.named_parameters() if p.requires_grad and p.numel()],
        )
        assert ("feedback" in names) == encoder.nonnegative_codes

        def cost(*values):
            answer = torch.func.functional_call(network, dict(zip(names, values, strict=True)), (x, known))
            return getattr(learn, loss)(network, block, answer)

        values = tuple(getattr(network, name).detach().clone().requires_grad_() for name in names)
        assert torch.autograd.gradcheck(cost, values)

    @pytest.mark.parametrize("kind", SIGNS, ids=str)
    def test_thresholds_by_differences_of_the_encoder(self, kind):
        """No torch on the other side: cost of encodings with thresholds a little larger and smaller."""
        encoder, X = shaken(encoder_of(3, 12, tied=False, **kind)), mixture(40, 12, 3, missing=0.1, seed=7)

        def cost(threshold):
            other = replace(encoder, layers=encoder.layers._replace(threshold=threshold))
            return other.cost(X, *other.encode(X, backend="numpy")).mean()

        network, (x, known) = learn.Network(encoder), tensors(X)
        learn.unsupervised(network, learn.Block(x, known), network(x, known)).mean().backward()
        t = encoder.layers.threshold
        for place in np.ndindex(t.shape):
            step = np.zeros_like(t)
            step[place] = 1e-6
            slope = (cost(t + step) - cost(t - step)) / 2e-6
            assert network.threshold.grad[place].item() == pytest.approx(slope, abs=1e-5)
        assert network.threshold.grad.abs().max() > 1e-2

    def test_a_threshold_at_zero_can_grow_again(self):
        encoder, X = encoder_of(3, 12, n_layers=1), mixture(40, 12, 3, seed=7)
        layers = encoder.layers._replace(threshold=np.zeros((1, 12)))
        network, (x, known) = learn.Network(replace(encoder, layers=layers)), tensors(X)
        learn.unsupervised(network, learn.Block(x, known), network(x, known)).mean().backward()
        wider = replace(encoder, layers=layers._replace(threshold=np.full((1, 12), 1e-7)))
        none = replace(encoder, layers=layers)
        rise = wider.cost(X, *wider.encode(X)).mean() - none.cost(X, *none.encode(X)).mean()
        assert network.threshold.grad.sum().item() == pytest.approx(rise / 1e-7, rel=1e-4)
        assert (network.threshold.grad < 0).all(), "a wider threshold would cost less"


class TestLosses:
    """Each equals its formula, written in NumPy."""

    @pytest.fixture
    def case(self):
        encoder, X = shaken(encoder_of(3, 12)), mixture(20, 12, 3, missing=0.2, seed=8)
        network, (x, known) = learn.Network(encoder), tensors(X)
        with torch.no_grad():
            answer = network(x, known)
        return encoder, X, network, learn.Block(x, known), answer

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
        assert torch.count_nonzero(learn.unsupervised(nothing, learn.Block(x[:, :0]), nothing(x[:, :0]))) == 0

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
    answer = learn.exact_answer(shaken(encoder), X)
    assert encoder.gap(X, *answer).max() < 1e-5
    cost = encoder.cost(X, *answer)
    assert np.allclose(cost, [least_cost(encoder, x) for x in X], rtol=1e-5)
    assert not answer[1][np.isnan(X)].any()


M, Q = 24, 3


def samples(n, seed=0, missing=0.0, positive=False):
    """Low rank, outliers and noise; every seed draws from the same subspace."""
    U = np.random.default_rng(99).standard_normal((Q, M))
    rng = np.random.default_rng(seed)
    background = rng.standard_normal((n, Q)) @ U
    foreground = np.where(rng.random((n, M)) < 0.2, rng.uniform(-6, 6, (n, M)), 0)
    if positive:
        background, foreground = np.abs(rng.standard_normal((n, Q))) @ np.abs(U), np.abs(foreground)
    X = background + foreground + 0.05 * rng.standard_normal((n, M))
    X[rng.random(X.shape) < missing] = np.nan
    return X, background, foreground


def started(n_layers=2, positive=False, **kind):
    """Algorithm 1 with a good dictionary for `samples`."""
    X = samples(300, seed=1, positive=positive)[0]
    U = decompose(X, rank_penalty=2.0, outlier_penalty=0.1, n_components=Q, random_state=0).components
    if positive:
        U = np.abs(np.random.default_rng(99).standard_normal((Q, M)))
    return Encoder.from_components(U, rank_penalty=2.0, outlier_penalty=0.1, n_layers=n_layers, **kind)


@pytest.fixture(scope="module")
def start():
    return started()


@pytest.fixture(scope="module")
def X():
    return samples(400, seed=2)[0]


train = partial(learn.train, max_steps=60, random_state=0)


def shares(before, after, new):
    """How much of the distance from the exact cost of held-out samples training took away."""
    exact = before.cost(new, *learn.exact_answer(before, new)).mean()
    first, last = (one.cost(new, *one.encode(new)).mean() for one in (before, after))
    return (first - last) / (first - exact)


class TestTraining:
    def test_new_samples_cost_less(self, start, X):
        training = train(start, X, max_steps=300)
        assert shares(start, training.encoder, samples(1000, seed=3)[0]) > 0.3
        assert np.array_equal(training.encoder.components, start.components)
        assert training.gain > 0
        costs = [look.cost for look in training.history]
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
        costs = [look.cost for look in training.history]
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
        assert learnt(started(positive=True, **POSITIVE), positive)

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
            assert untrained + size == pytest.approx(training.history[0].cost, rel=1e-10)

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
            assert training.history[-1].cost != training.history[0].cost, "nothing moved"


class TestCallback:
    def test_looks_in_order(self, start, X):
        seen = []
        training = train(start, X, callback=seen.append)
        assert [(look.step, look.cost) for look in training.history[1:]] == [(told.done, told.measure) for told in seen]
        steps = [look.step for look in training.history]
        assert steps == list(range(61))
        assert {told.total for told in seen} == {60}
        best = np.minimum.accumulate([look.cost for look in training.history])
        assert [look.best for look in training.history] == best.tolist()

    def test_a_true_answer_ends_training(self, start, X):
        training = train(start, X, callback=lambda progress: progress.done >= 7)
        assert training.history[-1].step == 7
        assert len(training.history) == 8

    @pytest.mark.parametrize("steps", [10, 100, 600])
    def test_half_of_the_steps_without_gain_end_training(self, steps, start, X):
        training = train(start, X, max_steps=steps, step_size=1e30)
        assert steps / 2 <= training.history[-1].step <= steps / 2 + 1
        assert same_numbers(training.encoder, start)
        assert len(training.history) <= 61


class TestCheckpoint:
    @pytest.mark.parametrize(
        ("dtype", "options"), [(np.float32, {}), (np.float64, {"update_dictionary": True, "loss": "imitation"})]
    )
    def test_interrupted_at_a_random_look(self, options, dtype, start, X, tmp_path):
        start, X = start.astype(dtype), X.astype(dtype)
        whole = train(start, X, **options)
        assert layers_differ(whole.encoder, start)
        for when in np.random.default_rng(12).choice(np.arange(1, 61), 2, replace=False):
            path = tmp_path / f"{when}.safetensors"

            def interrupt(progress, when=when):
                if progress.done == when:
                    raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                train(start, X, checkpoint=path, callback=interrupt, **options)
            assert path.exists()
            seen = []
            resumed = train(start, X, checkpoint=path, callback=seen.append, **options | {"random_state": None})
            assert same_numbers(resumed.encoder, whole.encoder)
            assert resumed.history == whole.history
            assert [told.done for told in seen] == [look.step for look in whole.history[when + 1 :]]
            again = train(start, X, checkpoint=path, callback=lambda _: pytest.fail("was done"), **options)
            assert same_numbers(again.encoder, whole.encoder)

    def test_ended_by_the_callback_it_can_go_on(self, start, X, tmp_path):
        path = tmp_path / "c.safetensors"
        train(start, X, checkpoint=path, callback=lambda progress: progress.done == 10)
        assert same_numbers(train(start, X, checkpoint=path).encoder, train(start, X).encoder)

    def test_diverging_training_can_be_resumed(self, X, tmp_path):
        start, path = started(n_layers=20), tmp_path / "c.safetensors"
        whole = train(start, X, step_size=10.0)
        train(start, X, step_size=10.0, checkpoint=path, callback=lambda progress: progress.done == 20)
        assert train(start, X, step_size=10.0, checkpoint=path).history == whole.history

    def test_another_process_knows_a_loss_by_its_name(self, start, X, tmp_path):
        def made():
            def own(network, block, answer):
                return learn.unsupervised(network, block, answer)

            return own

        path = tmp_path / "c.safetensors"
        train(start, X, loss=made(), checkpoint=path, callback=lambda progress: progress.done == 10)
        resumed = train(start, X, loss=made(), checkpoint=path)
        assert same_numbers(resumed.encoder, train(start, X, loss=made()).encoder)

    @pytest.mark.parametrize(
        "change",
        [
            {"X": 1.0 + np.zeros((400, M))},
            {"step_size": 0.02},
            {"max_steps": 59},
            {"batch_size": 32},
            {"update_dictionary": True},
            {"loss": "imitation"},
            {"sample_weight": np.arange(400.0)},
            {"encoder": {"n_layers": 3}},
            {"encoder": {"tied": False}},
            {"encoder": {"structure": "full"}},
            {"encoder": {"nonnegative_outliers": True}},
            {"encoder": "dictionary"},
            {"encoder": "penalty"},
            {"encoder": "trained"},
        ],
        ids=lambda change: str(change)[:40],
    )
    def test_that_of_something_else_is_refused(self, change, start, X, tmp_path):
        path = tmp_path / "c.safetensors"
        train(start, X, checkpoint=path, callback=lambda progress: progress.done == 3)
        before = path.read_bytes()
        others = {"dictionary": lambda: start.untrained(start.components[::-1]), "trained": lambda: shaken(start),
                  "penalty": lambda: replace(start, rank_penalty=5.0).untrained()}  # fmt: skip
        other = change.pop("encoder", None)
        encoder = start if other is None else started(**other) if isinstance(other, dict) else others[other]()
        with pytest.raises(ValueError, match="belongs to other data or settings; remove it"):
            train(encoder, change.pop("X", X), checkpoint=path, **change)
        assert path.read_bytes() == before

    def test_other_targets_are_refused(self, start, tmp_path):
        X, *parts = samples(100)
        path = tmp_path / "c.safetensors"
        train(start, X, loss="source", targets=parts, checkpoint=path, callback=lambda progress: True)
        with pytest.raises(ValueError, match="belongs to other data"):
            train(start, X, loss="source", targets=parts[::-1], checkpoint=path)

    def test_files_of_another_kind_are_refused(self, start, X, tmp_path):
        path = tmp_path / "c.safetensors"
        start.save(path)
        with pytest.raises(ValueError, match="belongs to other data or settings"):
            train(start, X, checkpoint=path)
        path.write_bytes(b"nonsense")
        with pytest.raises(store.StoreError, match="damaged"):
            train(start, X, checkpoint=path)


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
        assert np.allclose([look.cost for look in one.history], [look.cost for look in two.history], rtol=1e-9)

    def test_their_scale_does_not_matter(self, start, X):
        weights = np.random.default_rng(14).random(400)
        one, other = (train(start, X, sample_weight=scale * weights) for scale in (1, 2**10))
        assert same_numbers(one.encoder, other.encoder)


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

        good, before, after = (F(one, learn.exact_answer(one, new)) for one in (start, poor, training.encoder))
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


class TestAims:
    def test_imitation_without_targets_imitates_the_exact_answers(self, start, X):
        targets = learn.exact_answer(start, X)
        assert start.gap(X, *targets).max() < 1e-6
        found, given, other = (
            train(start, X, loss="imitation", targets=aim)
            for aim in (None, targets, (targets[0] * 0.5, targets[1]))
        )  # fmt: skip
        assert same_numbers(found.encoder, given.encoder)
        assert layers_differ(given.encoder, other.encoder)

        def distance(encoder):
            new = samples(500, seed=3)[0]
            pairs = zip(encoder.encode(new), learn.exact_answer(start, new), strict=True)
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
        for encoder, cost in ((start, training.history[0].cost), (training.encoder, training.history[-1].best)):
            assert np.sum((encoder.encode(X)[0] - aims) ** 2, axis=1).mean() == pytest.approx(cost)
        assert training.gain > 0.1
        same = [train(start, X, loss=loss).encoder for loss in ("unsupervised", learn.unsupervised)]
        assert same_numbers(*same)


def _named(options):
    """A name for a test that is the same in every process."""
    return ", ".join(f"{name}={value}" if np.isscalar(value) else name for name, value in options.items())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"loss": "l2"}, r"^loss must be one of 'unsupervised', 'imitation', 'source', got 'l2'\.$"),
        ({"loss": None}, r"^loss must be one of .*, got None\.$"),
        ({"loss": "source"}, r"^loss='source' needs two finite targets of shapes \(400, 24\) and .*, got none\.$"),
        ({"loss": "source", "targets": np.ones((2, 400, 23))}, r"got \(400, 23\), \(400, 23\)\.$"),
        ({"loss": "source", "targets": np.full((2, 400, M), np.nan)}, "two finite targets"),
        ({"loss": "imitation", "targets": np.ones((2, 400, M))}, r"shapes \(400, 3\) and \(400, 24\)"),
        ({"loss": learn.source, "targets": np.ones((2, 399, M))}, "targets must have one row for each of the 400"),
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
        ({"X": np.full((5, M), np.nan)}, "X holds only NaN"),
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


def test_a_nonnegative_dictionary_is_not_updated():
    with pytest.raises(ValueError, match="update_dictionary does not know nonnegative dictionaries"):
        train(started(positive=True, **POSITIVE), samples(50)[0], update_dictionary=True)


def test_propagation_is_the_same_for_both_kinds_of_arrays():
    """`propagate` itself takes tensors and arrays; the network only exchanges the gradient of a layer."""
    encoder, X = shaken(encoder_of(3, 9)), mixture(5, 9, 3, seed=19)
    x = torch.from_numpy(X)
    layers = Layers(*(torch.from_numpy(part.copy()) for part in encoder.layers))
    components = torch.from_numpy(encoder.components.copy())
    s, r = propagate(layers, components, encoder.n_layers, encoder.signs, x, None)
    codes, outliers = encoder.encode(X, backend="numpy")
    assert np.allclose(s, codes, atol=1e-13)
    assert np.allclose(x - r, outliers, atol=1e-13)
