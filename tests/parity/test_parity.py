"""Whoever runs an encoder gives the same answers: NumPy, compiled loops, torch with and without gradients, ONNX."""

import numpy as np
import pytest
import torch
from parity.vectors import ACCURACY, FORMS, encoder_of, vectors_of

from unmingle import export, learn
from unmingle.core.encoder.layers import Layers, propagate


def tensors(X, init):
    """Samples, 0 where missing; where they are known, if not everywhere; and codes to start from."""
    known = ~np.isnan(X)
    weights = None if known.all() else torch.from_numpy(known.astype(X.dtype))
    return torch.from_numpy(np.where(known, X, X.dtype.type(0))), weights, None if init is None else torch.tensor(init)


def by_backend(backend):
    def runtime(encoder, folder):
        def run(X, init):
            codes, outliers = encoder.encode(X, init=init, backend=backend)
            return codes, codes @ encoder.components, outliers

        return run

    return runtime


def by_network(encoder, folder):
    network = learn.Network(encoder)

    def run(X, init):
        with torch.no_grad():
            answer = network(*tensors(X, init))
        return answer.codes.numpy(), answer.low_rank.numpy(), answer.outliers.numpy()

    return run


def by_propagation(encoder, folder):
    """`propagate` itself takes tensors as it takes arrays; the network only exchanges the gradient of a layer."""
    layers = Layers(*(torch.tensor(part) for part in encoder.layers))
    components = torch.tensor(encoder.components)

    def run(X, init):
        x, known, start = tensors(X, init)
        codes, cleaned = propagate(layers, components, encoder.n_layers, encoder.signs, x, known, start)
        outliers = (x - cleaned) * (1 if known is None else known)
        return codes.numpy(), (codes @ components).numpy(), outliers.numpy()

    return run


def by_onnx(encoder, folder):
    for warm in (False, True):
        export.to_onnx(encoder, folder / f"{warm}.onnx", warm_start=warm)
    return lambda X, init: export.run(folder / f"{init is not None}.onnx", X, init)


RUNTIMES = {
    "numpy": by_backend("numpy"),
    "numba": by_backend("numba"),
    "torch": by_network,
    "torch, plain": by_propagation,
    "onnx": by_onnx,
}


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_runtime_gives_the_answers(runtime, form, tmp_path):
    encoder, cases = vectors_of(form)
    run = RUNTIMES[runtime](encoder, tmp_path)
    for X, init, expected in cases:
        answers = run(X, init)
        for mine, other in zip(answers, expected, strict=True):
            assert mine.dtype == form.dtype
            assert mine.shape == other.shape
            assert np.abs(mine - other).max() <= ACCURACY[form.dtype] * np.abs(other).max(initial=1)
        assert not answers[2][np.isnan(X)].any()


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_no_samples_no_answers(runtime, tmp_path):
    encoder = encoder_of(FORMS[0])
    q, m = encoder.components.shape
    for init in (None, np.zeros((0, q))):
        answers = RUNTIMES[runtime](encoder, tmp_path)(np.zeros((0, m)), init)
        assert [part.shape for part in answers] == [(0, q), (0, m), (0, m)]


def test_the_vectors_ask_for_everything():
    """Every layer clips some entries and leaves others, and signs matter."""
    for form in FORMS:
        X, _, (codes, _, outliers) = vectors_of(form)[1][-1]
        assert np.isnan(X).any()
        assert 0 < np.count_nonzero(outliers) < outliers.size
        assert (codes.min() < 0) != form.nonnegative_codes
        assert (outliers.min() < 0) != form.nonnegative_outliers
