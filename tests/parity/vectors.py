"""One set of vectors for every runtime of the encoder: networks, samples, codes to start from, right answers."""

from dataclasses import replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from unmingle.core.encoder.encoder import Encoder
from unmingle.core.encoder.layers import Layers

ROWS = (1, 7, 64, 300)
ACCURACY = {"float64": 1e-11, "float32": 1e-5}
"""Of answers, relative to their largest entry."""


class Form(NamedTuple):
    """How a network is built."""

    q: int
    m: int = 33
    n_layers: int = 4
    dtype: str = "float64"
    structure: str = "low_rank"
    tied: bool = False
    nonnegative_codes: bool = False
    nonnegative_outliers: bool = False

    def __str__(self):
        signs = f"{'+' if self.nonnegative_codes else '-'}{'+' if self.nonnegative_outliers else '-'}"
        layers = f"{self.n_layers} {'tied' if self.tied else 'layers'}"
        return f"{self.q}x{self.m}, {layers}, {self.structure}, {signs}, {self.dtype}"


def _forms():
    for tied, codes, outliers in product((True, False), repeat=3):
        for structure in ("low_rank",) if codes else ("low_rank", "full"):
            signs = {"nonnegative_codes": codes, "nonnegative_outliers": outliers}
            for q in (1, 2, 5, 8, 9, 25):
                yield Form(q, structure=structure, tied=tied, **signs)
            for q in (4, 25):
                yield Form(q, dtype="float32", structure=structure, tied=tied, **signs)
    yield from (Form(1, 5, 1), Form(1, 1, 3), Form(6, 3, 1), Form(2, 9, 40), Form(2, 9, 40, tied=True))


FORMS = tuple(_forms())


def encoder_of(form):
    """A network with other numbers in every layer than any algorithm has."""
    rng = np.random.default_rng([form.q, form.m, form.n_layers])
    U = rng.standard_normal((form.q, form.m)).astype(form.dtype)
    kind = form._asdict()
    kind = {name: kind[name] for name in ("n_layers", "structure", "tied", "nonnegative_codes", "nonnegative_outliers")}
    lam = rng.uniform(0.2, 0.6, form.m)
    U = np.abs(U) if form.nonnegative_codes else U
    encoder = Encoder.from_components(U, rank_penalty=0.7, outlier_penalty=lam, **kind)
    moved = (part * rng.uniform(0.7, 1.2, part.shape).astype(part.dtype) for part in encoder.layers)
    return replace(encoder, layers=Layers(*moved))


class Case(NamedTuple):
    """Samples, codes to start from or None, and the codes, low-rank parts and outliers that are right."""

    X: np.ndarray
    init: np.ndarray | None
    answer: tuple[np.ndarray, np.ndarray, np.ndarray]


@cache
def vectors_of(form):
    """A network and its cases."""
    encoder = encoder_of(form)
    return encoder, tuple(Case(X, init, answer_of(encoder, X, init)) for X, init in _questions(encoder))


def _questions(encoder):
    """Samples with outliers, some with missing entries, and codes to start from or None."""
    (q, m), dtype = encoder.components.shape, encoder.components.dtype
    for n in ROWS:
        rng = np.random.default_rng(n)
        X = rng.standard_normal((n, q)) @ encoder.components + 0.1 * rng.standard_normal((n, m))
        X[rng.random(X.shape) < 0.1] += 3
        holes = X.copy()
        holes[rng.random(X.shape) < 0.2] = np.nan
        holes[n // 2] = np.nan
        init = rng.uniform(0, 1, (n, q)).astype(dtype)
        for samples, start in product((X, holes), (None, init)):
            yield samples.astype(dtype), start


def answer_of(encoder, X, init):
    """Codes, low-rank part and outliers by the formulas of `unmingle.core.encoder`, one by one in double precision."""
    layers = [np.asarray(part, np.float64) for part in encoder.layers]
    U = encoder.components.astype(np.float64)
    starts = [None] * len(X) if init is None else init.astype(np.float64)
    rows = [_answer(encoder, layers, U, x, start) for x, start in zip(X.astype(np.float64), starts, strict=True)]
    codes, outliers = (np.stack(part) for part in zip(*rows, strict=True))
    return codes, codes @ U, outliers


def _answer(encoder, layers, U, x, code):
    A, H, t, G, readout, readout_feedback = layers
    full, positive = encoder.structure == "full", encoder.nonnegative_codes
    missing = np.isnan(x)
    x, o = np.where(missing, 0.0, x), np.zeros_like(x)
    for k in range(encoder.n_layers):
        own = min(k, len(t) - 1)
        if k == 0 and code is not None:
            d = U.T @ code
        elif full:
            d = A[own].T @ (x - o)
        else:
            new = H[own] @ (x - o)
            code = np.maximum(0, new + (0 if code is None else G[own].T @ code)) if positive else new
            d = A[own].T @ code
        x = np.where(missing, d, x)
        e = x - d
        o = np.maximum(e - t[own], 0) if encoder.nonnegative_outliers else np.sign(e) * np.maximum(abs(e) - t[own], 0)
    s = readout @ (x - o)
    return (np.maximum(0, s + readout_feedback.T @ code) if positive else s), o
