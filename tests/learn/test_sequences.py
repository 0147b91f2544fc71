"""Networks that follow sequences: slopes against torch's own, training that learns, and that can be interrupted."""

import numpy as np
import pytest
import torch

from lab.paper.rival_networks import GatedNetwork
from unmingle import learn, store
from unmingle.core.encoder.sequence import Cell, SequenceEncoder, carry
from unmingle.learn.masks import masking_loss
from unmingle.learn.sequence import _Carried

Q, M = 5, 7


def start(dtype=np.float32, seed=0, layers=2):
    X = np.abs(np.random.default_rng(seed).standard_normal((30, M)))
    return SequenceEncoder.from_samples(X, n_components=Q, n_layers=layers, seed=seed).astype(dtype)


def batch(number, frames=12, width=6):
    """Samples that are foreground in their upper half whenever the first feature is large: easy to learn."""
    rng = np.random.default_rng((7, number))
    V = rng.random((frames, width, M)).astype(np.float32)
    A = rng.random((frames, width, M)).astype(np.float32)
    A[..., M // 2 :] *= 0.1
    V[..., : M // 2] *= 0.1
    X = V + A
    squares = [np.square(part).sum((0, 2)) for part in (V, A)]
    return learn.MaskBatch(np.sqrt(X), X**2, X * V, squares[0], squares[0] + squares[1])


@pytest.mark.parametrize("layers", [1, 3])
def test_slopes_are_those_of_the_recurrence_written_with_torch(layers):
    encoder = start(np.float64, layers=layers)
    x = torch.from_numpy(np.abs(np.random.default_rng(1).standard_normal((9, 4, M))))
    numbers = [torch.tensor(part, requires_grad=True) for part in encoder.cell]
    weights = torch.from_numpy(np.random.default_rng(2).standard_normal((9, 4, Q)))
    (_Carried.apply(x, *numbers) * weights).sum().backward()
    mine = [one.grad.clone() for one in numbers]
    for one in numbers:
        one.grad = None
    c, total = torch.zeros(4, Q, dtype=torch.float64), 0.0
    for i in range(len(x)):
        c = carry(Cell(*numbers), x[i], c)
        total = total + (c * weights[i]).sum()
    total.backward()
    for own, one in zip(mine, numbers, strict=True):
        assert torch.allclose(own, one.grad, atol=1e-12 * float(one.grad.abs().max()))
        assert float(one.grad.abs().max()) > 0


def test_the_loss_is_the_distance_of_the_masked_mixture():
    rng = np.random.default_rng(0)
    X, V = (rng.standard_normal((2, 5, 3, M, 2)) @ [1, 1j]).astype(np.complex128)
    mask = rng.random((5, 3, M))
    A = X - V
    voice, music = (np.square(np.abs(part)).sum((0, 2)) for part in (V, A))
    parts = (np.abs(X) ** 2, np.real(X.conj() * V), voice, voice + music)
    found = masking_loss(torch.from_numpy(mask), learn.MaskBatch(None, *map(torch.from_numpy, parts)))
    error = np.square(np.abs(mask * X - V)).sum((0, 2)) / (voice + music)
    assert found.item() == pytest.approx(np.mean(10 * np.log10(error + 0.003)), abs=1e-9)


@pytest.mark.parametrize("kind", ["recurrence", "gated"])
def test_training_learns(kind):
    network = learn.SequenceNetwork(start()) if kind == "recurrence" else GatedNetwork(M, Q)
    looks = learn.train_masks(network, batch, setup={}, max_steps=300, step_size=0.01)
    assert len(looks) == 30
    assert looks[-1].loss < looks[0].loss - 3
    probe = batch(10**6)
    mask = network(torch.from_numpy(probe.x)).detach()
    loss = masking_loss(mask, learn.MaskBatch(*map(torch.from_numpy, probe)))
    assert loss.item() == pytest.approx(looks[-1].loss, abs=1.0)


def test_interrupted_training_ends_with_the_same_numbers(tmp_path):
    def trained(stop=None, checkpoint=None):
        network = learn.SequenceNetwork(start())
        seen = []

        def callback(progress):
            seen.append(progress.done)
            return stop is not None and progress.done >= stop

        learn.train_masks(network, batch, setup={"a": 1}, max_steps=60, callback=callback, checkpoint=checkpoint)
        return network.to_encoder(), seen

    whole, _ = trained()
    trained(stop=24, checkpoint=tmp_path / "work")
    resumed, seen = trained(checkpoint=tmp_path / "work")
    assert seen[0] > 24
    for one, other in zip((*whole.cell, *whole.head), (*resumed.cell, *resumed.head), strict=True):
        assert np.array_equal(one, other)


def test_a_checkpoint_of_other_work_or_a_damaged_one_is_refused(tmp_path):
    path = tmp_path / "work"
    learn.train_masks(learn.SequenceNetwork(start()), batch, setup={"a": 1}, max_steps=3, checkpoint=path)
    with pytest.raises(ValueError, match="belongs to other data or settings"):
        learn.train_masks(learn.SequenceNetwork(start()), batch, setup={"a": 2}, max_steps=3, checkpoint=path)
    with pytest.raises(ValueError, match="belongs to other data or settings"):
        learn.train_masks(learn.SequenceNetwork(start(seed=1)), batch, setup={"a": 1}, max_steps=3, checkpoint=path)
    stored = store.read(path)
    arrays = {name: array for name, array in stored.arrays.items() if "exp_avg_sq" not in name}
    store.write(path, stored.kind, stored.parameters, arrays)
    with pytest.raises(store.StoreError, match="does not hold a complete Training"):
        learn.train_masks(learn.SequenceNetwork(start()), batch, setup={"a": 1}, max_steps=3, checkpoint=path)


def test_judges_see_averaged_numbers_and_change_nothing():
    judged = []

    def judge(network):
        judged.append(network.to_encoder())
        return 1.0

    ends = []
    for who in (None, judge):
        network = learn.SequenceNetwork(start())
        looks = learn.train_masks(network, batch, setup={}, max_steps=30, judge=who)
        ends.append(network.to_encoder())
    assert looks[-1].measure == 1.0
    for one, other, last in zip(*(end.cell for end in ends), judged[-1].cell, strict=True):
        assert np.array_equal(one, other)
        assert np.array_equal(one, last)
