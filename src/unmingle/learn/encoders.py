"""`train`: the layers of an encoder learn from samples."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, cos, inf, isfinite, pi, sqrt
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from .._types import AnyArray
from .._validation import check_choice, check_count, check_matrix, check_positive, check_share, generator
from ..core.encoder.answers import robust_weights, simulate_held_out
from ..core.encoder.description import departure
from ..core.encoder.encoder import Encoder
from ..core.encoder.layers import Layers, preconditioned
from ..core.iterate import Callback
from ._samples import TrainingSamples
from ._step_network import StepNetwork
from .loop import (
    Checkpoint,
    Evaluation,
    Numbers,
    Schedule,
    Task,
    digest,
    read_checkpoint,
    run_training,
    writer_of,
)
from .losses import Loss, as_loss
from .network import Network


@dataclass(frozen=True)
class _EncoderCourse:
    """How training of an encoder goes: chosen on trials with faces and spectrograms, and with few samples."""

    warm_up: float = 0.1
    """The step grows over this share of the steps."""
    evaluations: int = 60
    """Validation judges this often at most."""
    patience: float = 1 / 3
    """Training ends when this share of the steps has brought no progress."""
    directions: float = 0.5
    """This share of the steps learns directions only, where codes are not negative."""
    dictionary_moves: int = 20
    """The dictionary may move this often."""
    dampings: tuple[float, ...] = (0.3, 1.0, 3.0)
    """Training of directions may begin from steps with one of these dampings ..."""
    lengths: tuple[float, ...] = (1.0, 2.0, 3.0, 5.0)
    """... and one of these lengths."""
    rounding: float = 1e-5
    """A slope says nothing below this share of the cost over the size of a parameter."""
    same: float = 1e-3
    """A readout is the best one if it differs from that by at most this share of its largest entry."""


_COURSE = _EncoderCourse()


class TrainingResult(NamedTuple):
    """What training gives."""

    encoder: Encoder
    """The best one by validation, the start included."""
    history: list[Evaluation]
    """One entry for each evaluation, the first one of the start."""
    noise: float = 0.0
    """Standard error of the gain over the validation samples, as a share of the cost at the start."""

    def __repr__(self) -> str:
        return f"TrainingResult({self.history[-1].step} steps, cost lowered by {self.gain:.1%}, {self.encoder!r})"

    @property
    def gain(self) -> float:
        """Share by which the validation cost fell."""
        return 1 - self.history[-1].best / self.history[0].measure if self.history[0].measure else 0.0


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
) -> TrainingResult:
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
    loss : {"unsupervised", "imitation", "source", "masked"}, Loss or callable
        What is made small: f itself; the distance from exact codes and outliers; the distance of low-rank part and
        outliers from true ones; the distance of the masked samples from the true foreground, where the mask is the
        share of the outliers; or a `Loss` of one's own, of which a function of (network, block, answer) that gives a
        cost for each sample is the simplest.
    targets : pair of arrays, optional
        For "imitation", exact codes and outliers, found if not given; for "source" and "masked", background and
        foreground.
    sample_weight : array of shape (n,) or "robust", optional
        How much each sample counts; "robust": one that costs the start more than the median counts as much less.
    update_dictionary : bool
        Whether U is learnt too. Costs are then compared with lam_*/(2 n) ||U||^2 added.
    fitted : bool
        Whether nonnegative components come from these very samples. Few samples are then learnt from, and judge, as if
        they had been left out, see `unmingle.core.encoder.answers.simulate_held_out`; not together with
        ``update_dictionary``.
    max_steps : int
        Steps at most; training ends sooner where a third of them lower the cost by less than a ten-thousandth.
    batch_size : int
        Samples of a step.
    step_size : float
        Size of the steps of one layer, relative to the mean size of each parameter.
    validation : float
        Share of the samples that only judge; of too few samples all judge.
    callback : callable, optional
        Called with a `Progress` after every evaluation, its measure the validation cost; a true answer ends training.
    checkpoint : path, optional
        A file to which the state is written at every evaluation. If it is there already, training goes on from it, to
        the same numbers as without the interruption. It stays there; remove it when what was trained is safe.
    random_state : int, Generator, RandomState or None
        Chooses the validation samples and the order of all others; None is the seed 0.

    Returns
    -------
    TrainingResult
        The best encoder, and how the cost fell.
    """
    X, loss = check_matrix(X), as_loss(loss)
    _check_that_they_fit(encoder, X, fitted=fitted, update_dictionary=update_dictionary)
    begin = start = encoder.astype(X.dtype)
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
        "data": checkpoint and _digest_of_data(X, None if robust else sample_weight, targets),
    }
    kept = _read_kept(checkpoint, setup, start)
    keeps_readout = loss.keeps_readout and not np.isnan(X).any()
    if kept is not None:
        start, seed = _with_numbers(start, kept.numbers["start"]), kept.seed
    if fitted:
        X = simulate_held_out(start, X, seed)
    samples = TrainingSamples.of(
        start if kept is None else _with_numbers(start, kept.numbers["now"]),
        X,
        loss,
        targets=targets,
        weights=robust_weights(start, X) if robust else sample_weight,
        share=setup["validation"],
        batch_size=setup["batch_size"],
        seed=seed,
        learns_dictionary=bool(update_dictionary),
    )
    task = EncoderTask(_network_of(start, keeps_readout), samples, start, seed, setup["steps"])
    if kept is not None:
        task.resume(kept)
    size = setup["step_size"] / sqrt(start.n_layers)
    schedule = Schedule(setup["steps"], size, _shape, _COURSE.evaluations, _COURSE.patience)
    _run_both_parts(task, schedule, callback, writer_of(task, setup, checkpoint))
    noise = samples.noise_of_gain(Network(begin), begin, task.best) if task.best is not start else 0.0
    return TrainingResult(task.best, task.history, noise / (abs(task.history[0].measure) or inf))


