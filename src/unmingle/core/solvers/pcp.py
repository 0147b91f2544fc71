"""Solver of the constrained problem (1), principal component pursuit."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from ..._types import Array
from ...kernels.matrix import clipped_norm, multiplier_sweep
from ..linalg.low_rank import LowRank
from ..linalg.thresholding import WarmSubspace
from ..objective import Certificate, certify_constrained, certify_splitting
from .splitting import Split, is_high, splitting_iterates


@dataclass(frozen=True)
class _PursuitPenalty:
    """How the penalty mu follows the residuals: it grows while the dual one keeps up with the primal one."""

    growth: float = 1.5
    """The factor that mu changes by in a step."""
    calming: float = 0.7
    """The growth is taken to this power whenever mu turns, so that mu comes to rest."""
    balance_at_start: float = 1e4
    """The dual residual may be this many times the primal one, at first."""
    balance_fall: float = 0.93
    """After each step it may be this many times less."""
    least_balance: float = 10.0
    """In the end it may still be this many times the primal one."""


@dataclass(frozen=True)
class _MultiplierMoves:
    """How a multiplier is moved onto the optimality conditions, for a better bound, `_move_onto_conditions`."""

    rounds: int = 40
    """Projections at most."""
    stuck: float = 0.9
    """They end once the distance is above this share of the last one."""
    near: float = 3.0
    """They end once the distance is within this many times the residual."""
    usable: float = 30.0
    """A multiplier farther away than this many times the residual is not used."""


_PENALTY, _MOVING = _PursuitPenalty(), _MultiplierMoves()


@dataclass(frozen=True)
class Pursuit:
    """An iterate of (1). Its arrays are the solver's own and change with the next iterate."""

    low_rank: LowRank
    residual: float
    """Relative residual: the larger of the primal one and the dual one over what the balance allows it."""
    cleaned: Array
    """X - O + share multiplier: the noise is a multiple of the multiplier."""
    multiplier: Array
    share: float
    box: float
    """The multiplier is at most this many times lam: 1, as nearly as the noise was found."""

    def outliers(self, X: Array, lam: Array) -> Array:
        """O, exactly zero wherever the multiplier is inside its box."""
        inside = np.abs(self.multiplier) < lam * X.dtype.type(self.box * (1 - 32 * float(np.finfo(X.dtype).eps)))
        outliers = X - self.cleaned + X.dtype.type(self.share) * self.multiplier
        return np.where(inside | np.isnan(X), X.dtype.type(0), outliers)


def pursuit_iterates(X: Array, lam: Array, eps: float = 0.0, *, rng: np.random.Generator) -> Iterator[Pursuit | Split]:
    """Iterates of the augmented Lagrangian method on (1); once the rank is high and eps = 0, of `splitting_iterates`.

    min ||L||_* + lam ||O||_1 subject to ||X - L - O||_F <= eps, with multiplier Y and weight mu::

        L <- shrink singular values of X - O - N + Y/mu by 1/mu
        O, N <- the best outliers and noise, ||N||_F <= eps, for W = X - L + Y/mu
        Y <- Y + mu (X - L - O - N)

    O + N has the closed form W - c clip(W, -t lam, t lam); noiseless, t = 1/mu and c = 1. mu grows only while the dual
    residual keeps up with the primal one, and falls when it does not: with a mu that always grows the iterates stop
    short of the minimum on data that are not exactly low rank plus sparse. Partial SVD as in `proximal_iterates`, all
    elementwise work in one fused pass.

    Cost of a step: about 6 n m r flops at rank r. Memory: two copies of X.

    Parameters
    ----------
    X : array of shape (n, m)
        Data, NaN where missing.
    lam : array of shape (m,)
        Outlier penalty of each feature, lam of (1), of the dtype of X.
    eps : float
        Size of the noise allowed for; 0 for X = L + O.
    rng : Generator
        Starts the first SVD.

    Yields
    ------
    Pursuit, then Split
        `low_rank`, and what `outliers` and the certificate need; a Pursuit has its relative `residual`.
    """
    known = np.nan_to_num(X, nan=0.0)
    size = float(np.linalg.norm(known))
    subspace = WarmSubspace(known, 10, 8, rng)
    norm = float(np.linalg.norm(known @ subspace.basis, 2))
    mu = 1.25 / norm
    multiplier = known / X.dtype.type(max(norm, float(np.max(np.abs(known) / lam))))
    cleaned = known + multiplier / X.dtype.type(mu)
    del known
    product = cleaned @ subspace.basis
    growth, direction = _PENALTY.growth, 1
    next_mu, reach = growth * mu, 1 / mu
    balance = _PENALTY.balance_at_start
    while True:
        low_rank = subspace.threshold(cleaned, product, 1 / mu)
        left, right = low_rank.scaled_left, low_rank.right
        reach, shrink = (1 / mu, 1.0) if eps == 0 else _split_noise(X, left, right, multiplier, mu, lam, eps, reach)
        product = np.empty((len(X), subspace.basis.shape[1]), X.dtype)
        squares = multiplier_sweep(
            X, left, right, multiplier, cleaned, mu, next_mu, X.dtype.type(reach), shrink, lam, subspace.basis, product
        )
        primal, change, length = np.sqrt(squares)
        primal, dual = primal / size, mu * change / length if length > 0 else 0.0
        noise = (1 - shrink) / (mu * shrink) if shrink > 0 else 0.0
        box = mu * shrink * reach if shrink > 0 else 1.0
        last_mu, mu = mu, next_mu
        yield Pursuit(low_rank, max(primal, dual / balance), cleaned, multiplier, 1 / mu - noise, box)
        if eps == 0 and is_high(low_rank.rank, X.shape):
            break
        wanted = 1 if dual < balance * primal else -1 if dual > 3 * balance * primal else 0
        if wanted * direction < 0:
            growth = growth**_PENALTY.calming
        direction = wanted or direction
        next_mu = mu * growth**wanted
        balance = max(_PENALTY.balance_fall * balance, _PENALTY.least_balance)
    del cleaned, product
    yield from splitting_iterates(X, 1.0, lam, low_rank, multiplier, curvature=inf, rho=last_mu)


