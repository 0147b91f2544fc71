"""What training makes small: each loss is one object, which says all that depends on it.

This module is read without torch, by whoever needs no more than the names.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._validation import check_choice

if TYPE_CHECKING:
    from torch import Tensor

    from ..core.encoder.encoder import Encoder
    from .network import Answer, Block, Network

Chance = tuple[int, ...]
"""A seed, of a step of training or of all looks at validation."""

_NEARLY_NOTHING = 1e-8
"""Beside samples of size one: what keeps the mask of nothing at 0."""


class Loss:
    """A cost for each sample of a block, and what it needs; a new one overrides what differs.

    Attributes
    ----------
    name : str
        By which users choose it, and by which a checkpoint knows it again; that of the class, if nothing is said.
    targets : tuple of str, or None
        What it compares with. "codes" have a column for each component, all others one for each feature; None for
        whatever is given, as long as it has a row for each sample.
    true_parts : bool
        Whether the targets are the true parts of the samples, the background first: only who has the data knows them.
        The dictionary is then fitted to the background, else to the cleaned samples x - o.
    keeps_readout : bool
        Whether the readout of Algorithm 1 is the best one by this loss, for signed codes with nothing missing.
    mixes : bool
        Whether a mixture of two samples, with that of their targets, is a sample to learn from, too.
    """

    name: str = ""
    targets: tuple[str, ...] | None = None
    true_parts = False
    keeps_readout = False
    mixes = False

    def __call__(self, network: "Network", block: "Block", answer: "Answer") -> "Tensor":
        """The cost of each sample, shape (n,).

        Parameters
        ----------
        network : Network
            Holds the problem.
        block : Block
            Samples, with targets.
        answer : Answer
            Of the network.
        """
        raise NotImplementedError

    def judge(self, network: "Network", block: "Block", answer: "Answer") -> "Tensor":
        """What validation looks at: the loss itself, unless it is a means to another end."""
        return self(network, block, answer)

    def shapes(self, n: int, q: int, m: int) -> list[tuple[int, int]]:
        """Shapes of the targets of n samples with m features and q components."""
        return [(n, q if target == "codes" else m) for target in self.targets or ()]

    def find_targets(self, encoder: "Encoder", X: Any) -> Any:
        """Targets of a problem where none are given, found again when the dictionary moves; None if there are none."""
        return None

    def block(self, samples: "Block", rows: "Tensor", chance: Chance) -> "Block":
        """What a step looks at: rows of the samples, or whatever is made of them.

        Parameters
        ----------
        samples : Block
            All samples.
        rows : tensor of int
            Those of the step; the block holds one sample for each of them.
        chance : tuple of int
            A seed for `numpy.random.default_rng`, its own for every step and the same whenever validation looks: with
            no other chance training can be resumed.
        """
        return samples.take(rows)


class _Unsupervised(Loss):
    """The cost f itself, (11): 1/2 ||x - Us - o||^2 + lam_*/2 ||s||^2 + lam ||o||_1. It needs no target."""

    name = "unsupervised"
    targets = ()
    keeps_readout = True
    mixes = True

    def __call__(self, network: "Network", block: "Block", answer: "Answer") -> "Tensor":
        from ._functions import misfit_cost

        of_codes = 0.5 * network.rank_penalty * answer.codes.square().sum(1)
        return of_codes + misfit_cost(block.x, answer.low_rank, answer.outliers, network.outlier_penalty, block.known)


class _Imitation(Loss):
    """||s - s*||^2 + ||o - o*||^2, with the exact codes and outliers as targets; judged by f, which they make small."""

    name = "imitation"
    targets = ("codes", "outliers")

    def __call__(self, network: "Network", block: "Block", answer: "Answer") -> "Tensor":
        codes, outliers = block.targets
        return (answer.codes - codes).square().sum(1) + (answer.outliers - outliers).square().sum(1)

    def judge(self, network: "Network", block: "Block", answer: "Answer") -> "Tensor":
        return unsupervised(network, block, answer)

    def find_targets(self, encoder: "Encoder", X: Any) -> Any:
        from ..core.encoder.answers import exact_answer

        return exact_answer(encoder, X)


class _Source(Loss):
    """||Us - background||^2 + ||o - foreground||^2, with the true parts as targets."""

    name = "source"
    targets = ("background", "foreground")
    true_parts = True
    mixes = True

    def __call__(self, network: "Network", block: "Block", answer: "Answer") -> "Tensor":
        background, foreground = block.targets
        return (answer.low_rank - background).square().sum(1) + (answer.outliers - foreground).square().sum(1)


class _Masked(Loss):
    """||w x - foreground||^2 with the mask w = o^2 / (o^2 + (Us)^2): what remains of a sample where it is masked.

    The targets are the true parts; of the background only the dictionary learns.
    """

    name = "masked"
    targets = ("background", "foreground")
    true_parts = True

    def __call__(self, network: "Network", block: "Block", answer: "Answer") -> "Tensor":
        foreground, own = block.targets[1], answer.outliers.square()
        mask = own / (own + answer.low_rank.square() + _NEARLY_NOTHING)
        return (mask * block.x - foreground).square().sum(1)


class _Own(Loss):
    """A function of (network, block, answer) that somebody wrote."""

    def __init__(self, cost: Callable[["Network", "Block", "Answer"], "Tensor"]) -> None:
        self.cost = cost
        self.name = getattr(cost, "__qualname__", type(cost).__name__)

    def __call__(self, network: "Network", block: "Block", answer: "Answer") -> "Tensor":
        return self.cost(network, block, answer)


unsupervised, imitation, source, masked = _Unsupervised(), _Imitation(), _Source(), _Masked()
LOSSES: dict[str, Loss] = {loss.name: loss for loss in (unsupervised, imitation, source, masked)}
"""All losses that have a name of their own."""


def as_loss(loss: Any) -> Loss:
    """The loss of a name, a loss itself, or one that is made of a function."""
    if isinstance(loss, Loss):
        return loss
    return _Own(loss) if callable(loss) else LOSSES[check_choice(loss, "loss", tuple(LOSSES))]
