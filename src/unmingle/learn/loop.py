"""The training loop: one for all networks. What is trained is a `Task`, how long and how fast a `Schedule` says."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from math import ceil, inf, isfinite
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor, nn

from .. import store
from .._fields import from_store, record_of, to_store
from .._rules import LARGEST, ArrayOf, Count, Each, MismatchError, Number, Record, Row, Table, check
from .._types import AnyArray, Float64Array
from ..core.iterate import Callback, Progress

Numbers = dict[str, AnyArray]
"""Arrays by their names."""

_WORSE = 0.005
"""Share of the best measure by which a network may be worse than the best one without being taken back."""


class Evaluation(NamedTuple):
    """What validation said of a network on its way."""

    step: int
    """Steps done."""
    measure: float
    """The mean cost of the validation samples; of masks what their judge said, NaN if there is none."""
    best: float
    """The least measure so far, that of the network which will be returned; of masks the last one."""
    loss: float = 0.0
    """Mean loss of the steps since the evaluation before."""


@dataclass(frozen=True)
class Schedule:
    """How long training goes on, how large its steps are, and how often validation judges."""

    steps: int
    """Steps at most."""
    step_size: float
    """The largest step."""
    shape: Callable[[int, int], float]
    """The size of a step as a share of the largest, by the steps done and their number."""
    evaluations: int
    """How often validation judges, at most, and a checkpoint is written."""
    patience: float = inf
    """Training ends when this share of its steps has brought no progress ..."""
    least_patience: int = 10
    """... but not before this number of steps has brought none."""
    progress: float = 1e-4
    """Share of the first measure by which the best one must fall to be progress."""
    first: int = 0
    """The step with which this part of training begins."""
    last: int | None = None
    """The step with which it ends; None for the last of all."""

    @property
    def end(self) -> int:
        """The step with which this part of training ends."""
        return self.steps if self.last is None else self.last

    def size_of(self, step: int) -> float:
        """How large a step is."""
        return self.step_size * self.shape(step - self.first, self.end - self.first)

    def is_evaluated(self, step: int) -> bool:
        """Whether validation judges after this step."""
        return step % ceil(self.steps / self.evaluations) == 0 or step == self.end

    def has_stalled(self, step: int, history: list[Evaluation]) -> bool:
        """Whether too many steps have brought no progress."""
        waited = step - max(self.first, self._step_of_progress(history))
        return waited > max(self.least_patience, self.patience * (self.end - self.first))

    def _step_of_progress(self, history: list[Evaluation]) -> int:
        """When the best measure last fell by enough since it last did."""
        step, known = 0, inf
        for one in history:
            if one.best < known - self.progress * abs(history[0].measure):
                step, known = one.step, one.best
        return step


@dataclass(frozen=True)
class Checkpoint:
    """All that training needs to go on to the same numbers, as a file holds it."""

    setup: Annotated[dict[str, Any], Table(), "What the training depends on, by which its checkpoint is known again."]
    seed: Annotated[int, Count(0, 2**31), "Of everything that chance decides."]
    step: Annotated[int, Count(), "Steps done."]
    caution: Annotated[float, Number(0.0, 1.0), "What steps are multiplied by."]
    history: Annotated[
        list[Evaluation],
        Each(Row(Count(), Number(-inf, inf, nan=True), Number(-inf, inf, nan=True), Number(-inf, inf)), Count(1)),
        "What validation said so far.",
    ]
    slopes: Annotated[Float64Array, ArrayOf(("float64",), "slopes", low=0.0), "The last lengths of the slope."]
    numbers: dict[str, Numbers] = field(default_factory=dict)
    """Those of the network as it is now, of the one that is kept, and of others that the task needs, by its names."""
    moments: dict[str, Numbers] = field(default_factory=dict)
    """What Adam knows of each parameter that it has moved."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file."""
        store.save(path, "Training", {**to_store(self), "numbers": self.numbers, "moments": self.moments})


