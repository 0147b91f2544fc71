"""`LearnedRobustPCA`: a trained encoder in place of iterations."""

import warnings
from math import ceil
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._rules import FLOATS, POSITIVE, ArrayOf, Count, Flag, Number, OneOf, Record, Table, maybe
from .._threads import suited_to
from .._types import Array
from .._validation import (
    as_floats,
    check_choice,
    check_count,
    check_optional_count,
    check_positive,
    check_share,
    generator,
    given_penalties,
    require,
)
from ..core.decomposition.parts import Decomposition
from ..core.encoder.encoder import STRUCTURES, Encoder
from ..core.encoder.stored import ENCODER, LAYERS
from ..core.iterate import Callback
from ..core.linalg.units import Units
from ..core.online.start import robust_start
from ..learn import LOSSES
from .base import FITTED, FORGETTING, GIVEN
from .card import card_of, has_gained, nothing_gained
from .distributed_protocol import PassRequest, PassResult
from .window import Rows, Window, cut, reach_of
from .window_learner import WindowLearner

_SOLVED = 1e-4
"""Tolerance of the dictionary that training starts from."""
_MOST_THREADS = 4096
_ROOT = Number(2.0**-520, 2.0**520)
"""Units are squares of it."""


def _samples(name: str) -> Record:
    """Samples of a stream, where NaN is missing, and their true parts."""
    return Record(
        {"0": ArrayOf(FLOATS, name, "m", nan=True)}, {"1": ArrayOf(FLOATS, name, "m"), "2": ArrayOf(FLOATS, name, "m")}
    )


