"""The state of training: what changes while it goes on, and how it is kept in a file."""

from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import product
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from .. import store
from .._rules import LARGEST, ArrayOf, Count, Each, MismatchError, Number, Record, Row, Rule, Table, check
from .._types import AnyArray
from ..core.encoder.description import departure
from ..core.encoder.encoder import Encoder
from ..core.encoder.layers import Layers, stretched
from ._network import Network, trained_names
from ._steps import StepNetwork
from ._task import Task

_ROUNDING = 1e-5
"""Share of the cost over the size of a parameter below which a slope says nothing."""

_SAME = 1e-3
"""A readout that differs from the best one by no more than this share of its largest entry is the best one."""

_DAMPINGS, _LENGTHS = (0.3, 1.0, 3.0), (1.0, 2.0, 3.0, 5.0)
"""Of steps that training of directions may begin from."""

_WORSE = 0.005
"""Share of the cost by which a network may be above the best without being taken back."""


class Look(NamedTuple):
    """What a look at the validation samples told."""

    step: int
    """Steps done."""
    steps: int
    """Steps at most."""
    cost: float
    """Mean validation cost now."""
    best: float
    """The least so far: that of the encoder which will be returned."""


@dataclass
class State:
    """Everything that changes while training goes on."""

    network: Network
    optimizer: torch.optim.Adam
    start: Encoder
    best: Encoder
    seed: int
    step: int = 0
    caution: float = 1.0
    """What steps are multiplied by: halved whenever they were too large."""
    history: list[Look] = field(default_factory=list)
    begun: Encoder | None = None
    """Where training of everything began, if that is not the start."""

    @classmethod
    def of(cls, start: Encoder, seed: int, checkpoint: Any, setup: dict[str, Any], keeps_readout: bool) -> "State":
        """The state at the start, or that of a checkpoint.

        Whatever signed codes are made of, the readout of Algorithm 1 gives those that cost least, (5). By a loss that
        ``keeps_readout`` it has no slope but rounding, which Adam would blow up: it stays as it is.
        """
        stored = _checked(checkpoint, start, setup) if checkpoint is not None and Path(checkpoint).exists() else None
        if stored is not None:
            start = _with_numbers(start, stored["start"])
        network = Network(start)
        network.readout.requires_grad_(not (keeps_readout and _reads_out_best(start)))
        state = cls(network, _optimizer(network), start, start, seed)
        if stored is not None:
            state._resume(stored)
        return state

    @property
    def learns_steps_first(self) -> bool:
        """Whether the layers of the start are gradient steps for nonnegative codes, not trained."""
        return self.start.nonnegative_codes and departure(self.start) <= _SAME

    def of_steps(self, task: Task, steps: int) -> "State":
        """Training of the directions alone, from the best of the longer steps if it costs less than the start."""
        start, history = self.start, list(self.history)
        others = [
            replace(start, layers=stretched(start.layers, start.components, start.rank_penalty, *form))
            for form in product(_DAMPINGS, _LENGTHS)
        ]
        costs = [history[0].cost, *(task.cost(self.network.take(one)) for one in others)]
        best = int(np.nanargmin([cost if isfinite(cost) else inf for cost in costs]))
        if best:
            history.append(Look(0, steps, costs[best], costs[best]))
        network = StepNetwork((start, *others)[best])
        return State(network, _optimizer(network), start, network.to_encoder(), self.seed, history=history)

    def go_on_from(self, other: "State") -> None:
        """Train everything from where the directions were best; parameters move by shares of their size there."""
        self.best, self.step, self.history = other.best, other.step, other.history
        self._begin_at(other.best)

    def _begin_at(self, encoder: Encoder) -> None:
        self.begun = encoder
        self.network.take(encoder)
        for group in self.optimizer.param_groups:
            group["size"] = self.network.size_of(group["params"][0])

    def step_of_progress(self, least: float) -> int:
        """When the best cost last fell by such a share of the cost at the start, since it last did."""
        step, known = 0, inf
        for look in self.history:
            if look.best < known - least * abs(self.history[0].cost):
                step, known = look.step, look.best
        return step

    def descend(self, loss: torch.Tensor, relative_size: float) -> None:
        """One step of Adam; a loss or a slope that is no number moves nothing."""
        self.step += 1
        if not isfinite(loss.item()):
            return
        self.optimizer.zero_grad()
        loss.backward()
        slopes = [parameter.grad for parameter in self.network.parameters() if parameter.grad is not None]
        if not all(bool(slope.isfinite().all()) for slope in slopes):
            return
        for group in self.optimizer.param_groups:
            group["lr"] = self.caution * relative_size * group["size"]
            group["eps"] = self._least_slope(group)
        self.optimizer.step()
        self.network.keep_feasible()

    def _least_slope(self, group: dict[str, Any]) -> float:
        """Slopes so small beside the cost are rounding: no direction."""
        total, cost = group["size"] * sum(parameter.numel() for parameter in group["params"]), self.history[0].cost
        return _ROUNDING * abs(cost) / total if total and cost else 1.0

    def move_dictionary(self, task: Task) -> None:
        """Take the best dictionary for the present codes, if that lowers the validation cost.

        A network that has diverged has no codes that would be worth it.
        """
        start, cost = self.history[0].cost, task.cost(self.network)
        if not cost - start <= abs(start):
            return
        before = self.network.to_encoder()
        self.network.move_to(task.best_components(self.network))
        if task.cost(self.network) < cost:
            task.follow(self.network.to_encoder())
        else:
            self.network.take(before)

    def look(self, task: Task, steps: int) -> Look:
        """Judge the network by the validation samples; keep it if it is the best so far.

        If it has become clearly worse than the best, the steps were too large: back to the best, and smaller steps.
        """
        if self.history and self.history[-1].step == self.step:
            return self.history[-1]
        cost = task.cost(self.network)
        cost = cost if isfinite(cost) else float("inf")
        best = min([cost, *(look.cost for look in self.history)])
        if self.history and cost < self.history[-1].best:
            self.best = self.network.to_encoder()
        elif self.history and cost - self.history[-1].best > _WORSE * abs(self.history[-1].best):
            self.network.take(self.best)
            task.follow(self.best)
            self.caution /= 2
        self.history.append(Look(self.step, steps, cost, best))
        return self.history[-1]

    def save(self, checkpoint: Any, setup: dict[str, Any]) -> None:
        """Write everything that is needed to go on."""
        if checkpoint is None:
            return
        encoders = {"start": self.start, "now": self.network.to_encoder(), "best": self.best}
        encoders |= {} if self.begun is None else {"begun": self.begun}
        moments = {
            str(index): {name: value.numpy() for name, value in own.items()}
            for index, own in self.optimizer.state_dict()["state"].items()
        }
        content = {
            "setup": setup, "seed": self.seed, "step": self.step, "caution": self.caution, "history": self.history,
            **{which: _numbers(one) for which, one in encoders.items()}, "adam": moments,
        }  # fmt: skip
        store.save(checkpoint, "Training", content)

    def _resume(self, stored: dict[str, Any]) -> None:
        if "begun" in stored:
            self._begin_at(_with_numbers(self.start, stored["begun"]))
        self.network.take(_with_numbers(self.start, stored["now"]))
        self.best = _with_numbers(self.start, stored["best"])
        moments = {
            int(index): {name: torch.from_numpy(value.copy()) for name, value in own.items()}
            for index, own in stored.get("adam", {}).items()
        }
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": moments})
        self.seed, self.step, self.caution = stored["seed"], stored["step"], stored["caution"]
        self.history = [Look(*look) for look in stored["history"]]


