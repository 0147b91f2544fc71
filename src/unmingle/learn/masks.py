"""Training of networks that follow sequences: the masked mixture comes near to the foreground."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import cos, inf, isfinite, pi
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from .._types import AnyArray, Array, Float32Array, Float64Array
from .._validation import check_count, check_positive
from ..core.iterate import Callback
from .loop import (
    Evaluation,
    Numbers,
    Schedule,
    Task,
    digest,
    named_numbers,
    read_checkpoint,
    run_training,
    writer_of,
)


@dataclass(frozen=True)
class _MaskCourse:
    """How training of masks goes: chosen on songs left out of training, see docs/audio.md."""

    quietest: float = 0.003
    """Errors this far below the sources, 25 dB, are not worth anything more."""
    averaging: float = 0.998
    """Share of the averaged numbers that is left after a step."""
    warm_up: int = 100
    """The step grows over the first steps, this number of them."""
    usual: int = 100
    """The median length of the last slopes, this number of them, tells what is usual."""
    longest: float = 1.5
    """Slopes longer than this multiple of the usual length are cut to it."""
    evaluations: int = 30
    """Validation judges this often at most."""


_COURSE = _MaskCourse()


class MaskBatch(NamedTuple):
    """Sequences of mixtures, b of them with n samples each, and what judges masks of them; arrays or tensors."""

    x: Any
    """(n, b, m): what the network sees."""
    power: Any
    """(n, b, m): |X|^2, summed over the bins of a feature."""
    common: Any
    """(n, b, m): Re(X* V), summed likewise."""
    foreground: Any
    """(b,): ||V||^2."""
    total: Any
    """(b,): ||V||^2 + ||A||^2."""


def rfft(frames: Array) -> AnyArray:
    """`numpy.fft.rfft` along the last axis, by the faster transforms of torch.

    Parameters
    ----------
    frames : array of shape (..., n)
        Real.
    """
    return np.asarray(torch.fft.rfft(torch.from_numpy(frames)).numpy())


def masking_loss(mask: Tensor, batch: MaskBatch) -> Tensor:
    """How far the masked mixture is from the foreground, mean over the sequences, in dB::

        10 log10(||M X - V||^2 / (||V||^2 + ||A||^2) + 0.003)

    Parameters
    ----------
    mask : tensor of shape (n, b, m)
        M.
    batch : MaskBatch
        Of tensors.
    """  # noqa: D400
    error = (mask * (mask * batch.power - 2 * batch.common)).sum((0, 2)) + batch.foreground
    return 10 * torch.log10(error / batch.total + _COURSE.quietest).mean()


@torch.no_grad()
def foreground_shares(network: nn.Module, X: Float32Array) -> Float32Array:
    """The share of the foreground in each sample of one sequence.

    Parameters
    ----------
    network : torch.nn.Module
        What tells it: a `SequenceNetwork` or any other that gives shares of samples.
    X : float32 array of shape (n, m)
        Samples in their order.
    """
    return np.asarray(network(torch.from_numpy(X)[:, None])[:, 0].numpy())


def train_masks(
    network: nn.Module,
    batches: Callable[[int], MaskBatch],
    *,
    setup: dict[str, Any],
    max_steps: int,
    step_size: float = 2e-3,
    judge: Callable[[nn.Module], float] | None = None,
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> list[Evaluation]:
    """Train a network on mixtures of which the foreground is known; in the end it has its averaged numbers.

    Adam; the step grows over the first hundred steps and then falls to zero as a cosine.

    Parameters
    ----------
    network : torch.nn.Module
        What is trained: a `SequenceNetwork`, or any other that gives shares of samples and has `keep_feasible`.
    batches : callable
        The batch of a step, by its number: with no other chance training can be resumed.
    setup : dict
        All that the training depends on, by which a checkpoint is known again.
    max_steps : int
        Steps.
    step_size : float
        The largest step of a number.
    judge : callable, optional
        What validation says of a network, the more the better.
    callback : callable, optional
        Called with a `Progress` after every evaluation, its measure what validation says; a true answer ends training.
    checkpoint : path, optional
        A file to which the state is written at every evaluation. If it is there already, training goes on from it.

    Returns
    -------
    list of Evaluation
        Their loss is the mean loss of the steps since the one before, in dB.
    """
    steps, size = check_count(max_steps, "max_steps"), check_positive(step_size, "step_size")
    start = digest(*(one.detach().contiguous().numpy() for one in network.parameters()))
    setup = {**setup, "steps": steps, "step_size": size, "network": start}
    task = MaskTask(network, batches, judge)
    if (kept := read_checkpoint(checkpoint, setup, task.numbers())) is not None:
        task.resume(kept)
    run_training(task, Schedule(steps, size, _shape, _COURSE.evaluations), callback, writer_of(task, setup, checkpoint))
    task.take_averages()
    return task.history


def _shape(done: int, steps: int) -> float:
    """Relative size of a step: growing over the warm-up, then a falling cosine."""
    return min(1.0, (done + 1) / _COURSE.warm_up) * 0.5 * (1 + cos(pi * done / steps))


class MaskTask(Task):
    """A network of masks that learns from mixtures; its numbers are averaged over the last steps.

    Parameters
    ----------
    network : torch.nn.Module
        What is trained.
    batches : callable
        The batch of a step, by its number.
    judge : callable, optional
        What validation says of a network.
    """

    betas = (0.9, 0.98)
    keeps_best = False

    def __init__(
        self, network: nn.Module, batches: Callable[[int], MaskBatch], judge: Callable[[nn.Module], float] | None
    ) -> None:
        super().__init__(network)
        self._batches, self._judge = batches, judge
        self._averages = {name: one.detach().clone() for name, one in self.trained.items()}
        self._usual: deque[float] = deque(maxlen=_COURSE.usual)

    def loss(self) -> Tensor:
        """Mean distance of the masked mixtures from the foreground."""
        batch = MaskBatch(*map(torch.from_numpy, self._batches(self.step)))
        return masking_loss(self.network(batch.x), batch)

    def limit_slopes(self) -> bool:
        """Cut a slope that is longer than usual; one that is no number is no slope."""
        if not isfinite(length := float(nn.utils.clip_grad_norm_(self.trained.values(), inf))):
            return False
        self._usual.append(length)
        nn.utils.clip_grad_norm_(self.trained.values(), _COURSE.longest * float(np.median(self._usual)))
        return True

    @torch.no_grad()
    def follow_step(self) -> None:
        """Let the averaged numbers follow."""
        share = min(_COURSE.averaging, (self.step - 1) / (self.step + 9))
        for name, one in self.trained.items():
            self._averages[name].lerp_(one, 1 - share)

    def judge(self) -> float:
        """What validation says of the averaged numbers; NaN if nobody judges."""
        if self._judge is None:
            return float("nan")
        now = {name: one.detach().clone() for name, one in self.trained.items()}
        self.take_averages()
        judged = float(self._judge(self.network))
        self._take(now)
        return judged

    def take_averages(self) -> None:
        """Give the averaged numbers to the network."""
        self._take(self._averages)

    def numbers(self) -> dict[str, Numbers]:
        """Of the network now, and averaged."""
        return {"now": named_numbers(self.trained), "kept": named_numbers(self._averages)}

    def take_numbers(self, numbers: dict[str, Numbers]) -> None:
        """Go on from the numbers of a checkpoint."""
        self._take({name: torch.from_numpy(part) for name, part in numbers["now"].items()})
        self._averages = {name: torch.from_numpy(part.copy()) for name, part in numbers["kept"].items()}

    def recent_slopes(self) -> Float64Array:
        """Lengths of the last slopes."""
        return np.array(self._usual)

    def take_slopes(self, lengths: Float64Array) -> None:
        """Go on from the lengths of a checkpoint."""
        self._usual.extend(lengths.tolist())

    @torch.no_grad()
    def _take(self, numbers: dict[str, Tensor]) -> None:
        for name, one in self.trained.items():
            one.copy_(numbers[name])
