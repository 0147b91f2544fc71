"""Rivals of `unmingle.learn.SequenceNetwork`: what others would take, and the same without one of its parts."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from unmingle.core.encoder.sequence import FLOOR, SequenceEncoder
from unmingle.learn import SequenceNetwork


class GatedNetwork(nn.Module):
    """A gated recurrent unit with two readouts: what others would take, to compare with.

    Parameters
    ----------
    n_features : int
        m.
    n_units : int
        Size of its state.
    seed : int
        Of its first numbers.
    """

    def __init__(self, n_features: int, n_units: int, seed: int = 0) -> None:
        super().__init__()
        chance = torch.random.get_rng_state()
        torch.manual_seed(seed)
        self.unit = nn.GRU(n_features, n_units)
        self.parts = nn.Linear(n_units, 2 * n_features)
        torch.random.set_rng_state(chance)

    def forward(self, x: Tensor) -> Tensor:
        """The share of the foreground in each sample of b sequences, shape (n, b, m), from their beginning on."""
        v, d = functional.softplus(self.parts(self.unit(x)[0])).chunk(2, dim=-1)
        return torch.sigmoid(2 * (torch.log(v + FLOOR) - torch.log(d + FLOOR)))

    def keep_feasible(self) -> None:
        """All numbers are."""


class PartialNetwork(SequenceNetwork):
    """A `SequenceNetwork` that does without some of its parts, to see what each is worth.

    Parameters
    ----------
    encoder : SequenceEncoder
        Where to start from.
    carried : bool
        Whether codes are carried from sample to sample; otherwise each begins with 0.
    biased : bool
        Whether layers have a bias.
    headed : bool
        Whether the head reads both parts; otherwise the background is A c of the last layer and the foreground what it
        leaves.
    """

    def __init__(
        self, encoder: SequenceEncoder, *, carried: bool = True, biased: bool = True, headed: bool = True
    ) -> None:
        super().__init__(encoder)
        self._carried, self._headed = carried, headed
        if not biased:
            self.cell["bias"].requires_grad_(False).zero_()
        if not headed:
            for name in ("background", "background_bias", "foreground", "foreground_bias", "threshold"):
                self.head[name].requires_grad_(False)

    def codes(self, x: Tensor) -> Tensor:
        """Codes of all samples, shape (n, b, q)."""
        if self._carried:
            return super().codes(x)
        return super().codes(x.reshape(1, -1, x.shape[-1])).reshape(*x.shape[:2], -1)

    def parts(self, x: Tensor, codes: Tensor) -> tuple[Tensor, Tensor]:
        """Background and foreground of all samples."""
        if self._headed:
            return super().parts(x, codes)
        d = torch.relu(codes @ self.cell["decoder"][-1])
        return d, torch.relu(x - d)
