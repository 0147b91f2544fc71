"""The training loop."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import ceil, cos, isfinite, pi, sqrt
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .. import store
from .._validation import check_choice, check_count, check_matrix, check_positive, check_share, generator
from ..encoder import Encoder, Layers
from ._losses import LOSSES, Loss
from ._network import Network
from ._task import Task

__all__ = ["Progress", "Training", "train"]

_WARM_UP = 0.1
"""Share of the steps during which their size grows."""
_LOOKS = 60
"""How often validation looks, at most."""
_DICTIONARY_STEPS = 20
"""How often the dictionary may move."""


class Progress(NamedTuple):
    """How far training has come."""

    step: int
    """Steps done."""
    steps: int
    """Steps at most."""
    cost: float
    """Mean validation cost now."""
    best: float
    """The least so far: that of the encoder which will be returned."""


class Training(NamedTuple):
    """What training gives."""

    encoder: Encoder
    """The best one by validation, the start included."""
    history: list[Progress]
    """One entry for each look, the first one at the start."""

    @property
    def gain(self) -> float:
        """Share by which the validation cost fell."""
        return 1 - self.history[-1].best / self.history[0].cost if self.history[0].cost else 0.0


def train(
    encoder: Encoder,
    X: Any,
    *,
    loss: str | Loss = "unsupervised",
    targets: Any = None,
    sample_weight: Any = None,
    update_dictionary: bool = False,
    steps: int = 1500,
    batch_size: int = 64,
    step_size: float = 0.01,
    validation: float = 0.1,
    callback: Callable[[Progress], object] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    random_state: Any = None,
) -> Training:
    """Train the layers of an encoder, and keep the best by validation: never worse than the start.

    Adam with mini-batches. The entries of the parameters differ in size by orders of magnitude, so each parameter moves
    by ``step_size / sqrt(n_layers)`` times its own mean size; the step grows over the first tenth of training and then
    falls to zero as a cosine. With ``update_dictionary`` now and then U becomes the best one for the present codes,
    (9), if validation agrees, and the layers follow.

    Parameters
    ----------
    encoder : Encoder
        Where to start.
    X : array of shape (n, m)
        Samples; NaN means missing.
    loss : {"unsupervised", "imitation", "source"} or callable
        What is made small: f itself; the distance from exact codes and outliers; the distance of low-rank part and
        outliers from true ones; or a function of (network, block, answer) that gives a cost for each sample.
    targets : pair of arrays, optional
        For "imitation", exact codes and outliers, found if not given; for "source", background and foreground.
    sample_weight : array of shape (n,), optional
        How much each sample counts.
    update_dictionary : bool
        Whether U is learnt too. Costs are then compared with lam_*/(2 n) ||U||^2 added.
    steps : int
        Steps at most; training ends sooner where half of them bring nothing.
    batch_size : int
        Samples of a step.
    step_size : float
        Size of the steps of one layer, relative to the mean size of each parameter.
    validation : float
        Share of the samples that only judge; of too few samples all judge.
    callback : callable, optional
        Called with a `Progress` after every look at validation; a true answer ends training.
    checkpoint : path, optional
        A file to which the state is written at every look. If it is there already, training goes on from it, to the
        same numbers as without the interruption. It is removed when training is complete.
    random_state : int, Generator, RandomState or None
        Chooses the validation samples and the order of all others.

    Returns
    -------
    Training
        The best encoder, and how the cost fell.
    """
    X, steps, batch_size = check_matrix(X), check_count(steps, "steps"), check_count(batch_size, "batch_size")
    if not callable(loss):
        check_choice(loss, "loss", tuple(LOSSES))
    validation = check_share(validation, "validation")
    if update_dictionary and encoder.nonnegative_codes:
        raise ValueError("update_dictionary does not know nonnegative dictionaries; leave it False.")
    if X.shape[1] != encoder.components.shape[1]:
        raise ValueError(f"X must have {encoder.components.shape[1]} columns, got {X.shape[1]}.")
    start = encoder.astype(X.dtype)
    seed = int(generator(random_state).integers(2**31))
    setup = {"steps": steps, "batch_size": batch_size, "step_size": check_positive(step_size, "step_size"),
             "loss": loss if isinstance(loss, str) else getattr(loss, "__qualname__", type(loss).__name__),
             "update_dictionary": bool(update_dictionary), "validation": validation, "n_layers": start.n_layers,
             "signs": list(start.signs), "data": checkpoint and _digest(X, sample_weight, targets)}  # fmt: skip
    state = _State.of(start, seed, checkpoint, setup)
    task = Task.of(state.network.to_encoder(), X, loss, targets, sample_weight, validation, state.seed)
    state.look(task, steps)
    size = step_size / sqrt(encoder.n_layers)
    every, dictionary_every = ceil(steps / _LOOKS), max(1, steps // _DICTIONARY_STEPS)
    for step, rows in task.batches(batch_size, state.seed, state.step):
        if step == steps or step - state.best_step > steps / 2:
            break
        state.descend(task.mean_loss(state.network, rows), size * _schedule(step / steps))
        if update_dictionary and state.step % dictionary_every == 0:
            state.move_dictionary(task)
        if state.step % every == 0 or state.step == steps:
            progress = state.look(task, steps)
            state.save(checkpoint, setup)
            if callback is not None and callback(progress):
                return Training(state.best, state.history)
    if checkpoint is not None:
        Path(checkpoint).unlink(missing_ok=True)
    return Training(state.best, state.history)


def _schedule(progress: float) -> float:
    """Relative size of a step: growing over the warm-up, then a falling cosine."""
    return min(1.0, (progress + 1e-3) / _WARM_UP) * 0.5 * (1 + cos(pi * progress))


@dataclass
class _State:
    """Everything that changes while training goes on."""

    network: Network
    optimizer: torch.optim.Adam
    start: Encoder
    best: Encoder
    seed: int
    step: int = 0
    history: list[Progress] = field(default_factory=list)

    @classmethod
    def of(cls, start: Encoder, seed: int, checkpoint: Any, setup: dict[str, Any]) -> "_State":
        """The state at the start, or that of a checkpoint."""
        network = Network(start)
        trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        sizes = [float(parameter.detach().abs().mean()) if parameter.numel() else 0.0 for parameter in trained]
        groups = [{"params": [parameter], "size": size} for parameter, size in zip(trained, sizes, strict=True)]
        state = cls(network, torch.optim.Adam(groups, betas=(0.9, 0.99), eps=1e-12), start, start, seed)
        if checkpoint is not None and Path(checkpoint).exists():
            state._resume(checkpoint, setup)
        return state

    @property
    def best_step(self) -> int:
        """When the best encoder was found."""
        return min(self.history, key=lambda look: look.cost).step

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
            group["lr"] = relative_size * group["size"]
        self.optimizer.step()
        self.network.keep_feasible()

    def move_dictionary(self, task: Task) -> None:
        """Take the best dictionary for the present codes, if that lowers the validation cost.

        A network that has diverged has no codes that would be worth it.
        """
        start, cost = self.history[0].cost, task.cost(self.network)
        if not cost - start <= abs(start):
            return
        before = self.network.to_encoder()
        self.network.move_to(task.best_components(self.network))
        self.network.keep_feasible()
        if task.cost(self.network) < cost:
            task.follow(self.network.to_encoder())
        else:
            self.network.take(before)

    def look(self, task: Task, steps: int) -> Progress:
        """Judge the network by the validation samples; keep it if it is the best so far."""
        if self.history and self.history[-1].step == self.step:
            return self.history[-1]
        cost = task.cost(self.network)
        cost = cost if isfinite(cost) else float("inf")
        best = min([cost, *(look.cost for look in self.history)])
        if self.history and cost < self.history[-1].best:
            self.best = self.network.to_encoder()
        self.history.append(Progress(self.step, steps, cost, best))
        return self.history[-1]

    def save(self, checkpoint: Any, setup: dict[str, Any]) -> None:
        """Write everything that is needed to go on."""
        if checkpoint is None:
            return
        encoders = {"start": self.start, "now": self.network.to_encoder(), "best": self.best}
        arrays = {f"{which}.{name}": part for which, one in encoders.items() for name, part in _numbers(one).items()}
        for index, moments in self.optimizer.state_dict()["state"].items():
            arrays |= {f"adam.{index}.{name}": value.numpy() for name, value in moments.items()}
        facts = {"setup": setup, "seed": self.seed, "step": self.step, "history": self.history}
        store.write(checkpoint, "Training", facts, arrays)

    def _resume(self, checkpoint: Any, setup: dict[str, Any]) -> None:
        stored = store.read(checkpoint)
        facts = stored.parameters
        start = {name: stored.arrays.get(f"start.{name}") for name in _numbers(self.start)}
        if stored.kind != "Training" or facts.get("setup") != setup or not _close(start, _numbers(self.start)):
            raise ValueError(
                f"The checkpoint {checkpoint} belongs to other data or settings; "
                "remove it to begin anew, or choose another path."
            )
        self.network.take(_with_numbers(self.best, stored.arrays, "now."))
        self.best = _with_numbers(self.best, stored.arrays, "best.")
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in stored.arrays.items():
            if name.startswith("adam."):
                _, index, kind = name.split(".")
                moments.setdefault(int(index), {})[kind] = torch.from_numpy(value.copy())
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": moments})
        self.seed, self.step = facts["seed"], facts["step"]
        self.history = [Progress(*look) for look in facts["history"]]


def _numbers(encoder: Encoder) -> dict[str, NDArray[Any]]:
    problem = {"rank_penalty": np.array(encoder.rank_penalty), "outlier_penalty": encoder.outlier_penalty}
    return {"components": encoder.components, **problem, **encoder.layers._asdict()}


def _with_numbers(encoder: Encoder, arrays: dict[str, NDArray[Any]], prefix: str) -> Encoder:
    layers = Layers(*(arrays[prefix + name] for name in Layers._fields))
    return replace(encoder, components=arrays[prefix + "components"], layers=layers)


def _close(some: dict[str, Any], others: dict[str, NDArray[Any]]) -> bool:
    """Whether two starts are the same, but for another seed of the solver that made them."""
    return all(
        some[name].shape == other.shape
        and np.abs(some[name] - other).max(initial=0.0) <= 0.01 * np.abs(other).max(initial=0.0)
        for name, other in others.items()
    )


def _digest(X: NDArray[Any], sample_weight: Any, targets: Any) -> str:
    """What tells data from other data."""
    digest = sha256()
    for part in (X, *(() if sample_weight is None else (sample_weight,)), *(() if targets is None else targets)):
        array = np.ascontiguousarray(part)
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()
