"""Networks that follow sequences, with gradients: the recurrence of `SequenceEncoder`."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ..core.encoder.sequence import FLOOR, Cell, Head, SequenceEncoder

_LEAST_POWER = 0.1


class _Carried(torch.autograd.Function):
    """Codes (n, b, q) of b sequences of n samples; the derivatives of all samples but the recurrence are taken at once.

    Backwards in time, with dz = dc [c > 0], (dc, dr) = (G' dz, H dz) and dp = dr [A c + t < x], the code before has the
    slope dc + A' dp. The slopes of the numbers are then four products over all samples.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, *numbers: Tensor) -> Tensor:
        A, H, t, G, b = numbers
        (n, width, m), (depth, q, _) = x.shape, A.shape
        both = torch.cat([G, H.mT], 1)
        inputs, tops = x.new_empty(depth, n, width, q + m), x.new_empty(depth, n, width, m)
        codes, code = x.new_empty(n, width, q), x.new_zeros(width, q)
        for i in range(n):
            for k in range(depth):
                given, top = inputs[k, i], tops[k, i]
                given[:, :q] = code
                torch.addmm(t[k], code, A[k], out=top)
                torch.minimum(x[i], top, out=given[:, q:])
                code = torch.addmm(b[k], given, both[k]).relu_()
            codes[i] = code
        ctx.save_for_backward(x, A, both, inputs, tops, codes)
        return codes

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[None, Tensor, Tensor, Tensor, Tensor, Tensor]:
        x, A, both, inputs, tops, codes = ctx.saved_tensors
        (n, width, m), (depth, q, _) = x.shape, A.shape
        last = [codes if k == depth - 1 else inputs[k + 1, :, :, :q] for k in range(depth)]
        on, low = [(c > 0).to(x.dtype) for c in last], (tops < x).to(x.dtype)
        by_code, by_top = x.new_empty(depth, n, width, q), x.new_empty(depth, n, width, m)
        back, transposed, decoder = x.new_zeros(width, q), both.mT.contiguous(), A.mT.contiguous()
        for i in range(n - 1, -1, -1):
            back = back + slope[i]
            for k in range(depth - 1, -1, -1):
                dz, dp = by_code[k, i], by_top[k, i]
                torch.mul(back, on[k][i], out=dz)
                given = dz @ transposed[k]
                torch.mul(given[:, q:], low[k, i], out=dp)
                back = torch.addmm(given[:, :q], dp, decoder[k])
        dz, dp, given = by_code.flatten(1, 2), by_top.flatten(1, 2), inputs.flatten(1, 2)
        by_both = given.mT @ dz
        return None, given[..., :q].mT @ dp, by_both[:, q:].mT, dp.sum(1), by_both[:, :q], dz.sum(1)


class SequenceNetwork(nn.Module):
    """A `SequenceEncoder` whose numbers can be trained.

    Parameters
    ----------
    encoder : SequenceEncoder
        Where to start from.
    """

    def __init__(self, encoder: SequenceEncoder) -> None:
        super().__init__()
        self.cell = nn.ParameterDict({name: _parameter(value) for name, value in encoder.cell._asdict().items()})
        self.head = nn.ParameterDict({name: _parameter(value) for name, value in encoder.head._asdict().items()})

    def forward(self, x: Tensor) -> Tensor:
        """The share of the foreground in each sample of b sequences, shape (n, b, m), from their beginning on."""
        d, v = self.parts(x, self.codes(x))
        return torch.sigmoid(self.head["power"] * (torch.log(v + FLOOR) - torch.log(d + FLOOR)))

    def codes(self, x: Tensor) -> Tensor:
        """Codes of all samples, shape (n, b, q)."""
        found: Tensor = _Carried.apply(x, *(self.cell[name] for name in Cell._fields))
        return found

    def parts(self, x: Tensor, codes: Tensor) -> tuple[Tensor, Tensor]:
        """Background and foreground of all samples."""
        B, b0, F, f0, t = (self.head[name] for name in Head._fields[:-1])
        d, v = functional.softplus(codes @ B + b0), functional.softplus(codes @ F + f0)
        return d, v + torch.relu(x - d - v - t)

    @torch.no_grad()
    def keep_feasible(self) -> None:
        """Thresholds are not negative, and the power is positive."""
        self.cell["threshold"].clamp_(min=0.0)
        self.head["threshold"].clamp_(min=0.0)
        self.head["power"].clamp_(min=_LEAST_POWER)

    def to_encoder(self) -> SequenceEncoder:
        """The network as it is now, without torch."""
        cell = Cell(*(self.cell[name].detach().numpy().copy() for name in Cell._fields))
        return SequenceEncoder(cell, Head(*(self.head[name].detach().numpy().copy() for name in Head._fields)))


def _parameter(value: Any) -> nn.Parameter:
    return nn.Parameter(torch.from_numpy(np.array(value)))