def _check_that_they_fit(encoder: Encoder, X: AnyArray, *, fitted: bool, update_dictionary: bool) -> None:
    if X.shape[1] != encoder.components.shape[1]:
        raise ValueError(f"X must have {encoder.components.shape[1]} columns, got {X.shape[1]}.")
    if fitted and (update_dictionary or not encoder.nonnegative_codes):
        raise ValueError("fitted=True needs an encoder of nonnegative codes and update_dictionary=False.")


def _run_both_parts(
    task: "EncoderTask", schedule: Schedule, callback: Callback | None, save: Callable[[], None]
) -> None:
    """All steps; the first of untrained layers of nonnegative codes learn directions only."""
    if not task.history:
        task.evaluate()
    half = ceil(_COURSE.directions * schedule.steps) if task.learns_directions_first else 0
    if half and task.step == 0:
        alone = task.of_directions()
        ended = run_training(alone, replace(schedule, last=half), callback)
        task.go_on_from(alone)
        if ended:
            return
    run_training(task, replace(schedule, first=half), callback, save)


def _shape(done: int, steps: int) -> float:
    """Relative size of a step: growing over the warm-up, then a falling cosine."""
    progress = done / steps
    return min(1.0, (progress + 1e-3) / _COURSE.warm_up) * 0.5 * (1 + cos(pi * progress))


