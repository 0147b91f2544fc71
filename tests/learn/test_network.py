"""The network in torch: its numbers, and its slopes against differences."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from reference import mixture
from small_training import KINDS, SIGNS, encoder_of, same_numbers, shaken, tensors

from unmingle import learn
from unmingle.core.encoder.layers import clip_towards
from unmingle.learn._functions import clipped
from unmingle.learn.network import Block


class TestNetwork:
    """The network holds the numbers of the encoder; tests/parity holds its answers to the encoder's."""

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
            Block(x, known, targets),
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
        learn.unsupervised(network, Block(x, known), network(x, known)).mean().backward()
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
        learn.unsupervised(network, Block(x, known), network(x, known)).mean().backward()
        wider = replace(encoder, layers=layers._replace(threshold=np.full((1, 12), 1e-7)))
        none = replace(encoder, layers=layers)
        rise = wider.cost(X, *wider.encode(X)).mean() - none.cost(X, *none.encode(X)).mean()
        assert network.threshold.grad.sum().item() == pytest.approx(rise / 1e-7, rel=1e-4)
        assert (network.threshold.grad < 0).all(), "a wider threshold would cost less"
