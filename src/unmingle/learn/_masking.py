"""Training of networks that follow sequences: the masked mixture comes near to the foreground."""

from collections import deque
from collections.abc import Callable
from hashlib import sha256
from math import ceil, cos, inf, isfinite, pi
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from .. import store
from .._rules import ArrayOf, Count, Each, MismatchError, Number, Record, Row, Table, check
from .._types import AnyArray, Array
from .._validation import check_count, check_positive
from ..core.iterate import Callback, Progress

_QUIETEST = 0.003
"""Errors this far below the sources, 25 dB, are not worth anything more."""
_AVERAGING = 0.998
"""Share of the averaged numbers that is left after a step."""
_WARM_UP = 100
"""Steps during which their size grows."""
_USUAL = 100
"""Slopes, the last so many, whose median tells what is usual; longer ones are cut to 1.5 times of it."""
_LOOKS = 30
"""How often a checkpoint is written, and validation looks, at most."""


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


class MaskLook(NamedTuple):
    """What a look told."""

    step: int
    """Steps done."""
    loss: float
    """Mean loss of the steps since the last look, dB."""
    judged: float
    """What validation says of the averaged numbers; NaN if nobody judges."""


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
    return 10 * torch.log10(error / batch.total + _QUIETEST).mean()


@torch.no_grad()
def shares(network: nn.Module, X: Array) -> Array:
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
) -> list[MaskLook]:
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
        Called with a `Progress` after every look, its measure what validation says; a true answer ends training.
    checkpoint : path, optional
        A file to which the state is written at every look. If it is there already, training goes on from it.

    Returns
    -------
    list of MaskLook
    """
    steps, size = check_count(max_steps, "max_steps"), check_positive(step_size, "step_size")
    work = _MaskWork(network, {**setup, "steps": steps, "step_size": size, "network": _digest(network)})
    if checkpoint is not None and Path(checkpoint).exists():
        work.resume(checkpoint)
    every = ceil(steps / _LOOKS)
    while work.step < steps:
        work.descend(batches(work.step), size * _schedule(work.step, steps))
        if work.step % every == 0 or work.step == steps:
            look = work.look(judge)
            work.save(checkpoint)
            if callback is not None and callback(Progress(work.step, steps, look.judged)):
                break
    work.take_averages()
    return work.history


def _schedule(step: int, steps: int) -> float:
    return min(1.0, (step + 1) / _WARM_UP) * 0.5 * (1 + cos(pi * step / steps))


class _MaskWork:
    """Everything that changes while training goes on."""

    def __init__(self, network: nn.Module, setup: dict[str, Any]) -> None:
        self._network, self._setup = network, setup
        self._numbers = {name: one for name, one in network.named_parameters() if one.requires_grad}
        self._adam = torch.optim.Adam(self._numbers.values(), betas=(0.9, 0.98))
        self._averages = {name: one.detach().clone() for name, one in self._numbers.items()}
        self._usual: deque[float] = deque(maxlen=_USUAL)
        self._losses: list[float] = []
        self.step, self.history = 0, list[MaskLook]()

    def descend(self, batch: MaskBatch, size: float) -> None:
        """One step; a slope that is no number moves nothing."""
        batch = MaskBatch(*map(torch.from_numpy, batch))
        loss = masking_loss(self._network(batch.x), batch)
        self._adam.zero_grad()
        loss.backward()
        self.step += 1
        if isfinite(length := float(nn.utils.clip_grad_norm_(self._numbers.values(), inf))):
            self._usual.append(length)
            self._losses.append(loss.item())
            nn.utils.clip_grad_norm_(self._numbers.values(), 1.5 * float(np.median(self._usual)))
            self._adam.param_groups[0]["lr"] = size
            self._adam.step()
            self._network.keep_feasible()  # type: ignore[operator]
        share = min(_AVERAGING, (self.step - 1) / (self.step + 9))
        with torch.no_grad():
            for name, one in self._numbers.items():
                self._averages[name].lerp_(one, 1 - share)

    def look(self, judge: Callable[[nn.Module], float] | None) -> MaskLook:
        """Judge the averaged numbers."""
        judged = float("nan")
        if judge is not None:
            now = {name: one.detach().clone() for name, one in self._numbers.items()}
            self.take_averages()
            judged = float(judge(self._network))
            self._take(now)
        self.history.append(MaskLook(self.step, float(np.mean(self._losses)) if self._losses else 0.0, judged))
        self._losses.clear()
        return self.history[-1]

    def take_averages(self) -> None:
        """Give the averaged numbers to the network."""
        self._take(self._averages)

    @torch.no_grad()
    def _take(self, numbers: dict[str, Tensor]) -> None:
        for name, one in self._numbers.items():
            one.copy_(numbers[name])

    def save(self, checkpoint: Any) -> None:
        """Write everything that is needed to go on."""
        if checkpoint is None:
            return
        moments = self._adam.state_dict()["state"]
        content = {
            "setup": self._setup, "step": self.step, "history": self.history, "usual": np.array(self._usual),
            "now": {name: one.detach().numpy() for name, one in _flat(self._numbers)},
            "averages": {name: one.numpy() for name, one in _flat(self._averages)},
            "first": {name: moments[i]["exp_avg"].numpy() for i, (name, _) in enumerate(_flat(self._numbers))},
            "second": {name: moments[i]["exp_avg_sq"].numpy() for i, (name, _) in enumerate(_flat(self._numbers))},
        }  # fmt: skip
        store.save(checkpoint, "MaskTraining", content)

    def resume(self, checkpoint: Any) -> None:
        """Go on from a checkpoint, if it belongs to this training."""
        stored = store.read(checkpoint)
        if stored.kind != "MaskTraining" or stored.parameters.get("setup") != self._setup:
            raise ValueError(
                f"The checkpoint {checkpoint} belongs to other data or settings; "
                "delete it to start again, or choose another path."
            )
        try:
            content = store.put_together(stored.parameters, stored.arrays)
            check(content, self._schema())
        except MismatchError as error:
            raise store.StoreError(f"{checkpoint} does not hold a complete MaskTraining: {error}.") from error
        self._take({name: torch.from_numpy(content["now"][flat]) for flat, name in self._names()})
        self._averages = {name: torch.from_numpy(content["averages"][flat].copy()) for flat, name in self._names()}
        moments = {
            i: {
                "step": torch.tensor(float(content["step"])),
                "exp_avg": torch.from_numpy(content["first"][flat].copy()),
                "exp_avg_sq": torch.from_numpy(content["second"][flat].copy()),
            }
            for i, (flat, _) in enumerate(self._names())
        }
        self._adam.load_state_dict({**self._adam.state_dict(), "state": moments})
        self._usual.extend(content["usual"].tolist())
        self.step, self.history = content["step"], [MaskLook(*look) for look in content["history"]]

    def _names(self) -> list[tuple[str, str]]:
        return [(_flat_name(name), name) for name in self._numbers]

    def _schema(self) -> Record:
        numbers = {flat: ArrayOf(("float32",), *self._numbers[name].shape) for flat, name in self._names()}
        squares = {flat: ArrayOf(("float32",), *self._numbers[name].shape, low=0.0) for flat, name in self._names()}
        look = Row(Count(1), Number(-inf, inf), Number(-inf, inf, nan=True))
        return Record(
            {
                **dict.fromkeys(("now", "averages", "first"), Record(numbers)),
                "second": Record(squares),
                "setup": Table(),
                "step": Count(1, self._setup["steps"]),
                "usual": ArrayOf(("float64",), "usual", low=0.0),
                "history": Each(look, Count(1)),
            }
        )


def _flat_name(name: str) -> str:
    """A name without dots, which tell parts from each other in a file."""
    return name.replace(".", "_")


def _flat(numbers: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(_flat_name(name), one) for name, one in numbers.items()]


def _digest(network: nn.Module) -> str:
    """What tells where a network begins."""
    digest = sha256()
    for name, one in network.named_parameters():
        digest.update(f"{name} {tuple(one.shape)}".encode())
        digest.update(one.detach().contiguous().numpy().data)
    return digest.hexdigest()
