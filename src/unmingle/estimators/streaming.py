"""What estimators of streams share: learning as samples come, checkpoints, freezing, and the way to and from files."""

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import store
from .._rules import Count, Flag, Number, Record, Rule, Text
from .._threads import limit_blas_threads
from .._types import Array
from .._validation import as_floats, check_count, generator, given_penalties, within_range
from ..core.iterate import Callback, Progress
from ..core.online.tracker import TRACKER, Tracker, TrackerSettings
from .base import FITTED, FORGETTING, GIVEN, RobustTransformer
from .distributed_protocol import PassRequest, PassResult
from .row_sources import RecentRows, batches, first_row, in_memory

STREAM_GIVEN: Mapping[str, Rule] = {
    **GIVEN,
    "forgetting": FORGETTING,
    "start_size": Count(1),
    "batch_size": Count(1),
}
"""Parameters of all estimators that follow a stream."""
STREAM_FITTED: Mapping[str, Rule] = {
    **FITTED,
    "frozen_": Flag(),
    "n_jumps_": Count(),
    "n_samples_seen_": Count(),
    "noise_level_": Number(0.0),
}
"""Attributes of all of them."""


@dataclass(frozen=True, eq=False)
class StreamState:
    """Where an estimator is in its stream."""

    recent: RecentRows
    """The last rows, which tell what is ordinary now."""
    origin: str = ""
    """What tells this source of samples from others; "" for blocks that are given one by one."""
    tracker: Tracker | None = None
    """None before the first sample."""

    @property
    def n_seen(self) -> int:
        """Number of samples seen."""
        return self.tracker.n_seen if self.tracker else 0


