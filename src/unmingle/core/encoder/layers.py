"""The recurrence: what layers are made of, and how a block of samples goes through them."""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..._rules import FLOATS, ArrayOf
from ..._types import Array
from ..linalg.low_rank import ridge_encoder


class Layers(NamedTuple):
    """What can be trained: L layers and the readout. L is 1 where all layers share their numbers (tied).

    Arrays of NumPy, or tensors of torch. Rows are atoms: a block of codes ``c`` gives ``d = c @ decoder``.
    """

    decoder: Annotated[Any, ArrayOf(FLOATS, "depth", ("q", "m"), "m", alike="encoder")]
    """A' of each layer (L, q, m); or W' (L, m, m) where the structure is full: the inner code is then x - o itself."""
    encoder: Annotated[Any, ArrayOf(FLOATS, "depth", ("q", 0), "m", alike="encoder")]
    """H' of each layer (L, q, m); (L, 0, m) where the structure is full."""
    threshold: Annotated[Any, ArrayOf(FLOATS, "depth", "m", low=0.0, alike="encoder")]
    """t of each layer (L, m), not negative."""
    feedback: Annotated[Any, ArrayOf(FLOATS, "depth", "q", "q", alike="encoder")]
    """G' of each layer (L, q, q); zero unless codes are nonnegative."""
    readout: Annotated[Any, ArrayOf(FLOATS, "q", "m", alike="encoder")]
    """H (q, m)."""
    readout_feedback: Annotated[Any, ArrayOf(FLOATS, "q", "q", alike="encoder")]
    """G' of the readout (q, q)."""

    @property
    def full(self) -> bool:
        """Whether the structure is full: one matrix W a layer."""
        return bool(self.encoder.shape[1] == 0 < self.decoder.shape[1])

    @classmethod
    def of_algorithm(
        cls, components: Array, lam_star: float, lam: Array, depth: int, full: bool, nonnegative_codes: bool
    ) -> "Layers":
        """The layers with which the network is Algorithm 1, or a projected gradient method for nonnegative codes.

        The latter is::

            c <- max(0, G c + H' (x - o)),   G = I - (U'U + lam_* I) / Lip,   H' = U' / Lip

        with Lip the largest eigenvalue of U'U + lam_* I.
        """
        wide = components.astype(np.float64)
        q, m = wide.shape
        H, G = ridge_encoder(wide, lam_star).T, np.zeros((q, q))
        if nonnegative_codes:
            hessian = wide @ wide.T + lam_star * np.eye(q)
            steepest = float(np.max(np.linalg.eigvalsh(hessian), initial=lam_star))
            H, G = wide / steepest, np.eye(q) - hessian / steepest
        decoder, encoder = (H.T @ wide, np.zeros((0, m))) if full else (wide, H)
        shared = (np.repeat(part[None], depth, axis=0) for part in (decoder, encoder, lam, G))
        return cls(*(np.ascontiguousarray(part, dtype=components.dtype) for part in (*shared, H, G)))


def preconditioned(layers: Layers, components: Array, lam_star: float, damping: float, length: float) -> Layers:
    """Layers of nonnegative codes that make longer steps, in better directions, than projected gradient steps are.

    They are::

        c <- max(0, c + a P (U' (r - d) - lam_* c)),   P = (M + b diag M)^-1,   M = U'U + lam_* I

    that is H' = a P U' and G = I - a P M; the first layer, if it has numbers of its own, has H' = P U'. Entries that
    are clipped do not curve the cost, so that lengths beyond 1 are right. P is not diagonal, so the fixed point is not
    quite the answer: few such layers come nearer to it all the same, and are where training begins.

    Parameters
    ----------
    layers : Layers
        For their depth, thresholds and precision.
    components : array of shape (q, m)
        U'.
    lam_star : float
        Rank penalty.
    damping : float
        b, positive.
    length : float
        a.
    """
    wide = components.astype(np.float64)
    q, depth = len(wide), len(layers.threshold)
    hessian = wide @ wide.T + lam_star * np.eye(q)
    P = np.linalg.inv(hessian + damping * np.diag(np.diag(hessian)))
    H, G = length * P @ wide, np.eye(q) - length * hessian @ P
    encoder, feedback = (np.repeat(part[None], depth, axis=0) for part in (H, G))
    if depth > 1:
        encoder[0], feedback[0] = P @ wide, np.eye(q) - hessian @ P
    dtype = layers.threshold.dtype
    parts = {"encoder": encoder, "feedback": feedback, "readout": H, "readout_feedback": G}
    return layers._replace(**{name: np.ascontiguousarray(part, dtype=dtype) for name, part in parts.items()})


class Signs(NamedTuple):
    """Which parts of the answer may not be negative."""

    codes: bool = False
    outliers: bool = False


def clip_towards(x: Any, d: Any, known: Any, threshold: Any, one_sided: bool) -> Any:
    """Return x - o, o = soft(x - d, t) or max(x - d - t, 0) on one side: clip(x, d - t, d + t); d where x is missing.

    Where nothing is clipped this is x itself, not d + (x - d): the outlier there is 0 to the last bit.
    """
    filled = x if known is None else x + (1 - known) * d
    return filled.clip(None if one_sided else d - threshold, d + threshold)


def propagate(
    layers: Layers,
    components: Any,
    n_layers: int,
    signs: Signs,
    x: Any,
    known: Any,
    init: Any = None,
    clipped: Callable[..., Any] = clip_towards,
) -> tuple[Any, Any]:
    """Codes s and cleaned samples x - o of a block: the network itself, for arrays of NumPy and tensors of torch.

    Parameters
    ----------
    layers : Layers
        The numbers.
    components : array of shape (q, m)
        U', of which the first layer makes d where ``init`` is given.
    n_layers : int
        Number of layers.
    signs : Signs
        Which parts may not be negative.
    x : array of shape (n, m)
        Samples, 0 where missing.
    known : array of shape (n, m), or None
        1 where a sample is known, 0 where it is missing; None if nothing is missing.
    init : array of shape (n, q), optional
        Codes to start from.
    clipped : callable
        `clip_towards`, or the same with a gradient of its own.
    """
    rectified: Callable[[Any], Any] = (lambda c: c.clip(0, None)) if signs.codes else (lambda c: c)
    r, c = x, None
    for k in range(n_layers):
        own = min(k, len(layers.threshold) - 1)
        if k == 0 and init is not None:
            c, d = init, init @ components
        else:
            news = r if layers.full else r @ layers.encoder[own].T
            c = rectified(news + c @ layers.feedback[own] if signs.codes and c is not None else news)
            d = c @ layers.decoder[own]
        r = clipped(x, d, known, layers.threshold[own], signs.outliers)
    s = r @ layers.readout.T
    return rectified(s + c @ layers.readout_feedback if signs.codes else s), r
