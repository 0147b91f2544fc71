"""What an encoder learns from: samples, targets, and how answers are judged."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._types import Array, IndexArray
from .._validation import as_floats
from ..core.encoder.encoder import Encoder
from ..core.online.statistics import Statistics, direct_step
from ..core.solvers.nonnegative import nonnegative_components
from .losses import Loss
from .network import Answer, Block, Network

_AT_ONCE = 256
"""Samples that go through the network at once where no gradient is needed."""


def as_block(X: Array, targets: tuple[Array, ...] = ()) -> Block:
    """Samples as tensors."""
    missing = np.isnan(X)
    known = torch.from_numpy((~missing).astype(X.dtype)) if missing.any() else None
    x = np.where(missing, X.dtype.type(0), X)
    return Block(torch.from_numpy(x), known, tuple(torch.from_numpy(np.array(target, X.dtype)) for target in targets))


@dataclass
class TrainingSamples:
    """Samples to learn from and to be judged by, and the loss."""

    X: Array
    samples: Block
    loss: Loss
    weights: Tensor
    """(n,): of the samples, 1 on average."""
    training: IndexArray
    validation: IndexArray
    seed: int
    follows: bool
    """Whether the targets were found here, and change with the dictionary."""
    learns_dictionary: bool
    batch_size: int
    _pass: dict[int, IndexArray] = field(default_factory=dict)
    """The order of the samples in the present pass over them, by its number."""

    @classmethod
    def of(
        cls,
        encoder: Encoder,
        X: Array,
        loss: Loss,
        *,
        targets: Any,
        weights: Any,
        share: float,
        batch_size: int,
        seed: int,
        learns_dictionary: bool,
    ) -> "TrainingSamples":
        """Check what was given, make what was not, and hold back some samples for validation."""
        n = len(X)
        found = loss.find_targets(encoder, X) if targets is None else None
        checked = _checked_targets(loss, targets if found is None else found, n, *encoder.components.shape)
        order = np.random.default_rng(seed).permutation(n)
        held_out = min(round(share * n), n - 1)
        validation, training = (order[:held_out], order[held_out:]) if held_out else (order, order)
        return cls(
            X,
            as_block(X, checked),
            loss,
            _checked_weights(weights, n, X.dtype),
            training,
            validation,
            seed,
            follows=found is not None,
            learns_dictionary=learns_dictionary,
            batch_size=batch_size,
        )

    def rows_of(self, step: int) -> Tensor:
        """Rows of the batch of a step: each pass over the data has its own order."""
        per_pass = max(1, len(self.training) // self.batch_size)
        number, place = divmod(step, per_pass)
        if number not in self._pass:
            order = np.random.default_rng([self.seed, number]).permutation(self.training)
            self._pass = {number: order}
        return torch.from_numpy(self._pass[number][place * self.batch_size : (place + 1) * self.batch_size])

    def mean_loss(self, network: Network, step: int, *, mixing: bool = False) -> Tensor:
        """Weighted mean of the loss over the batch of a step; with ``mixing`` every other sample is mixed with another.

        w x + (1 - w) x', with w uniform from 1/2 to 1: a few samples become many.
        """
        rows = self.rows_of(step)
        block, weights = self.loss.block(self.samples, rows, (self.seed, step, 1)), self.weights[rows]
        if mixing and self.loss.mixes:
            rng = np.random.default_rng([self.seed, step, 2])
            shares = np.minimum(rng.uniform(0.5, 1.5, len(rows)), 1).astype(self.X.dtype)
            block = block.mixed(torch.from_numpy(rng.permutation(len(rows))), torch.from_numpy(shares))
        losses = _one_for_each(self.loss(network, block, network(block.x, block.known)), weights)
        return (weights * losses).sum() / weights.sum()

    @torch.no_grad()
    def cost(self, network: Network) -> float:
        """Mean cost of the validation samples; with lam_*/(2 n) ||U||^2 where U is learnt, so that costs compare."""
        total = weight = 0.0
        for block, rows, answer in self._answers(network, self.validation):
            costs = _one_for_each(self.loss.judge(network, block, answer), self.weights[rows])
            total += float((self.weights[rows] * costs).sum())
            weight += float(self.weights[rows].sum())
        size = float(network.components.square().sum()) if self.learns_dictionary else 0.0
        return total / max(weight, 1e-30) + network.rank_penalty * size / (2 * len(self.X))

    @torch.no_grad()
    def noise_of_gain(self, network: Network, one: Encoder, other: Encoder) -> float:
        """Standard error of the difference between the mean validation costs of two encoders."""
        both = []
        for encoder in (one, other):
            answers = self._answers(network.take(encoder), self.validation)
            both.append(
                torch.cat(
                    [
                        self.weights[rows] * _one_for_each(self.loss.judge(network, block, answer), self.weights[rows])
                        for block, rows, answer in answers
                    ]
                )
            )
        difference = both[0] - both[1]
        if len(difference) < 2:
            return 0.0
        return float(difference.std() / len(difference) ** 0.5 / self.weights[self.validation].mean())

    @torch.no_grad()
    def best_components(self, network: Network) -> Array:
        """The dictionary that is best for the codes of all samples, (9): (A + lam_* I) U' = B, or with U >= 0 as codes.

        Where the true background is known, U is fitted to it, else to the cleaned samples.
        """
        q, m = network.components.shape
        sums = Statistics.empty(q, m)
        for block, rows, answer in self._answers(network, np.arange(len(self.X))):
            cleaned = block.targets[0] if self.loss.true_parts else block.x - answer.outliers
            if block.known is not None:
                cleaned = torch.where(block.known > 0, cleaned, answer.low_rank)
            root = self.weights[rows].sqrt()[:, None]
            sums = sums.update((root * answer.codes).numpy(), (root * cleaned).numpy())
        if network.signs.codes:
            return nonnegative_components(sums.A, sums.B, network.components.numpy(), network.rank_penalty)
        return direct_step(sums, network.rank_penalty)

    def follow(self, encoder: Encoder) -> None:
        """Find the targets for the problem of another encoder from now on."""
        if self.follows:
            self.samples = as_block(self.X, self.loss.find_targets(encoder, self.X))

    def _answers(self, network: Network, rows: IndexArray) -> Iterator[tuple[Block, Tensor, Answer]]:
        for some in np.array_split(rows, -(-len(rows) // _AT_ONCE)):
            chosen = torch.from_numpy(some)
            block = self.loss.block(self.samples, chosen, (self.seed,))
            yield block, chosen, network(block.x, block.known)


def _one_for_each(costs: Tensor, weights: Tensor) -> Tensor:
    if costs.shape != weights.shape:
        raise ValueError(f"loss must give one cost for each of {len(weights)} samples, got shape {tuple(costs.shape)}.")
    return costs


def _checked_targets(loss: Loss, targets: Any, n: int, q: int, m: int) -> tuple[Array, ...]:
    """Targets as arrays, of the shapes that the loss needs."""
    checked = tuple(as_floats(target, "targets") for target in targets) if targets is not None else ()
    shapes = loss.shapes(n, q, m)
    if shapes and ([target.shape for target in checked] != shapes or not all(np.isfinite(t).all() for t in checked)):
        raise ValueError(
            f"loss={loss.name!r} needs finite targets of shapes {' and '.join(map(str, shapes))}, "
            f"got {', '.join(str(target.shape) for target in checked) or 'none'}."
        )
    if any(target.shape[:1] != (n,) for target in checked):
        raise ValueError(f"targets must have one row for each of the {n} samples.")
    return checked


def _checked_weights(weights: Any, n: int, dtype: Any) -> Tensor:
    given = np.ones(n, dtype) if weights is None else as_floats(weights, "sample_weight").astype(dtype)
    if given.shape != (n,) or not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise ValueError(f"sample_weight must hold {n} finite numbers of at least 0, not all 0.")
    return torch.from_numpy(given / given.mean())
