"""Functions with derivatives of their own: one pass over the samples where torch's operations take many."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core.linalg.memory import empty_unaliased
from ..kernels import gradients
from ..kernels.gradients import clip_layer, clip_slopes, misfit_slopes


class _Clipped(torch.autograd.Function):
    """r = clip(x, d - t, d + t): the derivative is 1 by x where r = x, and 1 by d and +-1 by t elsewhere."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, d: Tensor, t: Tensor, one_sided: bool) -> Tensor:
        r = torch.empty_like(d)
        x, t = x.contiguous(), t.contiguous()
        below = r.numpy().dtype.type(np.inf if one_sided else 0)
        clip_layer(x.numpy(), d.contiguous().numpy(), t.numpy(), below, r.numpy())
        ctx.save_for_backward(x, r)
        return r

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, Tensor, Tensor, None]:
        x, r = ctx.saved_tensors
        by_d, by_t = torch.empty_like(r), r.new_zeros(r.shape[1])
        clip_slopes(x.numpy(), r.numpy(), slope.contiguous().numpy(), by_d.numpy(), by_t.numpy())
        return slope - by_d if ctx.needs_input_grad[0] else None, by_d, by_t, None


class _MisfitCost(torch.autograd.Function):
    """1/2 ||x - Us - o||^2 + lam ||o||_1 of each sample, differentiable by x, Us and o."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, low_rank: Tensor, outliers: Tensor, lam: Tensor) -> Tensor:
        misfit = torch.from_numpy(empty_unaliased(tuple(low_rank.shape), low_rank.numpy().dtype))
        cost = low_rank.new_empty(len(low_rank))
        parts = (part.contiguous().numpy() for part in (x, low_rank, outliers, lam))
        gradients.misfit_cost(*parts, misfit.numpy(), cost.numpy())
        ctx.save_for_backward(misfit, outliers, lam)
        return cost

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, Tensor, Tensor, None]:
        misfit, outliers, lam = ctx.saved_tensors
        by_low_rank, by_outliers = torch.empty_like(misfit), torch.empty_like(misfit)
        parts = (part.contiguous().numpy() for part in (misfit, outliers, lam, slope))
        misfit_slopes(*parts, by_low_rank.numpy(), by_outliers.numpy())
        return -by_low_rank if ctx.needs_input_grad[0] else None, by_low_rank, by_outliers, None


def clipped(x: Tensor, d: Tensor, known: Tensor | None, t: Tensor, one_sided: bool) -> Tensor:
    """The cleaned samples x - o of a layer, as `clip_towards` of the encoder; d where a sample is missing."""
    r = _Clipped.apply(x, d, t, one_sided)
    return r if known is None else torch.where(known > 0, r, d)


def misfit_cost(x: Tensor, low_rank: Tensor, outliers: Tensor, lam: Tensor, known: Tensor | None) -> Tensor:
    """What noise and outliers of each sample cost, 1/2 ||x - Us - o||^2 + lam ||o||_1; nothing where it is missing."""
    x = x if known is None else torch.where(known > 0, x, low_rank.detach())
    return _MisfitCost.apply(x, low_rank, outliers, lam)
