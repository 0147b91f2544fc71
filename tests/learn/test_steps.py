"""Layers of nonnegative codes that stay gradient steps."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_training import BOTH, samples, started, train

from unmingle.core.encoder.layers import preconditioned
from unmingle.learn._step_network import StepNetwork
from unmingle.learn.network import Block


@pytest.mark.parametrize("tied", [True, False])
def test_it_begins_as_the_encoder_and_each_layer_is_a_step_along_the_slope(tied):
    """Written out for directions that were moved: c + P (U'(min(x, d + lam) - d) - lam_* c), from P U' x."""
    start, x = started(positive=True, tied=tied, n_layers=3, **BOTH), samples(50, seed=5, positive=True)[0]
    longer = replace(start, layers=preconditioned(start.layers, start.components, start.rank_penalty, 0.3, 2.0))
    network = StepNetwork(longer)
    for own, given in zip(network.to_encoder().layers, longer.layers, strict=True):
        np.testing.assert_allclose(own, given, atol=1e-10)
    with torch.no_grad():
        network.factors += 0.1 * torch.randn(network.factors.shape, dtype=torch.float64)
    moved, U = network.to_encoder(), start.components
    M = U @ U.T + start.rank_penalty * np.eye(len(U))
    last = len(moved.layers.feedback) - 1
    G = [moved.layers.feedback[min(k, last)] for k in range(3)] + [moved.layers.readout_feedback]
    P = [np.linalg.solve(M, np.eye(len(U)) - own) for own in G]
    c = np.maximum(0, x @ U.T @ P[0])
    for step in P[1:]:
        slope = np.minimum(x - c @ U, start.outlier_penalty) @ U.T - start.rank_penalty * c
        c = np.maximum(0, c + slope @ step)
    np.testing.assert_allclose(moved.encode(x)[0], c, atol=1e-9)
    taken = StepNetwork(longer).take(moved)
    np.testing.assert_allclose(taken.factors.detach(), network.factors.detach(), atol=1e-8)


def test_the_first_half_of_training_moves_directions_only():
    start, X = started(positive=True, tied=False, n_layers=3, **BOTH), samples(400, seed=2, positive=True)[0]
    half = train(start, X, max_steps=60, callback=lambda progress: progress.done == 30).encoder
    np.testing.assert_array_equal(half.layers.decoder, start.layers.decoder)
    np.testing.assert_array_equal(half.layers.threshold, start.layers.threshold)
    assert np.abs(half.layers.encoder - start.layers.encoder).max() > 0.01
    whole = train(start, X, max_steps=200).encoder
    assert np.abs(whole.layers.decoder - start.layers.decoder).max() > 0


def test_mixtures_of_samples_and_targets():
    x = torch.tensor([[2.0, 4.0], [6.0, 0.0], [1.0, 1.0]])
    known = torch.tensor([[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    mixed = Block(x, known, (10 * x,)).mixed(torch.tensor([1, 0, 1]), torch.tensor([0.5, 0.75, 1.0]))
    assert mixed.x.tolist() == [[4.0, 0.0], [5.0, 0.0], [1.0, 1.0]]
    assert mixed.known.tolist() == [[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    assert mixed.targets[0][:, 0].tolist() == [40.0, 50.0, 10.0]
    assert Block(x).mixed(torch.tensor([1, 0, 1]), torch.tensor([0.5, 0.75, 1.0])).known is None


@pytest.mark.parametrize("options", [{"update_dictionary": True}, {"signs": {}}])
def test_fitted_is_refused_where_it_means_nothing(options):
    start = started(positive=True, **options.get("signs", BOTH))
    with pytest.raises(ValueError, match="fitted=True needs"):
        train(start, samples(50, positive=True)[0], fitted=True, update_dictionary="update_dictionary" in options)