def _optimizer(network: Network) -> torch.optim.Adam:
    """Adam, each parameter with the size that its steps are shares of."""
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    groups = [{"params": [parameter], "size": network.size_of(parameter)} for parameter in trained]
    return torch.optim.Adam(groups, betas=(0.9, 0.99))


def _checked(checkpoint: Any, start: Encoder, setup: dict[str, Any]) -> dict[str, Any]:
    """The content of a checkpoint, if it belongs to this training."""
    stored = store.read(checkpoint)
    try:
        content = store.put_together(stored.parameters, stored.arrays)
        same = stored.kind == "Training" and stored.parameters.get("setup") == setup
        if not same or not _close(content.get("start"), _numbers(start)):
            raise ValueError(
                f"The checkpoint {checkpoint} belongs to other data or settings; "
                "delete it to start again, or choose another path."
            )
        check(content, _schema(start, setup))
    except MismatchError as error:
        raise store.StoreError(f"{checkpoint} does not hold a complete Training: {error}.") from error
    return content


def _reads_out_best(encoder: Encoder) -> bool:
    """Whether codes are signed, and read out as Algorithm 1 does."""
    own, best = (one.layers.readout for one in (encoder, encoder.untrained()))
    near = np.abs(own - best).max(initial=0.0) <= _SAME * np.abs(best).max(initial=0.0)
    return bool(near) and not encoder.nonnegative_codes


def _schema(start: Encoder, setup: dict[str, Any]) -> Record:
    """What a checkpoint of this training holds; numbers that were not trained so far have no moments."""
    encoder = Record({name: _like(name, part) for name, part in _numbers(start).items()})
    adam: dict[str, Rule] = {}
    for index, name in enumerate(trained_names(start)):
        moments = {key: _like(key, getattr(start.layers, name)) for key in ("exp_avg", "exp_avg_sq")}
        adam[str(index)] = Record({"step": ArrayOf(("float32",), low=0.0), **moments})
    look = Row(Count(0, setup["steps"]), Count(1), Number(-inf, inf), Number(-inf, inf))
    return Record(
        {
            **dict.fromkeys(("start", "now", "best"), encoder),
            "setup": Table(),
            "seed": Count(0, 2**31),
            "step": Count(0, setup["steps"]),
            "caution": Number(0.0, 1.0),
            "history": Each(look, Count(1)),
        },
        {"adam": Record({}, adam), "begun": encoder},
    )


def _like(name: str, part: AnyArray) -> ArrayOf:
    low = 0.0 if name in ("exp_avg_sq", "outlier_penalty", "threshold") else -LARGEST
    return ArrayOf((part.dtype.name,), *part.shape, low=low)


def _numbers(encoder: Encoder) -> dict[str, AnyArray]:
    problem = {"rank_penalty": np.array(encoder.rank_penalty), "outlier_penalty": encoder.outlier_penalty}
    return {"components": encoder.components, **problem, **encoder.layers._asdict()}


def _with_numbers(encoder: Encoder, numbers: dict[str, AnyArray]) -> Encoder:
    layers = Layers(*(numbers[name] for name in Layers._fields))
    return replace(encoder, components=numbers["components"], layers=layers)


def _close(some: Any, others: dict[str, AnyArray]) -> bool:
    """Whether two starts are the same, but for another seed of the solver that made them."""
    return isinstance(some, dict) and all(
        isinstance(some.get(name), np.ndarray)
        and some[name].shape == other.shape
        and np.abs(some[name] - other).max(initial=0.0) <= 0.01 * np.abs(other).max(initial=0.0)
        for name, other in others.items()
    )


def digest(X: AnyArray, sample_weight: Any, targets: Any) -> str:
    """What tells data from other data."""
    digest = sha256()
    for part in (X, *(() if sample_weight is None else (sample_weight,)), *(() if targets is None else targets)):
        array = np.ascontiguousarray(part)
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()