def _split_noise(
    X: Array, left: Array, right: Array, multiplier: Array, mu: float, lam: Array, eps: float, reach: float
) -> tuple[float, float]:
    """The t and c of the noisy step: t c mu = 1 and c = 1 - eps / ||clip(W, -t lam, t lam)||_F, by Newton's method.

    c = 0 if all of W fits into the noise. The left side rises with t, from below 1 at t = 1/mu.
    """
    low, high = 1 / mu, np.inf
    for _ in range(60):
        norm, slope = clipped_norm(X, left, right, multiplier, mu, X.dtype.type(reach), lam)
        if slope == 0 and norm <= eps:
            return reach, 0.0
        shrink = 1 - eps / norm if norm > 0 else -np.inf
        excess = reach * shrink - 1 / mu
        if abs(excess) * mu <= 1e4 * np.finfo(X.dtype).eps:
            break
        low, high = (reach, high) if excess < 0 else (low, reach)
        step = reach - excess / (shrink + reach * eps * slope / norm**2) if norm > 0 else np.inf
        inside = low < step < high and np.isfinite(step)
        reach = step if inside else (2 * reach if np.isinf(high) else (low + high) / 2)
    return reach, max(shrink, 0.0)


def certify_pursuit(X: Array, pursuit: Pursuit | Split, lam: Array, eps: float) -> Certificate:
    """Certificate of (1) for an iterate of `pursuit_iterates`.

    The multiplier is a dual point, though a rough one where mu grew fast. Where no noise is allowed for and the iterate
    is near the answer, a better one is `_move_onto_conditions`.
    """
    if isinstance(pursuit, Split):
        pursuit = pursuit.astype(X.dtype)
        return certify_splitting(X, pursuit.low_rank, pursuit.point, pursuit.rho, 1.0, lam, linear=True)
    outliers = pursuit.outliers(X, lam)
    moved = None if eps > 0 or pursuit.low_rank.rank == 0 else _move_onto_conditions(X, pursuit, outliers, lam)
    return certify_constrained(X, pursuit.low_rank, outliers, pursuit.multiplier if moved is None else moved, lam, eps)


def _move_onto_conditions(X: Array, pursuit: Pursuit, outliers: Array, lam: Array) -> Array | None:
    """The multiplier, moved onto the optimality conditions by alternating projections; None if it stays away from them.

    They are Y = left right + (a part off the tangent space of L), and Y = lam sign(O) on the outliers, 0 where X is
    missing. Cost of a round: 8 n m r flops.
    """
    left, right, y = pursuit.low_rank.left, pursuit.low_rank.right, pursuit.multiplier.copy()
    polar = left @ right
    fixed = (outliers != 0) | np.isnan(X)
    target = np.where(np.isnan(X), X.dtype.type(0), np.sign(outliers) * lam)
    size, away = float(np.linalg.norm(y)), inf
    for _ in range(_MOVING.rounds):
        excess = y - polar
        in_rows = left.T @ excess
        excess -= left @ in_rows
        y -= left @ in_rows
        y -= (excess @ right.T) @ right
        last, away = away, float(np.linalg.norm((y - target) * fixed))
        np.copyto(y, target, where=fixed)
        if away <= _MOVING.near * pursuit.residual * size or away > _MOVING.stuck * last:
            break
    return y if away <= _MOVING.usable * pursuit.residual * size else None