class StreamTransformer(RobustTransformer):
    """Components that a `Tracker` learns from a stream; what kind of them, `_kind_and_layers` says."""

    n_components: int | None
    rank_penalty: float | str
    outlier_penalty: Any
    forgetting: float | str
    start_size: int
    batch_size: int
    random_state: Any
    _attribute_rules: ClassVar = STREAM_FITTED
    _state_rules: ClassVar = {"stream": Record({"origin": Text(), "tracker": TRACKER})}
    _stream: StreamState | None = None

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
            stream = self._resume(checkpoint, origin, n_samples)
        else:
            stream = self._forget(origin)
        saved, size = stream.n_seen, check_count(self.batch_size, "batch_size")
        again = stream.recent.to_read_again(saved, self.n_features_in_, size) if saved else 0
        for batch in batches(X, size, skip=saved - again):
            rows = batch if checked else self._validated(batch, reset=stream.tracker is None)
            if again > 0:
                stream = replace(stream, recent=stream.recent.add(rows))
                again -= len(rows)
                continue
            stream = self._stream = self._learnt_from(stream, rows)
            if checkpoint is not None and stream.n_seen - saved >= every:
                saved = self._publish().n_samples_seen_
                self.save(checkpoint)
            if callback is not None and callback(Progress(self._publish().n_samples_seen_, n_samples)):
                break
        if stream.tracker is None:
            raise ValueError("X contains no samples.")
        if stream.tracker.has_learnt_nothing:
            raise ValueError("X contains only NaN: every entry is missing.")
        self._stream = stream
        if checkpoint is not None and stream.n_seen > saved:
            self._publish().save(checkpoint)
        self._stream = replace(stream, tracker=stream.tracker.settled())
        self._publish()
        self._ordinary_rows()
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
        if _is_one_sample(X):
            X = np.reshape(X, (1, -1))
        learnt = copy(self)  # all that it holds are values, so what fails leaves self as it was
        learnt._follow(X)
        self.__dict__.update(vars(learnt))
        return self

    def _follow(self, X: Any) -> None:
        """Learn from samples, unless frozen."""
        stream = self._stream or StreamState(RecentRows(self.start_size))
        X = self._validated(X, reset=stream.tracker is None)
        if getattr(self, "frozen_", False):
            return
        if stream.tracker is not None:
            stream = replace(stream, tracker=stream.tracker.with_settings(self._settings()))
        for batch in batches(X, check_count(self.batch_size, "batch_size")):
            stream = self._learnt_from(stream, batch)
        self._stream = stream
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

    def begin_passes(self, rows: Any) -> PassRequest:
        """As in `RobustPCA`; with ``forgetting`` below 1 later rows weigh more, and "auto" weighs all alike."""
        return super().begin_passes(rows)._replace(forgetting=self._settings().forgetting or 1.0)

    def finish_passes(self, result: PassResult, rows: Array) -> None:
        """Go on from what passes over all rows found, for `unmingle.distributed.fit`."""
        balanced = result.balanced
        tracker = Tracker.from_statistics(
            self._settings(), self._rng(), balanced.components, balanced.statistics, result.n_rows, result.units,
            result.noise,
        )  # fmt: skip
        self._stream = replace(self._forget(""), tracker=tracker)
        self._publish()
        self._calibrated(rows)

    def _settings(self) -> TrackerSettings:
        """The parameters, checked."""
        given = self._checked_parameters()
        rank_penalty, outlier_penalty = given_penalties(self.rank_penalty, self.outlier_penalty, self.n_features_in_)
        n_components, forgetting = given["n_components"], given["forgetting"]
        kind, n_layers = self._kind_and_layers(given)
        return TrackerSettings(
            n_components,
            rank_penalty,
            outlier_penalty,
            None if forgetting == "auto" else forgetting,
            kind,
            max(given["start_size"], 2 * min(n_components or 0, self.n_features_in_)),
            n_layers,
        )

    @abstractmethod
    def _kind_and_layers(self, given: Mapping[str, Any]) -> tuple[str, int | None]:
        """The kind of the dictionary steps, and the layers that encode samples while learning."""

    def _forget(self, origin: str) -> StreamState:
        """Forget all that was learnt; gives the state at the start of a stream."""
        for name in {*self._attribute_rules, "_stream"} - {"n_features_in_"}:
            self.__dict__.pop(name, None)
        self._rows, self._stale = None, False
        return StreamState(RecentRows(self.start_size), origin)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def _learnt_from(self, stream: StreamState, batch: Array) -> StreamState:
        """The state after a batch of samples."""
        tracker = stream.tracker
        if tracker is None:
            tracker = Tracker.fresh(self._settings(), batch.shape[1], batch.dtype, self._rng())
        with limit_blas_threads(batch.size):
            tracker = tracker.learn(batch.astype(tracker.dtype, copy=False))
        self._stale = True
        return replace(stream, tracker=tracker, recent=stream.recent.add(batch))

    def _seen_lately(self) -> Array | None:
        return self._stream.recent.rows() if self._stream else None

    def _rng(self) -> np.random.Generator:
        """A generator of our own, of the kind that can be stored."""
        return np.random.default_rng(generator(self.random_state).integers(2**63))

    def _publish(self) -> Self:
        """Set the attributes from the state of the tracker, in the units of the data."""
        tracker = cast(Tracker, cast(StreamState, self._stream).tracker)
        self.components_, self.rank_penalty_, self.outlier_penalty_, self.noise_level_ = tracker.learnt
        within_range(self.components_, type(self).__name__)
        self.n_components_ = len(self.components_)
        self.n_samples_seen_, self.n_jumps_ = tracker.n_seen, tracker.n_jumps
        self.frozen_ = getattr(self, "frozen_", False)
        return self

    def _resume(self, checkpoint: str | PathLike[str], origin: str, n_samples: int | None) -> StreamState:
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
        if stored.parameters["stream"]["origin"] != origin:
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
        return cast(StreamState, self._stream)

    def _state_to_store(self) -> dict[str, Any]:
        stream = cast(StreamState, self._stream)
        tracker = cast(Tracker, stream.tracker)
        return {**super()._state_to_store(), "stream": {"origin": stream.origin, "tracker": tracker._to_store()}}

    def _state_from_store(self, content: dict[str, Any]) -> None:
        super()._state_from_store(content)
        stream = content["stream"]
        tracker = Tracker._from_store(stream["tracker"], self._settings())
        self._stream = StreamState(RecentRows(self.start_size), str(stream["origin"]), tracker)


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
