"""`LearnedRobustPCA`: a trained encoder in place of iterations."""

import warnings
from os import PathLike
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._fields import checked, from_store, record_of, to_store
from .._rollback import unchanged_on_error
from .._rules import ArrayOf, Count, Flag, OneOf, Table, maybe
from .._threads import limit_blas_threads
from .._types import Array
from .._validation import (
    as_floats,
    check_choice,
    check_matrix,
    check_optional_count,
    generator,
    given_penalties,
    require,
)
from ..core.decomposition.result import Decomposition
from ..core.encoder.encoder import ENCODER, LAYERS, STRUCTURES, Encoder
from ..core.iterate import Callback
from ..core.online.start import robust_start
from ..core.online.statistics import Statistics
from ..learn import LOSSES, Training
from .base import FITTED, FORGETTING, GIVEN, RobustTransformer
from .card import card_of, has_gained, nothing_gained
from .distributed_protocol import PassRequest, PassResult
from .encoder_training import EncoderTraining, Rows, TrainingScale, cut
from .window import STREAM_STATE, LearnedState

_SOLVED = 1e-4
"""Tolerance of the dictionary that training starts from."""


class LearnedRobustPCA(RobustTransformer):
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
        Most components; None for as many as the data ask for.
    n_layers : int
        Layers of the network.
    loss : {"unsupervised", "imitation", "source", "masked"}
        What training makes small: the cost of (5) itself; the distance from its exact solution; or, where the true
        parts are known, the distance of low-rank part and outliers from them, or of the samples from the foreground,
        once they are masked by the share of the outliers.
    update_dictionary : bool
        Whether the components are trained too.
    tied : bool
        Whether all layers share their numbers.
    structure : {"low_rank", "full"}
        A H' as a product, or as one matrix: for few features only.
    rank_penalty, outlier_penalty : float, array of shape (n_features,) for the latter, or "auto"
        As in `RobustPCA`.
    forgetting : float in (0, 1], or "auto"
        What every sample of a stream multiplies the weight of the past by in the dictionary; "auto" is
        1 - 1 / ``training.window``.
    training : unmingle.learn.Training, optional
        How long, in which steps and on how much of a stream the network is trained; the defaults are good for most
        data.
    contamination : float or "auto"
        Share of bad rows in the training data, at most a half: that share of them are outliers for `predict`. "auto":
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

    _state: LearnedState
    _parameter_rules: ClassVar = {
        **GIVEN,
        "n_layers": LAYERS,
        "loss": OneOf(*LOSSES),
        "update_dictionary": Flag(),
        "tied": Flag(),
        "structure": OneOf(*STRUCTURES),
        "forgetting": FORGETTING,
        "training": maybe(record_of(Training)),
    }
    _attribute_rules: ClassVar = {
        **FITTED,
        "card_": Table(),
        "history_": ArrayOf(("float64",), "looks", 2, low=-np.inf, high=np.inf, nan=True),
        "n_samples_seen_": Count(),
    }
    _state_rules: ClassVar = {"encoder": ENCODER, "stream": STREAM_STATE}

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
        forgetting: float | str = "auto",
        training: Training | None = None,
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
        self.forgetting = forgetting
        self.training = training
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
            With ``loss="source"`` or "masked" the true background and foreground of each sample; not read otherwise.
        callback : callable, optional
            Called now and then with an `unmingle.core.iterate.Progress` of the steps; a true answer ends training.
        checkpoint : path, optional
            A file from which interrupted training goes on.
        """
        X = self._to_learn_from(X)
        with limit_blas_threads(X.size):
            self._learn(Rows(X, self._sources(X, y)), callback=callback, checkpoint=checkpoint)
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
        return self.encoder_.encode(self._near(self._validated(X, reset=False)))[0]

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
        self._learn(Rows(rows), ProjectionProblem(result.components, result.rank_penalty, result.outlier_penalty))
        self.n_samples_seen_ = result.n_rows

    def _decomposed(self, data: Array, frame: Any) -> Decomposition:
        codes, gap, outliers = self._encoded(data)
        return self._decomposition(data, codes, gap, frame, outliers)

    def _decomposition(
        self, data: Array, codes: Array, gap: Array, frame: Any = None, outliers: Array | None = None
    ) -> Decomposition:
        outliers = self._encoded(data)[2] if outliers is None else outliers
        near = self._near(data)
        with np.errstate(over="ignore"):
            if near is not data:
                outliers = outliers + np.where(np.isnan(data), data.dtype.type(0), data - near)
            cost = np.sum(self.encoder_.cost(data, codes, outliers))
        return self._assembled(data, codes, outliers, cost, gap, frame)

    def _encoded(self, X: Array) -> tuple[Array, Array, Array]:
        """Codes, gaps and outliers of samples whose entries far out are cut."""
        near = self._near(X)
        codes, outliers = self.encoder_.encode(near)
        return codes, self.encoder_.gap(near, codes, outliers), outliers

    def _near(self, X: Array) -> Array:
        """Samples, with entries cut where they were for training."""
        return cut(X, self._state.scale.cut_at)

    def _project(self, X: Array) -> tuple[Array, Array]:
        return self._encoded(X)[:2]

    def _light_copy(self) -> Self:
        light = super()._light_copy()
        light._state, light.encoder_ = self._state.without_samples(), self.encoder_
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

    def _learn(self, rows: Rows, problem: "ProjectionProblem | None" = None, **options: Any) -> Self:
        """Components, unless they are given with their penalties, and layers; `learn.train` takes the options."""
        require("torch", "train")
        self._contamination()
        check_choice(self.structure, "structure", STRUCTURES)
        how = self._how_to_train()
        seed = int(generator(self.random_state).integers(2**31))
        fitted = problem is None and self._overfits_samples
        problem = self._solve(rows.X, seed) if problem is None else problem
        start = Encoder.from_components(
            problem.components, rank_penalty=problem.rank_penalty, outlier_penalty=problem.outlier_penalty,
            n_layers=self.n_layers, tied=bool(self.tied), structure=self.structure,
            nonnegative_codes=self.nonnegative, nonnegative_outliers=self.nonnegative,
        )  # fmt: skip
        scale = TrainingScale.of(start, rows.X)
        training = how.train(
            start, rows, scale, max_steps=how.training.steps_for(len(rows.X)),
            validation=how.training.validation, random_state=seed, fitted=fitted,
            update_dictionary=how.update_dictionary, **options,
        )  # fmt: skip
        self.rank_penalty_, self.outlier_penalty_ = problem.rank_penalty, problem.outlier_penalty
        self._take_state(LearnedState.after_fit(how, training.encoder, scale, seed, rows), len(rows.X))
        cost = scale.units.cost_from_units
        self.history_ = np.array([(one.step, cost(one.measure)) for one in training.history])
        self.card_ = card_of(self, rows.X, training, scale.units)
        return self._calibrated(rows.X)

    def _how_to_train(self) -> EncoderTraining:
        """How the network is trained, checked."""
        training = Training() if self.training is None else self.training
        if not isinstance(training, Training):
            raise ValueError(
                f"training must be an unmingle.learn.Training, or None for the defaults, got {training!r}."
            )
        given = checked(self.forgetting, "forgetting", FORGETTING)
        fading = 1 - 1 / training.window if given == "auto" else float(given)
        return EncoderTraining(self.loss, training, bool(self.update_dictionary), fading)

    def _take_state(self, state: LearnedState, n_seen: int) -> None:
        """Make a state that of the model, after this number of samples in all."""
        self._state, self.n_samples_seen_, self.encoder_ = state, n_seen, state.encoder
        self.components_, self.n_components_ = state.encoder.components, len(state.encoder.components)

    @property
    def _overfits_samples(self) -> bool:
        """Whether the components fit their few samples too well, so that layers are trained on simulated ones."""
        return self.nonnegative and not self.update_dictionary and not LOSSES[self.loss].true_parts

    def _solve(self, X: Array, seed: int) -> "ProjectionProblem":
        """The dictionary of (4), and the penalties."""
        n_components = check_optional_count(self.n_components, "n_components")
        penalties = given_penalties(self.rank_penalty, self.outlier_penalty, X.shape[1])
        part = robust_start(X, n_components, *penalties, tol=_SOLVED, random_state=seed)
        return ProjectionProblem(part.components, part.rank_penalty, part.outlier_penalty)

    # Streams

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one more block of a stream: the window moves on, and training with it.

        Whenever ``training.window_step`` samples have come, the dictionary takes them in if ``update_dictionary``, with
        the past fading by ``forgetting``, and the encoder is trained a little on the last ``training.window`` samples.
        The first samples are learnt from as by `fit`. A model saved in mid-stream holds the samples of its window, one
        that was only fitted holds none.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing.
        y : array of shape (n_samples, 2, n_features), optional
            As in `fit`.
        """
        with unchanged_on_error(self):
            return self._take_in(X, y)

    def _take_in(self, X: Any, y: Any) -> Self:
        how, has_begun = self._how_to_train(), hasattr(self, "encoder_")
        step = how.training.window_step
        X = self._validated(X, reset=not hasattr(self, "n_features_in_"))
        news = Rows(X, self._sources(X, y))
        if has_begun and len(self._state.rows.sources) != len(news.sources):
            raise ValueError("loss was changed to or from 'source' in mid-stream; call fit to start again.")
        with limit_blas_threads(X.size):
            if not has_begun or self._state.starting:
                news = self._begin(news, how.training.window)
            waiting = self._state.fresh.followed_by(news)
            while len(waiting.X) >= step:
                n_seen = self.n_samples_seen_ + step
                self._take_state(self._state.moved_on(how, waiting.take(slice(step)), n_seen), n_seen)
                self._rows, self._stale = None, True
                waiting = waiting.take(slice(step, None))
        self._state = self._state._replace(fresh=waiting)
        return self

    def _begin(self, news: Rows, size: int) -> Rows:
        """Learn from the first samples of a stream, again whenever they have become half as many more; the others."""
        has_begun = hasattr(self, "encoder_")
        before, n_learnt = (self._state.rows, self._state.n_learnt) if has_begun else (news.take(slice(0)), 0)
        room = size - len(before.X)
        rows = before.followed_by(news.take(slice(room)))
        if len(rows.X) >= min(1.5 * n_learnt, size):
            check_matrix(rows.X)
            self._learn(rows)
        nothing = Statistics.empty(*self.components_.shape)
        self._take_state(self._state._replace(rows=rows, past=nothing, starting=len(rows.X) < size), len(rows.X))
        return news.take(slice(room, None))

    def _seen_lately(self) -> Array | None:
        return self._state.rows.X

    # Files

    def _parameters_to_store(self) -> dict[str, Any]:
        training = None if self.training is None else to_store(self.training)
        return {**super()._parameters_to_store(), "training": training}

    @classmethod
    def _parameters_from_store(cls, stored: dict[str, Any]) -> dict[str, Any]:
        training = None if stored["training"] is None else from_store(Training, stored["training"])
        return {**stored, "training": training}

    def _state_to_store(self) -> dict[str, Any]:
        return {**super()._state_to_store(), **self._state.to_store()}

    def _state_from_store(self, content: dict[str, Any]) -> None:
        super()._state_from_store(content)
        self._take_state(LearnedState.from_store(content), self.n_samples_seen_)


class ProjectionProblem(NamedTuple):
    """What the layers are trained to solve, (5)."""

    components: Array
    rank_penalty: float
    outlier_penalty: float | Array