class LearnedRobustPCA(WindowLearner):
    r"""Robust principal components with an encoder that was trained: outliers found in a fixed, short time.

    ``fit`` first solves (4) for the components U, then trains a network of ``n_layers`` layers, each of the form of one
    pass of the iterative algorithm for the robust projection (5), to do in few layers what takes many passes::

        c <- H' (x - o),   d = A c,   o <- soft(x - d, t);     in the end s = H (x - o)

    ``transform`` and ``decompose`` run the network, 4 m q flops for each sample and layer, and need no torch. How good
    each answer is `decompose` tells by ``sample_gap``; the network never is worse than the untrained one on data kept
    for validation. Entries far beyond all that the low-rank part can reach are cut before the network sees them, which
    changes no exact answer. Data are not centred; NaN means missing.

    Parameters
    ----------
    n_components : int, optional
        At most so many components; None for as many as the data ask for.
    n_layers : int
        Layers of the network.
    loss : {"unsupervised", "imitation", "source"}
        What training makes small: the cost of (5) itself; the distance from its exact solution; or, where the true
        parts are known, the distance of low-rank part and outliers from them.
    update_dictionary : bool
        Whether the components are trained too.
    tied : bool
        Whether all layers share their numbers.
    structure : {"low_rank", "full"}
        A H' as a product, or as one matrix: for few features only.
    rank_penalty, outlier_penalty : float, array of shape (n_features,) for the latter, or "auto"
        As in `RobustPCA`.
    max_passes : float
        Passes over the data, at most: with few samples they count, with more than 200 the steps do.
    max_steps : int
        Steps of training, at most.
    batch_size : int
        Samples of a step.
    step_size : float
        Size of the steps of one layer, relative to the mean size of each parameter.
    validation : float
        Share of the samples that judge and are not learnt from.
    window : int
        Samples of a stream on which `partial_fit` trains.
    window_step : int
        Samples by which the window moves on.
    forgetting : float in (0, 1], or "auto"
        What every sample of a stream multiplies the weight of the past by in the dictionary; "auto" is 1 - 1 / window.
    n_jobs : int, optional
        Threads of `transform` and `decompose`; -1 for all processors.
    contamination : float or "auto"
        Share of bad rows in the training data, at most a half: so many of them are outliers for `predict`. "auto":
        `predict` takes one ordinary row in a hundred for an outlier, however many bad ones there are.
    random_state : int, Generator, RandomState or None
        Starts the partial SVD, chooses validation samples and the order of the others; None is the seed 0.

    Attributes
    ----------
    encoder_ : Encoder
        The network.
    components_ : array of shape (n_components_, n_features)
        Atoms U'.
    n_components_ : int
        Number of components.
    rank_penalty_, outlier_penalty_ : float, or array if one was given
        The penalties used.
    history_ : array of shape (n_looks, 2)
        Step and validation cost, in units of the data, whenever training looked; first that of the untrained network.
    card_ : dict
        Model card: what was trained on what, how, and how good it became.
    n_samples_seen_ : int
        Samples learnt from.
    offset_ : float
        Score below which `predict` calls a row an outlier.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str
        Names of the features, if the data had such.

    See Also
    --------
    unmingle.RobustPCA : exact, for one matrix.
    unmingle.Encoder : the network alone.

    References
    ----------
    .. [1] P. Sprechmann, A. M. Bronstein, G. Sapiro, "Learning Robust Low-Rank Representations", 2012.

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> made = unmingle.synth.low_rank_plus_sparse(400, 50, 2, noise=0.05, random_state=0)
    >>> model = unmingle.LearnedRobustPCA(n_layers=3, random_state=0).fit(made.X[:300])
    >>> codes = model.transform(made.X[300:])
    >>> codes.shape
    (100, 2)
    >>> cost = model.history_[:, 1]
    >>> bool(cost.min() < cost[0])
    True
    """

    _parameter_rules: ClassVar = {
        **GIVEN,
        "n_layers": LAYERS,
        "loss": OneOf(*LOSSES),
        "update_dictionary": Flag(),
        "tied": Flag(),
        "structure": OneOf(*STRUCTURES),
        "max_passes": POSITIVE,
        "max_steps": Count(1),
        "batch_size": Count(1),
        "step_size": POSITIVE,
        "validation": Number(0.0, 1.0, below=True),
        "window": Count(1),
        "window_step": Count(1),
        "forgetting": FORGETTING,
        "n_jobs": maybe(Count(-_MOST_THREADS, _MOST_THREADS)),
    }
    _attribute_rules: ClassVar = {
        **FITTED,
        "card_": Table(),
        "history_": ArrayOf(("float64",), "looks", 2, low=-np.inf, high=np.inf, nan=True),
        "n_samples_seen_": Count(),
    }
    _state_rules: ClassVar = {
        "encoder": ENCODER,
        "stream": Record(
            {
                "A": ArrayOf(("float64",), "q", "q"),
                "B": ArrayOf(FLOATS, "q", "m"),
                "rows": _samples("rows"),
                "fresh": _samples("fresh"),
                "seed": Count(0, 2**31),
                "root": _ROOT,
                "reach": Number(0.0, np.inf),
                "starting": Flag(),
                "n_learnt": Count(),
                "weight": Number(0.0),
                "decay": Number(0.0, 1.0),
            }
        ),
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_layers: int = 5,
        loss: str = "unsupervised",
        update_dictionary: bool = False,
        tied: bool = True,
        structure: str = "low_rank",
        rank_penalty: float | str = "auto",
        outlier_penalty: Any = "auto",
        max_passes: float = 500,
        max_steps: int = 1500,
        batch_size: int = 64,
        step_size: float = 0.04,
        validation: float = 0.1,
        window: int = 100,
        window_step: int = 10,
        forgetting: float | str = "auto",
        n_jobs: int | None = None,
        contamination: float | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_layers = n_layers
        self.loss = loss
        self.update_dictionary = update_dictionary
        self.tied = tied
        self.structure = structure
        self.rank_penalty = rank_penalty
        self.outlier_penalty = outlier_penalty
        self.max_passes = max_passes
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.step_size = step_size
        self.validation = validation
        self.window = window
        self.window_step = window_step
        self.forgetting = forgetting
        self.n_jobs = n_jobs
        self.contamination = contamination
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        callback: Callback | None = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Learn the components, then train the encoder.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Training data; NaN means missing.
        y : array of shape (n_samples, 2, n_features), optional
            With ``loss="source"`` the true background and foreground of each sample; not read otherwise.
        callback : callable, optional
            Called now and then with an `unmingle.core.iterate.Progress` of the steps; a true answer ends training.
        checkpoint : path, optional
            A file from which interrupted training goes on.
        """
        X = self._to_learn_from(X)
        with suited_to(X.size):
            self._learn(Rows(X, self._sources(X, y)), None, callback, checkpoint)
        if self.n_components_ and not has_gained(self.card_):
            warnings.warn(nothing_gained(self.card_, self.n_layers), UserWarning, stacklevel=2)
        return self

    def transform(self, X: Any) -> Array:
        """Codes of new samples, by the network.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing.

        Returns
        -------
        array of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        return self.encoder_.encode(cut(self._validated(X, reset=False), self._reach), n_jobs=self.n_jobs)[0]

    def begin_passes(self, rows: Any) -> PassRequest:
        """As in `RobustPCA`: passes find the dictionary; the layers are trained in `finish_passes`."""
        if LOSSES[check_choice(self.loss, "loss", tuple(LOSSES))].true_parts or self.update_dictionary:
            raise ValueError(
                "distributed.fit finds the dictionary from all rows and has no true parts; "
                "take loss='unsupervised' or 'imitation' and update_dictionary=False."
            )
        return super().begin_passes(rows)

    def finish_passes(self, result: PassResult, rows: Array) -> None:
        """Train the layers for the dictionary that passes over all rows found, for `unmingle.distributed.fit`."""
        self._learn(Rows(rows), (result.components, result.rank_penalty, result.outlier_penalty))
        self.n_samples_seen_ = result.n_rows

    def _decomposed(self, data: Array, frame: Any) -> Decomposition:
        codes, gap, outliers = self._encoded(data)
        return self._decomposition(data, codes, gap, frame, outliers)

    def _decomposition(
        self, data: Array, codes: Array, gap: Array, frame: Any = None, outliers: Array | None = None
    ) -> Decomposition:
        outliers = self._encoded(data)[2] if outliers is None else outliers
        near = cut(data, self._reach)
        with np.errstate(over="ignore"):
            if near is not data:
                outliers = outliers + np.where(np.isnan(data), data.dtype.type(0), data - near)
            cost = np.sum(self.encoder_.cost(data, codes, outliers))
        return self._assembled(data, codes, outliers, cost, gap, frame)

    def _encoded(self, X: Array) -> tuple[Array, Array, Array]:
        """Codes, gaps and outliers of samples cut to the reach."""
        near = cut(X, self._reach)
        codes, outliers = self.encoder_.encode(near, n_jobs=self.n_jobs)
        return codes, self.encoder_.gap(near, codes, outliers), outliers

    def _project(self, X: Array) -> tuple[Array, Array]:
        return self._encoded(X)[:2]

    def _light_copy(self) -> Self:
        light = super()._light_copy()
        light.encoder_, light._reach = self.encoder_, self._reach
        return light

    def _sources(self, X: Array, y: Any) -> tuple[Array, ...]:
        """True background and foreground, where the loss looks at them."""
        if not LOSSES[check_choice(self.loss, "loss", tuple(LOSSES))].true_parts:
            return ()
        if y is None:
            raise ValueError(
                f"loss={self.loss!r} requires y to be passed, but the target y is None: "
                "an array of shape (n_samples, 2, n_features) with background and foreground."
            )
        parts = as_floats(y, "y")
        if parts.shape != (len(X), 2, X.shape[1]) or not np.isfinite(parts).all():
            raise ValueError(
                f"y must hold the finite background and foreground of every sample, shape {(len(X), 2, X.shape[1])}, "
                f"got {parts.shape}."
            )
        return parts[:, 0].astype(X.dtype), parts[:, 1].astype(X.dtype)

    def _learn(
        self,
        rows: Rows,
        problem: tuple[Array, float, Any] | None = None,
        callback: Callback | None = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Components, unless they are given with their penalties, and layers."""
        require("torch", "train")
        self._contamination()
        check_choice(self.structure, "structure", STRUCTURES)
        window, max_steps = check_count(self.window, "window"), check_count(self.max_steps, "max_steps")
        self._fading()
        share, batch_size = check_share(self.validation, "validation"), check_count(self.batch_size, "batch_size")
        self._seed = int(generator(self.random_state).integers(2**31))
        components, lam_star, lam = problem or self._solve(rows.X)
        start = Encoder.from_components(
            components, rank_penalty=lam_star, outlier_penalty=lam, n_layers=self.n_layers, tied=bool(self.tied),
            structure=self.structure, nonnegative_codes=self.nonnegative, nonnegative_outliers=self.nonnegative,
        )  # fmt: skip
        self._reach = reach_of(start, rows.X)
        self._units = Units.of(cut(rows.X, self._reach))
        per_pass = max(1, round((1 - share) * len(rows.X)) // batch_size)
        steps = min(ceil(check_positive(self.max_passes, "max_passes") * per_pass), max_steps)
        training = self._train(
            start, rows, steps, share, self._seed, callback=callback, checkpoint=checkpoint,
            update_dictionary=bool(self.update_dictionary), fitted=self._knows_its_samples and problem is None,
        )  # fmt: skip
        self.rank_penalty_, self.outlier_penalty_ = lam_star, lam
        self._adopt(training.encoder)
        self.history_ = np.array([(look.step, self._units.cost_from_units(look.cost)) for look in training.history])
        self.n_samples_seen_ = len(rows.X)
        nothing = rows.take(slice(0))
        self._window = Window(nothing, nothing, self._sums(rows.take(slice(-window, None))), False, len(rows.X))
        self.card_ = card_of(self, rows.X, training)
        return self._calibrated(rows.X)

    @property
    def _knows_its_samples(self) -> bool:
        """Whether the layers should be trained as if the components had not been fitted to the samples."""
        return self.nonnegative and not self.update_dictionary and not LOSSES[self.loss].true_parts

    def _solve(self, X: Array) -> tuple[Array, float, Any]:
        """The dictionary of (4), and the penalties."""
        n_components = check_optional_count(self.n_components, "n_components")
        penalties = given_penalties(self.rank_penalty, self.outlier_penalty, X.shape[1])
        part = robust_start(X, n_components, *penalties, tol=_SOLVED, random_state=self._seed)
        return part.components, part.rank_penalty, part.outlier_penalty

    def _train(self, start: Encoder, rows: Rows, steps: int, validation: float, seed: Any, **options: Any) -> Any:
        """Training in units in which the largest entry is about one; its encoder in those of the data."""
        learn = require("unmingle.learn", "train")
        unit, scaled = start.rescaled(1 / self._units.root), rows.within(self._reach).to_units(self._units)
        training = learn.train(
            unit, scaled.X, loss=self.loss, targets=scaled.sources or None, max_steps=steps,
            sample_weight=None if LOSSES[self.loss].true_parts else "robust",
            batch_size=self.batch_size, step_size=self.step_size, validation=validation, random_state=seed, **options,
        )  # fmt: skip
        return training._replace(encoder=training.encoder.rescaled(self._units.root))

    def _adopt(self, encoder: Encoder) -> None:
        self.encoder_, self.components_, self.n_components_ = encoder, encoder.components, len(encoder.components)

    def _state_to_store(self) -> dict[str, Any]:
        own = {"seed": self._seed, "root": self._units.root, "reach": self._reach}
        stream = {**own, **self._window._to_store()}
        return {**super()._state_to_store(), "encoder": self.encoder_._to_store(), "stream": stream}

    def _state_from_store(self, content: dict[str, Any]) -> None:
        super()._state_from_store(content)
        stream = content["stream"]
        self._adopt(Encoder._from_store(content["encoder"]))
        self._window = Window._from_store(stream)
        self._seed, self._units, self._reach = int(stream["seed"]), Units(float(stream["root"])), float(stream["reach"])
