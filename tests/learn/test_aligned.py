"""Alignment through the encoder: gradients in the transformations, alone and together with the layers."""

import numpy as np
import pytest
import torch

import unmingle
from unmingle.alignment.families import AlignedFrame, compose
from unmingle.core.encoder.encoder import Encoder
from unmingle.learn import Aligned, Network, train
from unmingle.learn.aligned import align_through
from unmingle.learn.network import Block
from unmingle.synth import displaced_faces

SHAPE = (48, 40)
START = np.array([[1.0, 0, 8.0], [0, 1, 8.0], [0, 0, 1]])


@pytest.fixture(scope="module")
def learnt():
    """A model, and an encoder of five layers with its components."""
    faces = displaced_faces(40, random_state=0)
    aligner = unmingle.Aligner(shape=SHAPE, n_components=5, rank_penalty=0.1, outlier_penalty=0.01).fit(faces.images)
    encoder = Encoder.from_components(aligner.components_, rank_penalty=0.1, outlier_penalty=0.01, n_layers=5)
    return aligner, encoder


def starts(n):
    return np.tile(START, (n, 1, 1))


@pytest.mark.parametrize("family", ["translation", "similarity", "projective"])
def test_gradients_are_slopes_of_the_cost(learnt, family):
    images = displaced_faces(2, random_state=3).images
    network = Network(learnt[1])
    loss = Aligned(images, starts(2), SHAPE, family)
    block = loss.block(Block(network.components[:1]), torch.arange(2), (0,))
    loss(network, block, network(block.x)).sum().backward()
    slope = loss._pending[1].grad.numpy()
    frame, step = AlignedFrame(*SHAPE), 0.02

    def cost(parameters):
        moved = Aligned(images, compose(starts(2), frame.to_matrix(family, parameters)), SHAPE, family)
        x = torch.from_numpy(moved.frames())
        return loss(network, Block(x), network(x)).detach().numpy()

    for k in range(slope.shape[1]):
        move = step * np.eye(slope.shape[1])[k]
        numeric = (cost(np.tile(move, (2, 1))) - cost(np.tile(-move, (2, 1)))) / (2 * step)
        np.testing.assert_allclose(slope[:, k], numeric, rtol=0.1, atol=0.02 * np.abs(slope).max())


def test_it_ends_near_gauss_newton(learnt):
    aligner, encoder = learnt
    images = displaced_faces(12, shift=2.0, random_state=4).images
    loss = Aligned(images, starts(12), SHAPE)
    found = align_through(Network(encoder), loss)
    expected = aligner.align(images, starts=starts(12)).matrices
    assert np.median(np.abs(found - expected)[:, :2, 2]) < 0.1
    assert np.abs(START - expected)[:, :2, 2].max() > 1.0


def test_layers_and_places_are_trained_together(learnt):
    _, encoder = learnt
    images = displaced_faces(40, shift=1.5, random_state=5).images
    loss = Aligned(images, starts(40), SHAPE)
    before = loss.frames()
    trained = train(encoder, before, loss=loss, validation=0.0, max_steps=120, batch_size=20, random_state=0)
    assert trained.history[-1].best < 0.7 * trained.history[0].measure
    placed = train(encoder, before, validation=0.0, max_steps=120, batch_size=20, random_state=0)
    assert trained.history[-1].best < placed.history[-1].best
