"""Networks without one of their parts: what is left out does not matter, and what is left still learns."""

import numpy as np
import pytest
import torch

from lab.paper.rival_networks import GatedNetwork, PartialNetwork
from unmingle import learn
from unmingle.core.encoder.sequence import SequenceEncoder
from unmingle.learn.masks import foreground_shares

Q, M = 6, 9


@pytest.fixture
def start():
    X = np.abs(np.random.default_rng(0).standard_normal((30, M)))
    return SequenceEncoder.from_samples(X, n_components=Q, n_layers=2)


@pytest.fixture
def x():
    return torch.from_numpy(np.abs(np.random.default_rng(1).standard_normal((12, 3, M))).astype(np.float32))


def test_whole_ones_are_the_network_itself(start, x):
    assert torch.equal(PartialNetwork(start)(x), learn.SequenceNetwork(start)(x))


def test_without_carrying_the_order_does_not_matter(start, x):
    alone, order = PartialNetwork(start, carried=False), torch.randperm(12)
    assert torch.allclose(alone(x[order]), alone(x)[order], atol=1e-6)
    assert torch.allclose(alone(x)[0], learn.SequenceNetwork(start)(x)[0], atol=1e-6)
    whole = learn.SequenceNetwork(start)
    assert not torch.allclose(whole(x[order]), whole(x)[order], atol=1e-2)


def test_without_a_head_the_background_is_that_of_the_last_layer(start, x):
    network = PartialNetwork(start, headed=False)
    with torch.no_grad():
        d, v = network.parts(x, codes := network.codes(x))
    assert torch.allclose(d, codes @ torch.tensor(start.cell.decoder[-1]), atol=1e-6)
    assert torch.allclose(v, (x - d).clip(0), atol=1e-6)


@pytest.mark.parametrize("without", ["carried", "biased", "headed"])
def test_what_is_left_out_is_not_trained(start, x, without, tmp_path):
    network = PartialNetwork(start, **{without: False})
    power = np.square(x.numpy())
    both = power.sum((0, 2))
    batch = learn.MaskBatch(x.numpy(), power, 0.3 * power, 0.3 * both, both)
    looks = learn.train_masks(network, lambda step: batch, setup={}, max_steps=20, checkpoint=tmp_path / "work")
    assert looks[-1].loss < looks[0].loss
    assert not network.cell["bias"].any() if without == "biased" else network.cell["bias"].any()
    moved = not np.allclose(network.head["background"].detach().numpy(), start.head.background)
    assert moved == (without != "headed")


def test_shares_are_those_of_one_sequence(start, x):
    network = learn.SequenceNetwork(start)
    with torch.no_grad():
        expected = network(x)[:, 1].numpy()
    assert np.allclose(foreground_shares(network, x[:, 1].numpy()), expected, atol=1e-6)


def test_a_gated_network_leaves_the_chance_of_torch_alone():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    GatedNetwork(M, Q, seed=5)
    assert torch.rand(1) == expected
