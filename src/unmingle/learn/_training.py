"""The training loop."""

from collections.abc import Callable
from math import ceil, cos, pi, sqrt
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from .._validation import check_choice, check_count, check_matrix, check_positive, check_share, generator
from ..core.encoder.answers import robust_weights
from ..core.encoder.encoder import Encoder
from ..core.encoder.left_out import as_left_out
from ..core.iterate import Callback, Progress
from ._losses import Loss, as_loss
from ._network import Network
from ._state import Look, State, digest
from ._steps import StepNetwork
from ._task import Task

__all__ = ["Look", "Training", "train"]

_WARM_UP = 0.1
"""Share of the steps during which their size grows."""
_LOOKS = 60
"""How often validation looks, at most."""
_PATIENCE, _AT_LEAST, _PROGRESS = 1 / 3, 10, 1e-4
"""Training ends when this share of its steps, and so many, have not lowered the cost by that share."""
_STEPS_ALONE = 0.5
"""Share of the steps that learn directions only, where codes are not negative."""
_DICTIONARY_STEPS = 20
"""How often the dictionary may move."""


class Training(NamedTuple):
    """What training gives."""

    encoder: Encoder
    """The best one by validation, the start included."""
    history: list[Look]
    """One entry for each look, the first one at the start."""
    noise: float = 0.0
    """Standard error of the gain over the validation samples, as a share of the cost at the start."""

    def __repr__(self) -> str:
        return f"Training({self.history[-1].step} steps, cost lowered by {self.gain:.1%}, {self.encoder!r})"

    @property
    def gain(self) -> float:
        """Share by which the validation cost fell."""
        return 1 - self.history[-1].best / self.history[0].cost if self.history[0].cost else 0.0


def train(
    encoder: Encoder,
    X: Any,
    *,
    loss: str | Loss | Callable[..., Any] = "unsupervised",
    targets: Any = None,
    sample_weight: Any = None,
    update_dictionary: bool = False,
    fitted: bool = False,
    max_steps: int = 1500,
    batch_size: int = 64,
    step_size: float = 0.04,
    validation: float = 0.1,
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
    random_state: Any = None,
) -> Training:
    """Train the layers of an encoder, and keep the best by validation: never worse than the start.

    Adam with mini-batches. The entries of the parameters differ in size by orders of magnitude, so each parameter moves
    by ``step_size / sqrt(n_layers)`` times its own mean size; the step grows over the first tenth of training and then
    falls to zero as a cosine. By f alone, with nothing missing, the readout of signed codes stays: it is the best one
    already. Untrained layers of nonnegative codes make short steps. Training then begins with the directions of the
    steps alone, q^2 numbers a layer, `StepNetwork`, from longer steps if these cost less, on samples of which every
    other is a mixture of two; the second half of the steps trains everything. With ``update_dictionary`` now and then
    U becomes the best one for the present codes, (9), if validation agrees, and the layers follow.

    Parameters
    ----------
    encoder : Encoder
        Where to start.
    X : array of shape (n, m)
        Samples; NaN means missing.
    loss : {"unsupervised", "imitation", "source"}, Loss or callable
        What is made small: f itself; the distance from exact codes and outliers; the distance of low-rank part and
        outliers from true ones; or a `Loss` of one's own, of which a function of (network, block, answer) that gives a
        cost for each sample is the simplest.
    targets : pair of arrays, optional
        For "imitation", exact codes and outliers, found if not given; for "source", background and foreground.
    sample_weight : array of shape (n,) or "robust", optional
        How much each sample counts; "robust": one that costs the start more than the median counts as much less.
    update_dictionary : bool
        Whether U is learnt too. Costs are then compared with lam_*/(2 n) ||U||^2 added.
    fitted : bool
        Whether nonnegative components come from these very samples. Few samples are then learnt from, and judge, as if
        they had been left out, see `unmingle.core.encoder.left_out`; not together with ``update_dictionary``.
    max_steps : int
        Steps at most; training ends sooner where a third of them lower the cost by less than a ten-thousandth.
    batch_size : int
        Samples of a step.
    step_size : float
        Size of the steps of one layer, relative to the mean size of each parameter.
    validation : float
        Share of the samples that only judge; of too few samples all judge.
    callback : callable, optional
        Called with a `Progress` after every look at validation, its measure the validation cost; a true answer ends
        training.
    checkpoint : path, optional
        A file to which the state is written at every look. If it is there already, training goes on from it, to the
        same numbers as without the interruption. It stays there; remove it when what was trained is safe.
    random_state : int, Generator, RandomState or None
        Chooses the validation samples and the order of all others; None is the seed 0.

    Returns
    -------
    Training
        The best encoder, and how the cost fell.
    """
    X, loss = check_matrix(X), as_loss(loss)
    if X.shape[1] != encoder.components.shape[1]:
        raise ValueError(f"X must have {encoder.components.shape[1]} columns, got {X.shape[1]}.")
    if fitted and (update_dictionary or not encoder.nonnegative_codes):
        raise ValueError("fitted=True needs an encoder of nonnegative codes and update_dictionary=False.")
    start = encoder.astype(X.dtype)
    seed = int(generator(random_state).integers(2**31))
    robust = isinstance(sample_weight, str) and check_choice(sample_weight, "sample_weight", ("robust",)) == "robust"
    setup: dict[str, Any] = {
        "steps": check_count(max_steps, "max_steps"),
        "batch_size": check_count(batch_size, "batch_size"),
        "step_size": check_positive(step_size, "step_size"),
        "loss": loss.name or type(loss).__name__,
        "update_dictionary": bool(update_dictionary),
        **({"fitted": True} if fitted else {}),
        "validation": check_share(validation, "validation"),
        "n_layers": start.n_layers,
        "signs": list(start.signs),
        "robust": robust,
        "data": checkpoint and digest(X, None if robust else sample_weight, targets),
    }
    state = State.of(start, seed, checkpoint, setup, loss.keeps_readout and not np.isnan(X).any())
    if fitted:
        X = as_left_out(state.start, X, state.seed)
    task = Task.of(
        state.network.to_encoder(),
        X,
        loss,
        targets=targets,
        weights=robust_weights(state.start, X) if robust else sample_weight,
        share=setup["validation"],
        seed=state.seed,
        learns_dictionary=bool(update_dictionary),
    )
    _learn(state, task, setup, callback, checkpoint)
    cost, network = abs(state.history[0].cost), Network(start)
    noise = task.noise_of_gain(network, start, state.best) / cost if cost and state.best is not start else 0.0
    return Training(state.best, state.history, noise)


