"""Alignment through the encoder, the paper's own way: gradients of f in the transformations, by the chain rule."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._types import AnyArray
from ..alignment.families import AlignedFrame, compose
from ..alignment.pyramid import Grid, spline_of
from .losses import Chance, Loss, unsupervised
from .network import Answer, Block, Network

_MEMORY, _LEAST = 0.9, 1e-12
"""How much of the mean square of a slope is kept from step to step, and what keeps its root from 0."""
_SLOWING = 20.0
"""Steps after which the size of steps has fallen to 0.7 of that of the first."""


class Aligned(Loss):
    """f(T_a x; h(T_a x)) over the layers of an encoder and the transformations a of the images.

    By the chain rule df/da = (dT_a x / da)' df/dx, with df/dx through all layers. Each training step of the network is
    followed by one of the transformations that it looked at::

        a <- a - size g / rms(g),    size falling as 1 / sqrt(1 + steps / 20)

    Train with ``validation=0.0``: all images then judge, where they are at that time.

    Parameters
    ----------
    images : sequence of arrays of shape (height, width)
        Grey images, float32.
    starts : array of shape (n, 3, 3)
        Where the frame starts in each.
    shape : pair of int
        Height and width of the frame, in the order of the features of the encoder.
    family : str
        One of `unmingle.alignment.families.FAMILIES`.
    step_size : float
        The first step, in pixels.
    """

    name = "aligned"
    targets = ()

    def __init__(
        self,
        images: Sequence[AnyArray],
        starts: Any,
        shape: tuple[int, int],
        family: str = "translation",
        *,
        step_size: float = 0.2,
    ) -> None:
        self.frame, self.family, self.step_size = AlignedFrame(*shape), family, step_size
        self.starts = np.asarray(starts, dtype=np.float64)
        self._grid = Grid.of(self.frame, family, 0)
        self._splines = [spline_of(np.asarray(image, np.float32)) for image in images]
        self._parameters = torch.zeros(len(self._splines), len(self._grid.fields), dtype=torch.float64)
        self._square = torch.zeros_like(self._parameters)
        self._steps = torch.zeros(len(self._splines), 1, dtype=torch.float64)
        self._pending: tuple[Tensor, Tensor] | None = None

    @property
    def matrices(self) -> AnyArray:
        """Where the frame is in each image now, (n, 3, 3)."""
        self._take_step()
        return compose(self.starts, self.frame.to_matrix(self.family, self._parameters.numpy()))

    def frames(self) -> AnyArray:
        """The frames cut out where they are now, (n, m): what `train` is given as samples."""
        return self._cut(np.arange(len(self._splines)))[0]

    def __call__(self, network: Network, block: Block, answer: Answer) -> Tensor:
        """The cost f of each sample."""
        return unsupervised(network, block, answer)

    def block(self, samples: Block, rows: Tensor, chance: Chance) -> Block:
        """The frames of some images where they are now; where gradients are asked for, with those by their places."""
        self._take_step()
        values, slopes = self._cut(rows.numpy())
        known = ~np.isnan(values)
        x = torch.from_numpy(np.where(known, values, np.float32(0))).to(samples.x.dtype)
        if torch.is_grad_enabled():
            parameters = self._parameters[rows].requires_grad_()
            self._pending = rows, parameters
            x = _Moved.apply(parameters, x, torch.from_numpy(np.where(known[:, None], slopes, np.float32(0))))
        return Block(x, None if known.all() else torch.from_numpy(known).to(x.dtype))

    def _cut(self, rows: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Frames (n, m) and their derivatives by the parameters (n, p, m), at the present ones."""
        changes = self.frame.to_matrix(self.family, self._parameters[rows].numpy())
        matrices = compose(self.starts[rows], changes)
        cuts = [
            self._grid.cut_with_slopes(self._splines[row], matrix) for row, matrix in zip(rows, matrices, strict=True)
        ]
        values, slopes = (np.stack(part) for part in zip(*cuts, strict=True))
        return values, np.einsum("nam,pam->npm", slopes, self._grid.fields)

    def _take_step(self) -> None:
        """Move the images that the last training step looked at."""
        if self._pending is None or self._pending[1].grad is None:
            return
        rows, parameters = self._pending
        slope = self._pending[1].grad
        self._pending = None
        self._square[rows] = torch.where(
            self._steps[rows] == 0, slope**2, _MEMORY * self._square[rows] + (1 - _MEMORY) * slope**2
        )
        size = self.step_size / torch.sqrt(1 + self._steps[rows] / _SLOWING)
        root = self._square[rows].mean(dim=1, keepdim=True).sqrt() + _LEAST
        moved = parameters.detach() - size * slope / root
        self._parameters[rows] = moved
        self._steps[rows] += 1


class _Moved(torch.autograd.Function):
    """Frames, with their derivatives by the parameters of the transformations."""

    @staticmethod
    def forward(ctx: Any, parameters: Tensor, x: Tensor, slopes: Tensor) -> Tensor:
        ctx.save_for_backward(slopes)
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (slopes,) = ctx.saved_tensors
        return torch.einsum("npm,nm->np", slopes.to(grad.dtype), grad).double(), None, None


def align_through(network: Network, loss: Aligned, steps: int = 140) -> AnyArray:
    """Align images by gradients through an encoder that stays as it is, all of them in each step; (n, 3, 3).

    Parameters
    ----------
    network : Network
        The encoder.
    loss : Aligned
        The images.
    steps : int
        Gradient steps.
    """
    rows = torch.arange(len(loss.starts))
    samples = Block(network.components[:1])
    for _ in range(steps):
        block = loss.block(samples, rows, (0,))
        loss(network, block, network(block.x, block.known)).sum().backward()
    network.zero_grad()
    return loss.matrices
