"""What estimators of streams share: learning as samples come, checkpoints, freezing, and the way to and from files."""

from abc import abstractmethod
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import store
from .._rollback import unchanged_on_error
from .._threads import limit_blas_threads
from .._types import Array
from .._validation import (
    as_floats,
    check_count,
    check_optional_count,
    check_optional_forgetting,
    generator,
    given_penalties,
    within_range,
)
from ..core.iterate import Callback, Progress
from ..core.online.settings import TrackerSettings
from ..core.online.tracker import Tracker
from .base import RobustTransformer
from .passes import Found, Wanted
from .stream import RecentRows, batches, first_row, in_memory


class StreamTransformer(RobustTransformer):
    """Components that a `Tracker` learns from a stream; what kind of them, `_steps` says."""

    n_components: int | None
    rank_penalty: float | str
    outlier_penalty: Any
    forgetting: float | str
    start_size: int
    batch_size: int
    random_state: Any
    _tracker: Tracker | None
    _recent: RecentRows
    """The last rows, which tell what is ordinary now."""
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
            Called with an `unmingle.core.iterate.Progress` of the samples after every batch, when the model is up to
            date; a true answer stops.
        """
        every = check_count(every, "every")
        checked = in_memory(X)
        if checked:
            X = self._to_learn_from(X)
        origin, X = _origin(X)
        n_samples = X.shape[0] if hasattr(X, "shape") else None
        if checkpoint is not None and _ready(checkpoint):
            self._resume(checkpoint, origin, n_samples)
        else:
            self._start(origin)
        saved, size = self._n_seen, check_count(self.batch_size, "batch_size")
        again = self._recent.to_read_again(saved, self.n_features_in_, size) if saved else 0
        for batch in batches(X, size, skip=saved - again):
            if again > 0:
                self._recent.add(batch if checked else self._validated(batch, reset=False))
                again -= len(batch)
                continue
            self._learn(batch if checked else self._validated(batch, reset=self._tracker is None))
            if checkpoint is not None and self._n_seen - saved >= every:
                saved = self._publish().n_samples_seen_
                self.save(checkpoint)
            if callback is not None and callback(Progress(self._publish().n_samples_seen_, n_samples)):
                break
        if self._tracker is None:
            raise ValueError("X contains no samples.")
        if self._tracker.has_learnt_nothing:
            raise ValueError("X contains only NaN: every entry is missing.")
        if checkpoint is not None and self._n_seen > saved:
            self._publish().save(checkpoint)
        self._tracker.settle()
        self._publish()._row_model()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one more sample or block of samples; a frozen model stays as it is, and so does one that fails.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features), or one sample of shape (n_features,)
            Samples; NaN means missing.
        y : ignored
            Not used.
        """
        with unchanged_on_error(self):
            if getattr(self, "_tracker", None) is None:
                self._start("")
            if _is_one_sample(X):
                X = np.reshape(X, (1, -1))
            X = self._validated(X, reset=self._tracker is None)
            if not getattr(self, "frozen_", False):
                self._follow(X)
        return self

    def _follow(self, X: Array) -> None:
        """Learn from samples, with a copy of what learns."""
        self._recent = self._recent.copied()
        if self._tracker is not None:
            self._tracker = self._tracker.copied()
            self._tracker.use(self._settings())
        for batch in batches(X, check_count(self.batch_size, "batch_size")):
            self._learn(batch)
        self._publish()

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
        self._publish()._calibrated(rows)

    @property
    def _n_seen(self) -> int:
        return self._tracker.n_seen if self._tracker else 0

    def _settings(self) -> TrackerSettings:
        """The parameters, checked."""
        n_components = check_optional_count(self.n_components, "n_components")
        start_size = check_count(self.start_size, "start_size")
        self._contamination()
        forgetting = check_optional_forgetting(self.forgetting)
        kind, n_layers = self._steps()
        rank_penalty, outlier_penalty = given_penalties(self.rank_penalty, self.outlier_penalty, self.n_features_in_)
        return TrackerSettings(
            n_components,
            rank_penalty,
            outlier_penalty,
            forgetting,
            kind,
            max(start_size, 2 * min(n_components or 0, self.n_features_in_)),
            n_layers,
        )

    @abstractmethod
    def _steps(self) -> tuple[str, int | None]:
        """The kind of the dictionary steps, and the layers that encode samples while learning, checked."""

    def _start(self, origin: str) -> None:
        """Forget everything."""
        for name in set(self._learnt) - {"n_features_in_"}:
            self.__dict__.pop(name, None)
        self._tracker = None
        self._origin = origin
        self._rows, self._seen, self._offset, self._stale = None, None, 0.0, False
        self._recent = RecentRows(self.start_size)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def _learn(self, batch: Array) -> None:
        if self._tracker is None:
            self._tracker = Tracker.fresh(self._settings(), batch.shape[1], batch.dtype, self._rng())
        with limit_blas_threads(batch.size):
            self._tracker.learn(batch.astype(self._tracker.dtype, copy=False))
        self._recent.add(batch)
        self._stale = True

    def _seen_lately(self) -> Array | None:
        return self._recent.rows()

    def _rng(self) -> np.random.Generator:
        """A generator of our own, of the kind that can be stored."""
        return np.random.default_rng(generator(self.random_state).integers(2**63))

    def _publish(self) -> Self:
        """Set the attributes from the state of the tracker, in the units of the data."""
        tracker = cast(Tracker, self._tracker)
        self.components_, self.rank_penalty_, self.outlier_penalty_, self.noise_level_ = tracker.learnt
        within_range(self.components_, type(self).__name__)
        self.n_components_ = len(self.components_)
        self.n_samples_seen_, self.n_jumps_ = tracker.n_seen, tracker.n_jumps
        self.frozen_ = getattr(self, "frozen_", False)
        return self

    def _resume(self, checkpoint: str | PathLike[str], origin: str, n_samples: int | None) -> None:
        """Go on from a checkpoint of the same model and data."""
        stored = store.read(checkpoint)
        if stored.kind != type(self).__name__:
            raise store.StoreError(f"{checkpoint} is not a checkpoint: it contains a {stored.kind}.")
        loaded = store.restore(checkpoint, stored, type(self))
        then, now = loaded.get_params(), self.get_params()
        for name in sorted(set(now) - {"random_state"}):
            if not np.array_equal(then[name], now[name]):
                raise ValueError(
                    f"The checkpoint {checkpoint} was made with {name}={then[name]!r}, not {now[name]!r}; "
                    "delete it to start again, or choose another path."
                )
        if loaded._origin != origin:
            raise ValueError(
                f"The checkpoint {checkpoint} belongs to other data; delete it to start again, or choose another path."
            )
        if n_samples is not None and n_samples < loaded.n_samples_seen_:
            raise ValueError(
                f"The checkpoint {checkpoint} has seen {loaded.n_samples_seen_} samples, but X contains only "
                f"{n_samples}; delete it to start again, or choose another path."
            )
        self.__dict__.update({name: value for name, value in vars(loaded).items() if name not in now})
        self.frozen_ = False

    def _state_to_store(self) -> dict[str, Any]:
        return {"stream": {"origin": self._origin, "tracker": cast(Tracker, self._tracker)._to_store()}}

    def _state_from_store(self, content: dict[str, Any]) -> None:
        stream = content["stream"]
        self._recent = RecentRows(self.start_size)
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
