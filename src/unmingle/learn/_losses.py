"""What training makes small: a cost for each sample of a block."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from ._functions import misfit_cost
from ._network import Answer, Network


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


Loss = Callable[[Network, Block, Answer], Tensor]
"""Maps the network, a block and the network's answer to a cost for each sample."""


def unsupervised(network: Network, block: Block, answer: Answer) -> Tensor:
    """The cost f itself, (11): 1/2 ||x - Us - o||^2 + lam_*/2 ||s||^2 + lam ||o||_1. It needs no target.

    Parameters
    ----------
    network : Network
        Holds the problem.
    block : Block
        Samples.
    answer : Answer
        Of the network.
    """
    of_codes = 0.5 * network.rank_penalty * answer.codes.square().sum(1)
    return of_codes + misfit_cost(block.x, answer.low_rank, answer.outliers, network.outlier_penalty, block.known)


def imitation(network: Network, block: Block, answer: Answer) -> Tensor:
    """||s - s*||^2 + ||o - o*||^2, with the exact codes and outliers as targets.

    Parameters
    ----------
    network : Network
        Not used.
    block : Block
        With targets s* and o*.
    answer : Answer
        Of the network.
    """
    codes, outliers = block.targets
    return (answer.codes - codes).square().sum(1) + (answer.outliers - outliers).square().sum(1)


def source(network: Network, block: Block, answer: Answer) -> Tensor:
    """||Us - background||^2 + ||o - foreground||^2, with the true parts as targets.

    Parameters
    ----------
    network : Network
        Not used.
    block : Block
        With targets background and foreground.
    answer : Answer
        Of the network.
    """
    background, foreground = block.targets
    return (answer.low_rank - background).square().sum(1) + (answer.outliers - foreground).square().sum(1)


LOSSES: dict[str, Loss] = {"unsupervised": unsupervised, "imitation": imitation, "source": source}