class EncoderTask(Task):
    """An encoder that learns from samples.

    Parameters
    ----------
    network : Network
        What is trained.
    samples : TrainingSamples
        What it learns from and is judged by.
    start : Encoder
        Where all training starts.
    seed : int
        Of everything that chance decides.
    steps : int
        Steps of all training.
    """

    network: Network

    def __init__(self, network: Network, samples: TrainingSamples, start: Encoder, seed: int, steps: int) -> None:
        super().__init__(network, seed)
        self._samples, self._start, self._steps = samples, start, steps
        self._mixes = isinstance(network, StepNetwork)
        self._moves_dictionary = samples.learns_dictionary and not self._mixes
        self._begun: Encoder | None = None  # where training of everything began, if that is not the start
        self.best = start if not self._mixes else network.to_encoder()

    def loss(self) -> Tensor:
        """Mean loss of a batch."""
        return self._samples.mean_loss(self.network, self.step, mixing=self._mixes)

    def judge(self) -> float:
        """Mean cost of the validation samples."""
        return self._samples.cost(self.network)

    def size_of(self, parameter: Tensor) -> float:
        """Steps are shares of the mean size of a parameter."""
        return self.network.size_of(parameter)

    def least_slope(self, group: dict[str, Any]) -> float:
        """Slopes so small beside the cost are rounding: no direction."""
        total, cost = group["size"] * sum(parameter.numel() for parameter in group["params"]), self.history[0].measure
        return _COURSE.rounding * abs(cost) / total if total and cost else 1.0

    def keep(self) -> None:
        """Keep the encoder as it is: it is the best so far."""
        self.best = self.network.to_encoder()

    def take_back(self) -> None:
        """Go back to the best encoder, and to the targets of its problem."""
        self.network.take(self.best)
        self._samples.follow(self.best)

    def follow_step(self) -> None:
        """Now and then take the best dictionary for the present codes, if that lowers the validation cost.

        A network that has diverged has no codes that would be worth it.
        """
        if not self._moves_dictionary or self.step % max(1, self._steps // _COURSE.dictionary_moves):
            return
        start, cost = self.history[0].measure, self.judge()
        if not cost - start <= abs(start):
            return
        before = self.network.to_encoder()
        self.network.move_to(self._samples.best_components(self.network))
        if self.judge() < cost:
            self._samples.follow(self.network.to_encoder())
        else:
            self.network.take(before)

    # Directions first

    @property
    def learns_directions_first(self) -> bool:
        """Whether the layers of the start are gradient steps for nonnegative codes, not trained."""
        return self._start.nonnegative_codes and departure(self._start) <= _COURSE.same

    def of_directions(self) -> "EncoderTask":
        """Training of the directions alone, from the best of the longer steps if it costs less than the start."""
        start, history = self._start, list(self.history)
        others = [
            replace(start, layers=preconditioned(start.layers, start.components, start.rank_penalty, *form))
            for form in product(_COURSE.dampings, _COURSE.lengths)
        ]
        costs = [history[0].measure, *(self._samples.cost(self.network.take(one)) for one in others)]
        best = int(np.nanargmin([cost if isfinite(cost) else inf for cost in costs]))
        if best:
            history.append(Evaluation(0, costs[best], costs[best]))
        alone = EncoderTask(StepNetwork((start, *others)[best]), self._samples, start, self.seed, self._steps)
        alone.history = history
        return alone

    def go_on_from(self, other: "EncoderTask") -> None:
        """Train everything from where the directions were best; parameters move by shares of their size there."""
        self.best, self.step, self.history = other.best, other.step, other.history
        self._begin_at(other.best)

    def _begin_at(self, encoder: Encoder) -> None:
        self._begun = encoder
        self.network.take(encoder)
        for group in self.optimizer.param_groups:
            group["size"] = self.size_of(group["params"][0])

    # Checkpoints

    def numbers(self) -> dict[str, Numbers]:
        """Of the start, of where training of everything began, of the network now and of the best one."""
        encoders = {"start": self._start, "now": self.network.to_encoder(), "kept": self.best}
        encoders |= {} if self._begun is None else {"begun": self._begun}
        return {which: _numbers_of(one) for which, one in encoders.items()}

    def take_numbers(self, numbers: dict[str, Numbers]) -> None:
        """Go on from the numbers of a checkpoint."""
        if "begun" in numbers:
            self._begin_at(_with_numbers(self._start, numbers["begun"]))
        self.network.take(_with_numbers(self._start, numbers["now"]))
        self.best = _with_numbers(self._start, numbers["kept"])


def _network_of(start: Encoder, keeps_readout: bool) -> Network:
    """The network to train.

    Whatever signed codes are made of, the readout of Algorithm 1 gives those that cost least, (5). By a loss that
    ``keeps_readout`` it has no slope but rounding, which Adam would blow up: it stays as it is.
    """
    network = Network(start)
    network.readout.requires_grad_(not (keeps_readout and _reads_out_best(start)))
    return network


def _reads_out_best(encoder: Encoder) -> bool:
    """Whether codes are signed, and read out as Algorithm 1 does."""
    own, best = (one.layers.readout for one in (encoder, encoder.untrained()))
    near = np.abs(own - best).max(initial=0.0) <= _COURSE.same * np.abs(best).max(initial=0.0)
    return bool(near) and not encoder.nonnegative_codes


def _read_kept(path: Any, setup: dict[str, Any], start: Encoder) -> Checkpoint | None:
    """The checkpoint to go on from, if there is one."""
    like = dict.fromkeys(("start", "now", "kept"), _numbers_of(start))
    return read_checkpoint(path, setup, like, ("begun",))


def _digest_of_data(X: AnyArray, sample_weight: Any, targets: Any) -> str:
    """What tells data from other data."""
    return digest(X, *(() if sample_weight is None else (sample_weight,)), *(() if targets is None else targets))


def _numbers_of(encoder: Encoder) -> Numbers:
    problem = {"rank_penalty": np.array(encoder.rank_penalty), "outlier_penalty": encoder.outlier_penalty}
    return {"components": encoder.components, **problem, **encoder.layers._asdict()}


def _with_numbers(encoder: Encoder, numbers: Numbers) -> Encoder:
    layers = Layers(*(numbers[name] for name in Layers._fields))
    return replace(encoder, components=numbers["components"], layers=layers)
