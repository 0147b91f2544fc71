"""`OnlineRobustPCA`: components of a stream."""

from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import store
from .._threads import suited_to
from .._validation import (
    as_floats,
    check_choice,
    check_count,
    check_matrix,
    check_optional_count,
    check_optional_forgetting,
    generator,
    given_penalties,
)
from ..encoder import MOST_LAYERS
from ..iterate import Callback, Progress
from ..online import Tracker, TrackerSettings
from ._base import Array, RobustTransformer
from ._passes import Found, Wanted
from ._stored import ONLINE_ROBUST_PCA, STEPS
from ._stream import batches, first_row, in_memory


class OnlineRobustPCA(RobustTransformer):
    r"""Robust principal components of a stream: learnt as samples come, in memory that does not grow.

    Each sample is encoded with the present components U, and then forgotten but for two sums, in which the
    past fades::

        (5)  s, o = argmin 1/2 ||x - Us - o||^2 + rank_penalty/2 ||s||^2 + outlier_penalty ||o||_1
             A <- forgetting A + s s',    B <- forgetting B + s (x - o)'
        (9)  (A + rank_penalty I) U' = B

    The first ``start_size`` samples are solved together as one matrix, so that they need not be clean. Later, samples
    that the components do not explain at all are not learnt from, unless they keep coming and have something in
    common: then the stream has jumped, and their own components are opened.

    Data are not centred: a mean is one more component. NaN means missing.

    Parameters
    ----------
    n_components : int, optional
        At most so many components; None for as many as the first samples ask for.
    rank_penalty : float or "auto"
        Larger: lower rank. "auto" is sigma (sqrt m + sqrt w), with sigma the noise level, which follows the stream, and
        w the effective number of samples in the window.
    outlier_penalty : float, array of shape (n_features,), or "auto"
        Larger: fewer outliers. "auto" is ``rank_penalty / sqrt(max(m, w))``, and 3 sqrt(q / w) times that where w is
        below 9 q.
    forgetting : float in (0, 1] or "auto"
        What every sample multiplies the weight of the past by; w tends to 1 / (1 - forgetting). "auto": early samples
        fade, the window grows with the stream to about a third of it, and shrinks when the data drift. 1: never forget.
    dictionary_step : {"block", "direct", "recursive"}
        How (9) is solved after each batch: a pass over the components, all at once, or by correcting the last solution,
        which takes half the memory.
    n_layers : int, optional
        Layers of an `Encoder` that encodes samples while learning, from the code of the last sample on: the same work
        for every sample, and less exact. None encodes exactly, by Newton's method, as `transform` always does.
    start_size : int
        Samples that are solved together at the start; at least twice ``n_components`` are taken.
    batch_size : int
        Samples encoded with the same components; larger is faster, smaller follows faster.
    random_state : int, Generator, RandomState or None
        Starts the partial SVD; None is the seed 0.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        Atoms U'; orthogonal and of falling norm, up to what the last few samples changed.
    n_components_ : int
        Number of components.
    rank_penalty_, outlier_penalty_ : float, or array if one was given
        The present penalties.
    noise_level_ : float
        The present noise level: robust scale of what neither the components nor outliers explain.
    n_samples_seen_ : int
        Number of samples taken in.
    n_jumps_ : int
        How often the stream jumped.
    frozen_ : bool
        Whether `freeze` was called.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str
        Names of the features, if the data had such.

    See Also
    --------
    unmingle.RobustPCA : for one matrix that fits into memory, with a certificate for all of it.

    References
    ----------
    .. [1] P. Sprechmann, A. M. Bronstein, G. Sapiro, "Learning Robust Low-Rank Representations", 2012.

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> rng = np.random.default_rng(0)
    >>> U = rng.standard_normal((2, 50))
    >>> model = unmingle.OnlineRobustPCA(n_components=2, random_state=0)
    >>> for _ in range(20):
    ...     block = rng.standard_normal((25, 2)) @ U + 0.01 * rng.standard_normal((25, 50))
    ...     block[rng.random(block.shape) < 0.1] += 10.0
    ...     model = model.partial_fit(block)
    >>> model.n_components_, model.n_samples_seen_
    (2, 500)
    >>> clean = np.array([[1.0, -2.0]]) @ U
    >>> dirty = clean.copy()
    >>> dirty[0, 7] = 100.0
    >>> bool(np.abs(model.decompose(dirty).low_rank - clean).max() < 0.05)
    True
    """

    _tracker: Tracker | None
    _rules: ClassVar = ONLINE_ROBUST_PCA
    _learnt: ClassVar = (
        "components_",
        "frozen_",
        "n_components_",
        "n_features_in_",
        "n_jumps_",
        "n_samples_seen_",
        "noise_level_",
        "outlier_penalty_",
        "rank_penalty_",
    )

    def __init__(
        self,
        n_components: int | None = None,
        *,
        rank_penalty: float | str = "auto",
        outlier_penalty: Any = "auto",
        forgetting: float | str = "auto",
        dictionary_step: str = "block",
        n_layers: int | None = None,
        start_size: int = 100,
        batch_size: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.rank_penalty = rank_penalty
        self.outlier_penalty = outlier_penalty
        self.forgetting = forgetting
        self.dictionary_step = dictionary_step
        self.n_layers = n_layers
        self.start_size = start_size
        self.batch_size = batch_size
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        checkpoint: str | PathLike[str] | None = None,
        every: int = 10_000,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from all samples, once and in their order; what was learnt before is forgotten.

        The samples are taken in batches of ``batch_size``, however they are stored or grouped.

        Parameters
        ----------
        X : array, DataFrame, memory map, zarr or HDF5 array, or iterable
            Samples as rows; NaN means missing. Arrays on disk are read piece by piece. An iterable yields samples or
            blocks of samples.
        y : ignored
            Not used.
        checkpoint : path, optional
            A file to which the model is written now and then. If it is there already, learning goes on after the
            samples it has seen, to the same numbers as without the interruption; `unmingle.load` reads it as a model.
        every : int
            Samples between two checkpoints, at most a batch more.
        callback : callable, optional
            Called with an `unmingle.iterate.Progress` of the samples after every batch, when the model is up to date; a
            true answer stops.
        """
        every = check_count(every, "every")
        checked = in_memory(X)
        if checked:
            X = check_matrix(self._validated(X, reset=True))
        origin, X = _origin(X)
        n_samples = X.shape[0] if hasattr(X, "shape") else None
        if checkpoint is not None and _ready(checkpoint):
            self._resume(checkpoint, origin, n_samples)
        else:
            self._start(origin)
        saved = self._n_seen
        for batch in batches(X, check_count(self.batch_size, "batch_size"), skip=saved):
            self._learn(batch if checked else self._validated(batch, reset=self._tracker is None))
            if checkpoint is not None and self._n_seen - saved >= every:
                saved = self._publish().n_samples_seen_
                self.save(checkpoint)
            if callback is not None and callback(Progress(self._publish().n_samples_seen_, n_samples)):
                break
        if self._tracker is None:
            raise ValueError("X holds no samples: there is nothing to learn from.")
        if self._tracker.has_learnt_nothing:
            raise ValueError("X holds only NaN: every entry is missing, there is nothing to learn from.")
        if checkpoint is not None and self._n_seen > saved:
            self._publish().save(checkpoint)
        self._tracker.settle()
        return self._publish()

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one more sample or block of samples; a frozen model stays as it is.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features), or one sample of shape (n_features,)
            Samples; NaN means missing.
        y : ignored
            Not used.
        """
        if getattr(self, "_tracker", None) is None:
            self._start("")
        if _is_one_sample(X):
            X = np.reshape(X, (1, -1))
        X = self._validated(X, reset=self._tracker is None)
        if not getattr(self, "frozen_", False):
            if self._tracker is not None:
                self._tracker.use(self._settings())
            for batch in batches(X, check_count(self.batch_size, "batch_size")):
                self._learn(batch)
            self._publish()
        return self

    def freeze(self, frozen: bool = True) -> Self:
        """Stop learning: `partial_fit` changes nothing any more, not a bit. ``freeze(False)`` goes on learning.

        Parameters
        ----------
        frozen : bool
            Whether to be frozen.
        """
        check_is_fitted(self)
        self.frozen_ = bool(frozen)
        return self

    def prepare_passes(self, rows: Any) -> Wanted:
        """As in `RobustPCA`; with ``forgetting`` below 1 later rows weigh more, and "auto" weighs all alike."""
        return super().prepare_passes(rows)._replace(forgetting=self._settings().forgetting or 1.0)

    def adopt_passes(self, found: Found, rows: Array) -> None:
        """Go on from what passes over all rows found, for `unmingle.distributed.fit`."""
        self._start("")
        balanced = found.balanced
        self._tracker = Tracker.from_statistics(
            self._settings(), self._rng(), balanced.components, balanced.statistics, found.n_rows, found.units,
            found.noise,
        )  # fmt: skip
        self._publish()

    @property
    def _n_seen(self) -> int:
        return self._tracker.n_seen if self._tracker else 0

    def _settings(self) -> TrackerSettings:
        """The parameters, checked."""
        n_components = check_optional_count(self.n_components, "n_components")
        start_size = check_count(self.start_size, "start_size")
        forgetting = check_optional_forgetting(self.forgetting)
        rank_penalty, outlier_penalty = given_penalties(self.rank_penalty, self.outlier_penalty, self.n_features_in_)
        return TrackerSettings(
            n_components,
            rank_penalty,
            outlier_penalty,
            forgetting,
            check_choice(self.dictionary_step, "dictionary_step", STEPS),
            max(start_size, 2 * min(n_components or 0, self.n_features_in_)),
            check_optional_count(self.n_layers, "n_layers", MOST_LAYERS),
        )

    def _start(self, origin: str) -> None:
        """Forget everything."""
        for name in set(self._learnt) - {"n_features_in_"}:
            self.__dict__.pop(name, None)
        self._tracker = None
        self._origin = origin

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def _learn(self, batch: Array) -> None:
        if self._tracker is None:
            self._tracker = Tracker.fresh(self._settings(), batch.shape[1], batch.dtype, self._rng())
        with suited_to(batch.size):
            self._tracker.learn(batch.astype(self._tracker.dtype, copy=False))

    def _rng(self) -> np.random.Generator:
        """A generator of our own, of the kind that can be stored."""
        return np.random.default_rng(generator(self.random_state).integers(2**63))

    def _publish(self) -> Self:
        """Set the attributes from the state of the tracker, in the units of the data."""
        tracker = cast(Tracker, self._tracker)
        self.components_, self.rank_penalty_, self.outlier_penalty_, self.noise_level_ = tracker.learnt
        self.n_components_ = len(self.components_)
        self.n_samples_seen_, self.n_jumps_ = tracker.n_seen, tracker.n_jumps
        self.frozen_ = getattr(self, "frozen_", False)
        return self

    def _resume(self, checkpoint: str | PathLike[str], origin: str, n_samples: int | None) -> None:
        """Go on from a checkpoint of the same model and data."""
        stored = store.read(checkpoint)
        if stored.kind != type(self).__name__:
            raise store.StoreError(f"{checkpoint} is no checkpoint: it holds a {stored.kind}.")
        loaded = store.restore(checkpoint, stored, type(self))
        then, now = loaded.get_params(), self.get_params()
        for name in sorted(set(now) - {"random_state"}):
            if not np.array_equal(then[name], now[name]):
                raise ValueError(
                    f"The checkpoint {checkpoint} was made with {name}={then[name]!r}, not {now[name]!r}; "
                    "remove it to begin anew, or choose another path."
                )
        if loaded._origin != origin:
            raise ValueError(
                f"The checkpoint {checkpoint} belongs to other data; remove it to begin anew, or choose another path."
            )
        if n_samples is not None and n_samples < loaded.n_samples_seen_:
            raise ValueError(
                f"The checkpoint {checkpoint} has seen {loaded.n_samples_seen_} samples, but X holds only {n_samples}; "
                "remove it to begin anew, or choose another path."
            )
        self.__dict__.update({name: value for name, value in vars(loaded).items() if name not in now})
        self.frozen_ = False

    def _state_to_store(self) -> dict[str, Any]:
        return {"stream": {"origin": self._origin, "tracker": cast(Tracker, self._tracker)._to_store()}}

    def _state_from_store(self, content: dict[str, Any]) -> None:
        stream = content["stream"]
        self._origin = str(stream["origin"])
        self._tracker = Tracker._from_store({**stream["tracker"], "settings": self._settings()})


def _is_one_sample(X: Any) -> bool:
    if isinstance(X, list | tuple):
        return bool(X) and np.isscalar(X[0]) and not isinstance(X[0], str)
    return getattr(X, "ndim", 2) == 1 and not hasattr(X, "toarray")


def _ready(checkpoint: str | PathLike[str]) -> bool:
    """Whether there is a checkpoint; if not, one can be written."""
    path = Path(checkpoint)
    if not path.parent.is_dir():
        raise store.StoreError(f"{checkpoint} cannot be written: there is no folder {path.parent}.")
    return path.exists()


def _origin(X: Any) -> tuple[str, Any]:
    """What tells one source of samples from another, a digest of the first; and the source, with nothing missing."""
    row, X = first_row(X)
    return ("" if row is None else sha256(as_floats(row).astype(np.float64).tobytes()).hexdigest()), X
