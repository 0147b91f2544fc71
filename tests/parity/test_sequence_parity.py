"""Whoever follows a sequence gives the same answers, and the same state to go on from: NumPy, Numba, torch, ONNX."""

import numpy as np
import pytest
import torch

from unmingle import export, learn
from unmingle.core.encoder.sequence import Cell, Head, SequenceEncoder, carry, read_out

ACCURACY = {"float64": 1e-11, "float32": 1e-5}
FORMS = [(1, 1, 3, "float64"), (7, 1, 33, "float64"), (7, 3, 33, "float32"), (64, 2, 240, "float32")]


def network(form):
    """A network with other numbers than any start has, and sequences for it."""
    q, layers, m, dtype = form
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((40, m)))
    start = SequenceEncoder.from_samples(X, n_components=q, n_layers=layers)
    moved = [part + 0.1 * np.abs(part).mean() * rng.standard_normal(part.shape) for part in (*start.cell, *start.head)]
    for place in (2, 9):  # thresholds
        moved[place] = np.abs(moved[place]) * rng.uniform(0.1, 1, moved[place].shape)
    parts = [np.asarray(part, dtype) for part in moved]
    return SequenceEncoder(Cell(*parts[:5]), Head(*parts[5:])), X.astype(dtype)


def truth(encoder, X, state):
    """The recurrence written out, in float64."""
    cell, head = (type(group)(*(part.astype(np.float64) for part in group)) for group in (encoder.cell, encoder.head))
    codes, c = [], np.zeros(encoder.n_components) if state is None else state.astype(np.float64)
    for x in X.astype(np.float64):
        for A, H, t, G, b in zip(*cell, strict=True):
            c = np.maximum(0, G.T @ c + H @ np.minimum(x, A.T @ c + t) + b)
        codes.append(c)
    d = np.logaddexp(0, codes @ head.background + head.background_bias)
    v = np.logaddexp(0, codes @ head.foreground + head.foreground_bias)
    v += np.maximum(0, X - d - v - head.threshold)
    return (d + 0.01) ** (head.power / 2), (v + 0.01) ** (head.power / 2), c


def by_torch(encoder, folder):
    """`carry` itself takes tensors as it takes arrays."""
    cell = Cell(*map(torch.tensor, encoder.cell))

    def run(X, state):
        c = torch.zeros(1, encoder.n_components, dtype=cell.bias.dtype) if state is None else torch.tensor(state)[None]
        codes = []
        for x in torch.from_numpy(X):
            c = carry(cell, x[None], c)
            codes.append(c[0].numpy())
        return (*read_out(encoder.head, X, np.array(codes)), codes[-1])

    return run


def by_onnx(encoder, folder):
    export.to_onnx(encoder, folder / "network.onnx")
    return lambda X, state: export.run_sequence(folder / "network.onnx", X, state)


RUNTIMES = {
    "numpy": lambda encoder, folder: lambda X, state: encoder.separate(X, state=state, backend="numpy"),
    "numba": lambda encoder, folder: lambda X, state: encoder.separate(X, state=state),
    "torch": by_torch,
    "onnx": by_onnx,
}


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_runtime_gives_the_answers_and_the_state(runtime, form, tmp_path):
    encoder, X = network(form)
    run = RUNTIMES[runtime](encoder, tmp_path)
    whole, rest = run(X, None), run(X[25:], run(X[:25], None)[2])
    for mine, late, right in zip(whole, rest, truth(encoder, X, None), strict=True):
        bound = ACCURACY[form[3]] * np.abs(right).max()
        assert mine.dtype == form[3]
        assert np.abs(mine - right).max() <= bound
        assert np.abs(late - right[-len(late) :]).max() <= bound


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_network_that_is_trained_gives_the_shares_of_these_parts(form):
    encoder, X = network(form)
    background, foreground, _ = encoder.separate(X)
    with torch.no_grad():
        share = learn.SequenceNetwork(encoder)(torch.from_numpy(X)[:, None])[:, 0].numpy()
    assert np.abs(share - foreground**2 / (foreground**2 + background**2)).max() <= ACCURACY[form[3]]


def test_the_vectors_ask_for_everything():
    """Codes are on and off, entries are clipped and not, and the state matters."""
    encoder, X = network(FORMS[2])
    codes = encoder.encode(X)
    assert 0.1 < np.mean(codes > 0) < 0.9
    clipped = X[1:] > codes[:-1] @ encoder.cell.decoder[0] + encoder.cell.threshold[0]
    assert 0.02 < np.mean(clipped) < 0.98
    assert np.abs(encoder.encode(X[20:]) - codes[20:]).max() > 0.01