class Task:
    """What is trained, and how one step and one evaluation of it are done: all that changes while training goes on.

    A task says what the loss of a step is and what validation judges by, and may say more, by the other methods.

    Parameters
    ----------
    network : torch.nn.Module
        What is trained; it has a method ``keep_feasible``, called after each step.
    seed : int
        Of everything that chance decides.
    """

    betas = (0.9, 0.99)
    """Of Adam."""
    keeps_best = True
    """Whether the best network is returned, and one that has become clearly worse is taken back to it."""

    def __init__(self, network: nn.Module, seed: int = 0) -> None:
        self.network, self.seed, self.step = network, seed, 0
        self.trained = {_flat(name): one for name, one in network.named_parameters() if one.requires_grad}
        groups = [{"params": [one], "size": self.size_of(one)} for one in self.trained.values()]
        self.optimizer = torch.optim.Adam(groups, betas=self.betas)
        self.caution = 1.0
        self.history: list[Evaluation] = []
        self._losses: list[float] = []

    # What a task is

    def loss(self) -> Tensor:
        """The loss of the present step."""
        raise NotImplementedError

    def judge(self) -> float:
        """What validation says of the network."""
        raise NotImplementedError

    def numbers(self) -> dict[str, Numbers]:
        """What a checkpoint holds of networks: that of "now", the "kept" one, and others."""
        raise NotImplementedError

    def take_numbers(self, numbers: dict[str, Numbers]) -> None:
        """Go on from the numbers of a checkpoint."""
        raise NotImplementedError

    def size_of(self, parameter: Tensor) -> float:
        """What the steps of a parameter are multiplied by."""
        return 1.0

    def keep(self) -> None:
        """Keep the network as it is: it is the best so far."""

    def take_back(self) -> None:
        """Make the network the one that was kept."""

    def limit_slopes(self) -> bool:
        """Shorten slopes that are too long; whether a step can be made along them."""
        slopes = [one.grad for one in self.network.parameters() if one.grad is not None]
        return all(bool(slope.isfinite().all()) for slope in slopes)

    def least_slope(self, group: dict[str, Any]) -> float:
        """What Adam adds to the root of the mean square of a slope."""
        return 1e-8

    def follow_step(self) -> None:
        """Do what there is to do after a step."""

    def recent_slopes(self) -> Float64Array:
        """Lengths of the last slopes, where the task needs them."""
        return np.zeros(0)

    def take_slopes(self, lengths: Float64Array) -> None:
        """Go on from the lengths of a checkpoint."""

    # What is the same for all

    def descend(self, size: float) -> None:
        """One step of Adam; a loss or a slope that is no number moves nothing."""
        loss = self.loss()
        self.step += 1
        if isfinite(value := loss.item()) and self._finds_slopes(loss):
            self._losses.append(value)
            for group in self.optimizer.param_groups:
                group["lr"], group["eps"] = self.caution * size * group["size"], self.least_slope(group)
            self.optimizer.step()
            cast(Any, self.network).keep_feasible()
        self.follow_step()

    def _finds_slopes(self, loss: Tensor) -> bool:
        self.optimizer.zero_grad()
        loss.backward()
        return self.limit_slopes()

    def evaluate(self) -> Evaluation:
        """Judge the network by validation; keep it if it is the best so far.

        If it has become clearly worse than the best, the steps were too large: back to the best, and smaller steps.
        """
        measure = best = self.judge()
        if self.keeps_best:
            measure = best = measure if isfinite(measure) else inf
        if self.keeps_best and self.history:
            known = self.history[-1].best
            best = min(measure, known)
            if measure < known:
                self.keep()
            elif measure - known > _WORSE * abs(known):
                self.take_back()
                self.caution /= 2
        self.history.append(Evaluation(self.step, measure, best, float(np.mean(self._losses)) if self._losses else 0.0))
        self._losses.clear()
        return self.history[-1]

    def to_checkpoint(self, setup: dict[str, Any]) -> Checkpoint:
        """All that is needed to go on."""
        moments = {
            name: {key: value.numpy() for key, value in self.optimizer.state[one].items()}
            for name, one in self.trained.items()
            if one in self.optimizer.state
        }
        state = (self.seed, self.step, self.caution, self.history, self.recent_slopes())
        return Checkpoint(setup, *state, self.numbers(), moments)

    def resume(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint."""
        self.take_numbers(checkpoint.numbers)
        self.take_slopes(checkpoint.slopes)
        for name, own in checkpoint.moments.items():
            moments = {key: torch.from_numpy(value.copy()) for key, value in own.items()}
            self.optimizer.state[self.trained[name]] = moments
        self.seed, self.step, self.caution = checkpoint.seed, checkpoint.step, checkpoint.caution
        self.history = [Evaluation(*one) for one in checkpoint.history]


def run_training(
    task: Task,
    schedule: Schedule,
    callback: Callback | None = None,
    save: Callable[[], None] = lambda: None,
) -> bool:
    """Step after step until the schedule ends, no progress is made, or the callback says so: whether it did.

    Parameters
    ----------
    task : Task
        What is trained.
    schedule : Schedule
        How long and how fast.
    callback : callable, optional
        Called with a `Progress` after every evaluation; a true answer ends training.
    save : callable
        Called after every evaluation, to write a checkpoint.
    """
    while task.step < schedule.end and not schedule.has_stalled(task.step, task.history):
        task.descend(schedule.size_of(task.step))
        if schedule.is_evaluated(task.step):
            evaluation = task.evaluate()
            save()
            if callback is not None and callback(Progress(task.step, schedule.steps, evaluation.measure)):
                return True
    return False


def read_checkpoint(
    path: str | PathLike[str] | None, setup: dict[str, Any], like: Mapping[str, Numbers], further: tuple[str, ...] = ()
) -> Checkpoint | None:
    """The checkpoint to go on from, which must belong to this training; None if there is none.

    Parameters
    ----------
    path : path, optional
        The file, which need not be there.
    setup : dict
        What the training depends on, with its "steps".
    like : mapping
        Numbers as the checkpoint has them. If "start" is among them, it must be nearly the same there: a start from
        another seed of the solver that made it will do.
    further : tuple of str
        Names of numbers like those of "now" that may be missing.
    """
    if path is None or not Path(path).exists():
        return None
    stored = store.read(path)
    with _told_as_damage_of(path):
        content = store.put_together(stored.parameters, stored.arrays)
        same = stored.kind == "Training" and stored.parameters.get("setup") == setup
        numbers = content.get("numbers")
        start = numbers.get("start") if isinstance(numbers, dict) else None
        if not same or ("start" in like and not _are_close(start, like["start"])):
            raise ValueError(
                f"The checkpoint {path} belongs to other data or settings; "
                "delete it to start again, or choose another path."
            )
        check(content, _rules_of(setup["steps"], like, further))
    return from_store(Checkpoint, content)


@contextmanager
def _told_as_damage_of(path: str | PathLike[str]) -> Iterator[None]:
    try:
        yield
    except MismatchError as error:
        raise store.StoreError(f"{path} does not hold a complete Training: {error}.") from error


def _rules_of(steps: int, like: Mapping[str, Numbers], further: tuple[str, ...]) -> Record:
    """What a checkpoint of this training holds; numbers that were not trained so far have no moments."""
    numbers = {which: Record({name: _rule_like(name, one) for name, one in own.items()}) for which, own in like.items()}
    moments = {
        name: Record(
            {"step": ArrayOf(("float32",), low=0.0), **{key: _rule_like(key, one) for key in ("exp_avg", "exp_avg_sq")}}
        )
        for name, one in like["now"].items()
    }
    return Record(
        {
            **record_of(Checkpoint).rules,
            "step": Count(0, steps),
            "numbers": Record(numbers, dict.fromkeys(further, numbers["now"])),
        },
        {"moments": Record({}, moments)},
    )


def _rule_like(name: str, part: AnyArray) -> ArrayOf:
    low = 0.0 if name in ("exp_avg_sq", "outlier_penalty", "threshold") else -LARGEST
    return ArrayOf((part.dtype.name,), *part.shape, low=low)


def _are_close(some: Any, others: Numbers) -> bool:
    """Whether two starts are the same, but for another seed of the solver that made them."""
    return isinstance(some, dict) and all(
        isinstance(some.get(name), np.ndarray)
        and some[name].shape == other.shape
        and np.abs(some[name] - other).max(initial=0.0) <= 0.01 * np.abs(other).max(initial=0.0)
        for name, other in others.items()
    )


def writer_of(task: Task, setup: dict[str, Any], path: str | PathLike[str] | None) -> Callable[[], None]:
    """What writes a checkpoint of a task to a file, or does nothing where there is none."""
    return (lambda: None) if path is None else (lambda: task.to_checkpoint(setup).save(path))


def digest(*parts: Any) -> str:
    """What tells arrays from other arrays."""
    found = sha256()
    for part in parts:
        array = np.ascontiguousarray(part)
        found.update(f"{array.dtype} {array.shape}".encode())
        found.update(array.data)
    return found.hexdigest()


def named_numbers(named: Mapping[str, Tensor]) -> Numbers:
    """Tensors as arrays, under names that a file can hold."""
    return {_flat(name): one.detach().numpy() for name, one in named.items()}


def _flat(name: str) -> str:
    """A name without dots, which tell parts from each other in a file."""
    return name.replace(".", "_")
