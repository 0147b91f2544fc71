"""The encoder as a torch module: the same recurrence, with gradients."""

from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from .._types import Array
from ..core.encoder.encoder import Encoder
from ..core.encoder.layers import Layers, Signs, propagate
from ._functions import clipped

_FEEDBACK = ("feedback", "readout_feedback")


class Block(NamedTuple):
    """Samples and what is known about them."""

    x: Tensor
    """(n, m): samples, 0 where missing."""
    known: Tensor | None = None
    """(n, m): 1 where a sample is known, 0 where it is missing; None if nothing is missing."""
    targets: tuple[Tensor, ...] = ()
    """What a loss compares with."""

    def take(self, rows: Tensor) -> "Block":
        """Some of the samples."""
        known = None if self.known is None else self.known[rows]
        return Block(self.x[rows], known, tuple(target[rows] for target in self.targets))

    def mixed(self, others: Tensor, shares: Tensor) -> "Block":
        """Mixtures w x + (1 - w) x' of each sample and another one; what is missing in either is missing."""
        other, w = self.take(others), shares[:, None]
        known = self.known
        if known is not None and other.known is not None:
            known = torch.where(w < 1, known * other.known, known)
        targets = tuple(w * own + (1 - w) * new for own, new in zip(self.targets, other.targets, strict=True))
        x = w * self.x + (1 - w) * other.x
        return Block(masked(x, known), known, targets)


class Answer(NamedTuple):
    """What the network says about a block of samples."""

    codes: Tensor
    """(n, q)."""
    outliers: Tensor
    """(n, m), 0 where a sample is missing."""
    low_rank: Tensor
    """(n, m): Us."""


class Network(nn.Module):
    """An encoder whose layers can be trained.

    Parameters
    ----------
    encoder : Encoder
        Where to start from.

    Examples
    --------
    >>> start = Encoder.from_components(np.eye(2, 5), rank_penalty=0.1, outlier_penalty=0.1, n_layers=3)
    >>> network = Network(start)
    >>> answer = network(torch.ones(1, 5, dtype=torch.float64))
    >>> bool(np.allclose(answer.codes.detach(), start.encode(np.ones((1, 5)))[0]))
    True
    >>> network.to_encoder().n_layers
    3
    """

    components: Tensor
    outlier_penalty: Tensor
    decoder: Tensor
    readout: Tensor
    threshold: Tensor

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self._shape = encoder
        trained = trained_names(encoder)
        for name, value in encoder.layers._asdict().items():
            self.register_parameter(name, nn.Parameter(_tensor(value), requires_grad=name in trained))
        self.register_buffer("components", _tensor(encoder.components))
        self.register_buffer("outlier_penalty", _tensor(encoder.outlier_penalty))

    @property
    def layers(self) -> Layers:
        """The numbers that are trained."""
        return Layers(*(getattr(self, name) for name in Layers._fields))

    @property
    def rank_penalty(self) -> float:
        """lam_* of the problem."""
        return self._shape.rank_penalty

    @property
    def signs(self) -> Signs:
        """Which parts of the answer may not be negative."""
        return self._shape.signs

    def forward(self, x: Tensor, known: Tensor | None = None, init: Tensor | None = None) -> Answer:
        """Codes, outliers and low-rank part of samples.

        Parameters
        ----------
        x : tensor of shape (n, m)
            Samples, 0 where missing.
        known : tensor of shape (n, m), optional
            1 where a sample is known, 0 where it is missing; None if nothing is missing.
        init : tensor of shape (n, q), optional
            Codes to start from.
        """
        shape = self._shape
        codes, cleaned = propagate(self.layers, self.components, shape.n_layers, shape.signs, x, known, init, clipped)
        return Answer(codes, masked(x - cleaned, known), codes @ self.components)

    def size_of(self, parameter: Tensor) -> float:
        """Mean size of the entries of a parameter: steps are shares of it."""
        return float(parameter.detach().abs().mean()) if parameter.numel() else 0.0

    @torch.no_grad()
    def keep_feasible(self) -> None:
        """Thresholds are not negative."""
        self.threshold.clamp_(min=0.0)

    @torch.no_grad()
    def move_to(self, components: Array) -> Self:
        """Take other components; the layers follow, see `Encoder.moved_to`."""
        return self.take(self.to_encoder().moved_to(components))

    @torch.no_grad()
    def take(self, encoder: Encoder) -> Self:
        """Take all numbers of an encoder of the same shape."""
        for name, value in encoder.layers._asdict().items():
            getattr(self, name).copy_(_tensor(value))
        self.components.copy_(_tensor(encoder.components))
        return self

    def to_encoder(self) -> Encoder:
        """The network as it is now, without torch."""
        layers = Layers(*(part.detach().numpy().copy() for part in self.layers))
        return Encoder(
            self.components.numpy().copy(),
            self.rank_penalty,
            self._shape.outlier_penalty,
            layers,
            self._shape.n_layers,
            *self._shape.signs,
        )


def trained_names(encoder: Encoder) -> list[str]:
    """The numbers of an encoder that are trained: feedback only where codes are not negative."""
    return [name for name in Layers._fields if encoder.nonnegative_codes or name not in _FEEDBACK]


def masked(x: Tensor, known: Tensor | None) -> Tensor:
    """0 where nothing is known."""
    return x if known is None else x * known


def _tensor(array: Array) -> Tensor:
    return torch.from_numpy(np.array(array))