def _learn(state: State, task: Task, setup: dict[str, Any], callback: Callback | None, checkpoint: Any) -> None:
    """All steps; the first of untrained layers of nonnegative codes learn directions only."""
    first, steps = 0, setup["steps"]
    if not state.history:
        state.look(task, steps)
    if state.learns_steps_first:
        first = ceil(_STEPS_ALONE * steps)
    if first and state.step == 0:
        alone = state.of_steps(task, steps)
        ended = _descend(alone, task, setup | {"update_dictionary": False}, (0, first), callback, None)
        state.go_on_from(alone)
        if ended:
            return
    _descend(state, task, setup, (first, steps), callback, checkpoint)


def _descend(
    state: State, task: Task, setup: dict[str, Any], span: tuple[int, int], callback: Callback | None, checkpoint: Any
) -> bool:
    """Step after step of a span, until a third of them brought nothing, or the callback says so: the answer."""
    (first, last), steps, size = span, setup["steps"], setup["step_size"] / sqrt(setup["n_layers"])
    every, dictionary_every = ceil(steps / _LOOKS), max(1, steps // _DICTIONARY_STEPS)
    for step, rows in task.batches(setup["batch_size"], state.step):
        waited = step - max(first, state.step_of_progress(_PROGRESS))
        if step >= last or waited > max(_AT_LEAST, _PATIENCE * (last - first)):
            break
        loss = task.mean_loss(state.network, step, rows, mixing=isinstance(state.network, StepNetwork))
        state.descend(loss, size * _schedule((step - first) / (last - first)))
        if setup["update_dictionary"] and state.step % dictionary_every == 0:
            state.move_dictionary(task)
        if state.step % every == 0 or state.step == last:
            look = state.look(task, steps)
            state.save(checkpoint, setup)
            if callback is not None and callback(Progress(look.step, steps, look.cost)):
                return True
    return False


def _schedule(progress: float) -> float:
    """Relative size of a step: growing over the warm-up, then a falling cosine."""
    return min(1.0, (progress + 1e-3) / _WARM_UP) * 0.5 * (1 + cos(pi * progress))
