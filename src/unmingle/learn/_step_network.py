"""Nonnegative codes found by gradient steps, of which only the directions are learnt."""

from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from .._types import AnyArray
from ..core.encoder.encoder import Encoder
from ..core.encoder.layers import Layers
from .network import Network


class StepNetwork(Network):
    """An encoder of nonnegative codes whose layers stay gradient steps: one matrix P of each is all that is trained.

    ::

        c <- max(0, c + P (U' (r - d) - lam_* c)),   d = U c,   r = min(x, d + lam)

    that is A = U, t = lam, H' = P U' and G = I - P M with M = U'U + lam_* I. What P multiplies is the slope of the
    cost, and q^2 numbers a layer, in place of 2 m q, can be learnt from few samples. Numbers of one size are
    P = B E B', with B B' the P of the readout that it begins with: E = I there.

    Parameters
    ----------
    encoder : Encoder
        Where to start from, of this form: untrained, or `unmingle.core.encoder.layers.preconditioned`.
    """

    factors: Tensor

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(encoder)
        self.requires_grad_(False)
        values, vectors = np.linalg.eigh(_directions(encoder)[-1])
        root = vectors * np.sqrt(np.maximum(values, np.finfo(encoder.components.dtype).eps * np.max(values, initial=0)))
        self._root = torch.from_numpy(root.astype(encoder.components.dtype))
        self.factors = nn.Parameter(self._factors(encoder))

    @property
    def layers(self) -> Layers:
        """The layers that the matrices make."""
        if not hasattr(self, "factors"):
            return super().layers
        U, P = self.components, self._root @ self.factors @ self._root.T
        H = P @ U
        G = torch.eye(len(U), dtype=U.dtype) - (P @ U) @ U.T - self.rank_penalty * P
        return Layers(self.decoder, H[:-1], self.threshold, G[:-1].mT, H[-1], G[-1].mT)

    @torch.no_grad()
    def take(self, encoder: Encoder) -> Self:
        """Take the matrices of an encoder of this form."""
        self.factors.copy_(self._factors(encoder))
        return self

    def _factors(self, encoder: Encoder) -> Tensor:
        """E = B^-1 P B'^-1 of all layers and of the readout."""
        root = self._root.numpy().astype(np.float64)
        half = np.linalg.solve(root, _directions(encoder))
        return torch.from_numpy(np.linalg.solve(root, half.mT).mT.astype(encoder.components.dtype))

    def size_of(self, parameter: Tensor) -> float:
        """E begins as I: one."""
        return 1.0


def _directions(encoder: Encoder) -> AnyArray:
    """P of all layers and of the readout, (L + 1, q, q), from G = I - P M."""
    wide = encoder.components.astype(np.float64)
    hessian = wide @ wide.T + encoder.rank_penalty * np.eye(len(wide))
    G = np.concatenate([encoder.layers.feedback, encoder.layers.readout_feedback[None]])
    return np.linalg.solve(hessian, np.eye(len(wide)) - G).mT
