"""Dask: data that lie on many machines, or do not fit into one.

A pass over the data is a map and a reduce. Every chunk of rows is encoded where it lies, by exact robust projection
(5), and returns its `Statistics`: q (q + m) numbers. These are summed up in a tree, and the dictionary step (9) is made
where `fit` was called. Several passes are alternating minimisation of (4), as if all rows were in one place.

Everything here is made of Dask's own collections, so that the scheduler is Dask's business: threads by default, all
machines of a cluster if there is a `distributed.Client`. What a lost worker had done is done again, with the same
numbers.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import ceil
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from ._threads import limit_blas_threads
from ._types import Array
from ._validation import check_count, check_positive, require
from .core.iterate import Callback, Result, run
from .core.linalg.memory import empty_unaliased
from .core.linalg.units import Units
from .core.online.noise import noise_and_floor
from .core.online.nonnegative import nonnegative_misfit, nonnegative_step, scale_atoms
from .core.online.start import robust_start
from .core.online.statistics import Balanced, Statistics, balance, direct_step
from .core.penalties import from_noise, matching_outlier_penalty, nonnegative_from_noise
from .core.solvers.nonnegative import nonnegative_newton
from .core.solvers.projection import newton
from .estimators.distributed_protocol import Distributable, PassRequest, PassResult, Projector
from .kernels.matrix import huber_sums

require("dask.array", "dask")

import dask.array as da  # noqa: E402
from dask.base import compute  # noqa: E402
from dask.delayed import delayed  # noqa: E402

__all__ = ["LazyDecomposition", "decompose", "fit"]

Model = TypeVar("Model", bound=Distributable)


@dataclass(frozen=True)
class _PassSizes:
    """How much of the work is done at once in a pass over the data."""

    fan_in: int = 8
    """One task sums up the statistics of this many chunks."""
    rows_at_once: int = 512
    """Rows of a chunk that are encoded together, so that they stay in the cache."""
    descents: int = 30
    """Passes over nonnegative atoms in a dictionary step."""
    places_of_start: int = 8
    """The rows of the start are spread over this many chunks at least."""


_PASSES = _PassSizes()
_EXACT = {"float64": 1e-12, "float32": 1e-6}
"""Relative gap to which samples are encoded, in each precision."""
_INFINITE = "X contains infinity; replace it, by NaN if the entry is to count as missing."
_NEGATIVE = "X contains negative values; make them 0, or NaN if they are unknown, or use a model that allows any sign."


class SharedProblem(NamedTuple):
    """What a chunk must know to be encoded, apart from the components; in units of its own."""

    lam_star: float
    lam: Array
    units: Units
    forgetting: float
    nonnegative: bool = False


class Summary(NamedTuple):
    """What a pass brings back from a chunk, or from many."""

    statistics: Statistics
    cost: float
    """Sum of (5) over the samples."""
    energy: float
    """Sum of squares of the samples freed of outliers."""


class Pass(NamedTuple):
    """An iterate of (4): components, and what all samples say about them."""

    components: Array
    summary: Summary
    lam_star: float
    nonnegative: bool = False

    @property
    def stationarity(self) -> float:
        """How far (4) is from stationary."""
        measure = nonnegative_misfit if self.nonnegative else Statistics.stationarity
        return measure(self.summary.statistics, self.components, self.lam_star)

    def improved(self) -> Balanced:
        """The components that are best for the codes of this pass, balanced; nonnegative ones nearly, and scaled."""
        statistics = self.summary.statistics
        if self.nonnegative:
            moved = nonnegative_step(statistics, self.components, self.lam_star, _PASSES.descents)
            return scale_atoms(statistics, moved.astype(self.components.dtype))
        return balance(statistics, direct_step(statistics, self.lam_star).astype(self.components.dtype))


class LazyDecomposition(NamedTuple):
    """Parts of a Dask array, computed chunk by chunk when asked for: ``X = low_rank + outliers + residual``."""

    codes: Any
    low_rank: Any
    outliers: Any
    residual: Any
    sample_gap: Any


def fit(
    model: Model,
    X: Any,
    *,
    max_passes: int = 20,
    tol: float = 1e-3,
    start_size: int = 1000,
    callback: Callback | None = None,
) -> Model:
    """Fit a model to a Dask array by alternating minimisation of (4), one pass over all chunks at a time.

    The start is the robust solution for ``start_size`` rows from chunks spread over the array, which also gives the
    number of components and the automatic penalties. Penalties stay the same in all passes.

    Per pass and sample: some 20 m q flops. Moved per pass: m q numbers to every worker, and as many for every chunk.

    Parameters
    ----------
    model : RobustPCA, OnlineRobustPCA, LearnedRobustPCA, RobustNMF or OnlineRobustNMF
        What to fit; its parameters count, but for ``init``, ``tol``, ``max_iter``, ``dictionary_step`` and
        the ``batch_size`` of streams. With ``forgetting`` below 1, later rows of a stream weigh more; "auto" weighs all
        alike. The encoder of a LearnedRobustPCA is trained here, on the rows of the start, once the dictionary is
        found.
    X : dask array of shape (n_samples, n_features)
        Samples as rows, in chunks of whole rows or else rechunked to such; NaN means missing.
    max_passes : int
        Passes over the data at most.
    tol : float
        Stop when the stationarity residual of (4) is at most this.
    start_size : int
        Rows of the start.
    callback : callable, optional
        Called with an `unmingle.core.iterate.Progress` after each pass; a true answer stops.

    Returns
    -------
    RobustPCA, OnlineRobustPCA, LearnedRobustPCA, RobustNMF or OnlineRobustNMF
        The same model, fitted. ``RobustPCA.gap_`` is NaN: a certificate of (2) would take the norm of all residuals;
        ``objective_`` is that of the last pass, before its dictionary step, which only lowers it.

    Examples
    --------
    >>> import dask.array as da, unmingle
    >>> made = unmingle.synth.low_rank_plus_sparse(600, 40, 2, noise=0.05, random_state=0)
    >>> X = da.from_array(made.X, chunks=(100, 40))
    >>> model = unmingle.distributed.fit(unmingle.RobustPCA(random_state=0), X)
    >>> model.n_components_, model.converged_
    (2, True)
    """
    _check_kind(model)
    max_passes, tol = check_count(max_passes, "max_passes"), check_positive(tol, "tol")
    X = _in_rows(X)
    request = model.begin_passes(_spread_rows(X, check_count(start_size, "start_size")))
    problem, components, noise = _start(request, len(X))
    passes = _passes(X, components, problem)
    result = run(passes, lambda state: state.stationarity, tol=tol, max_iter=max_passes, callback=callback)
    model.finish_passes(_found(result, problem, noise, len(X)), request.rows)
    if not result.converged:
        _warn_unfinished(result, tol)
    return model


def _check_kind(model: Any) -> None:
    if not isinstance(model, Distributable):
        raise TypeError(
            "model must be a RobustNMF, OnlineRobustNMF, RobustPCA, OnlineRobustPCA or LearnedRobustPCA, or else have "
            f"the methods of unmingle.estimators.distributed_protocol.Distributable, got a {type(model).__name__}."
        )


def decompose(model: Distributable, X: Any) -> LazyDecomposition:
    """Low-rank part, outliers and residual of a Dask array, chunk by chunk when they are computed or stored.

    Parameters
    ----------
    model : RobustPCA, OnlineRobustPCA, LearnedRobustPCA, RobustNMF or OnlineRobustNMF
        Fitted.
    X : dask array of shape (n_samples, n_features)
        Samples; NaN means missing.

    Returns
    -------
    LazyDecomposition
        Dask arrays ``codes``, ``low_rank``, ``outliers``, ``residual`` and ``sample_gap``. Store what you need of them
        in one go, with ``dask.array.store`` or ``dask.compute``, and every chunk is encoded only once.

    Examples
    --------
    >>> import dask.array as da, unmingle
    >>> made = unmingle.synth.low_rank_plus_sparse(600, 40, 2, noise=0.05, random_state=0)
    >>> X = da.from_array(made.X, chunks=(100, 40))
    >>> model = unmingle.RobustPCA(random_state=0).fit(made.X[:200])
    >>> unmingle.distributed.decompose(model, X).outliers.chunks
    ((100, 100, 100, 100, 100, 100), (40,))
    """
    _check_kind(model)
    X = _in_rows(X)
    projector = model.projector()
    if X.shape[1] != projector.n_features:
        raise ValueError(f"X must have the {projector.n_features} features of the model, got {X.shape[1]}.")
    light, q = delayed(projector, pure=True), projector.n_components
    empty = np.empty((0, 0), X.dtype)
    coded = da.map_blocks(_coded_block, X, light, chunks=(X.chunks[0], (q + 1,)), meta=empty)
    low_rank, outliers, residual = (
        da.map_blocks(_part_of_block, X, coded, light, part=part, chunks=X.chunks, meta=empty)
        for part in ("low_rank", "outliers", "residual")
    )
    return LazyDecomposition(coded[:, :q], low_rank, outliers, residual, coded[:, q])


def _in_rows(X: Any) -> Any:
    """X in chunks of whole rows, of floats."""
    if not isinstance(X, da.Array):
        raise TypeError(
            f"X must be a dask array, got {type(X).__name__}; wrap it with dask.array.from_array or from_zarr."
        )
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, samples by features, got {X.ndim}.")
    if any(np.isnan(length) for lengths in X.chunks for length in lengths):
        X = X.compute_chunk_sizes()
    if 0 in X.shape:
        raise ValueError(f"X must hold at least one sample and one feature, got shape {X.shape}.")
    if X.dtype not in (np.float32, np.float64):
        if X.dtype.kind not in "biuf":
            raise ValueError(f"X must hold real numbers, got {X.dtype}.")
        X = X.astype(np.float64)
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _spread_rows(X: Any, count: int) -> Array:
    """About ``count`` rows, the first ones of chunks spread over X."""
    lengths = X.chunks[0]
    places = min(len(lengths), max(_PASSES.places_of_start, ceil(count / max(min(lengths), 1))))
    chosen = np.unique(np.linspace(0, len(lengths) - 1, places).astype(int))
    each = ceil(count / len(chosen))
    return np.concatenate(compute(*(X.blocks[int(place)][:each] for place in chosen)))


def _start(request: PassRequest, n: int) -> tuple[SharedProblem, Array, tuple[float, float]]:
    """The problem for all n rows, components to start from, and the noise level with its floor; all in its units."""
    units = Units.of(request.rows)
    rows = units.to_units(request.rows)
    m = rows.shape[1]
    rank_penalty, outlier_penalty = map(units.to_units, (request.rank_penalty, request.outlier_penalty))
    part = robust_start(
        rows, request.n_components, rank_penalty, outlier_penalty, tol=1e-4, random_state=request.random_state,
        nonnegative=request.nonnegative,
    )  # fmt: skip
    if part.rank == 0:
        raise ValueError("No component stands out in the rows of the start; lower rank_penalty or raise start_size.")
    noise = noise_and_floor(part, rows, automatic=rank_penalty is None, nonnegative=request.nonnegative)
    of_noise = nonnegative_from_noise if request.nonnegative else from_noise
    forgetting = request.forgetting
    window = n if forgetting == 1 else (1 - forgetting**n) / (1 - forgetting)
    lam_star = of_noise(noise[0], window, m).rank_penalty if rank_penalty is None else part.rank_penalty
    automatic = matching_outlier_penalty(lam_star, window, m, nonnegative=request.nonnegative)
    lam = np.full(m, automatic if outlier_penalty is None else part.outlier_penalty).astype(rows.dtype)
    seen = Statistics.of(part.codes, np.zeros((len(rows), 0))).forget(window / len(rows))
    start = (scale_atoms if request.nonnegative else balance)(seen, part.components)
    return SharedProblem(lam_star, lam, units, forgetting, request.nonnegative), start.components, noise


def _passes(X: Any, components: Array, problem: SharedProblem) -> Iterator[Pass]:
    """Alternate between codes and components for ever."""
    chunks = X.to_delayed().ravel()
    while True:
        shared = delayed((components, problem), pure=True)
        summaries = [_summary_of_chunk(chunk, shared) for chunk in chunks]
        with threadpool_limits(1, user_api="blas"):  # here the threads are the scheduler's
            (summary,) = compute(_tree_sum(summaries))
        state = Pass(components, summary, problem.lam_star, problem.nonnegative)
        yield state
        components = state.improved().components


@delayed(pure=True)
def _summary_of_chunk(rows: Array, shared: tuple[Array, SharedProblem]) -> Summary:
    return summarise(rows, *shared)


@delayed(pure=True)
def _summary_of_all(summaries: Sequence[Summary]) -> Summary:
    return reduce(_merge, summaries)


def _tree_sum(summaries: Sequence[Any]) -> Any:
    while len(summaries) > 1:
        summaries = [
            _summary_of_all(summaries[i : i + _PASSES.fan_in]) for i in range(0, len(summaries), _PASSES.fan_in)
        ]
    return summaries[0]


def _merge(earlier: Summary, later: Summary) -> Summary:
    return Summary(earlier.statistics.merge(later.statistics), earlier.cost + later.cost, earlier.energy + later.energy)


def summarise(rows: Array, components: Array, problem: SharedProblem) -> Summary:
    """Encode a chunk and sum up what it says of the components.

    Parameters
    ----------
    rows : array of shape (n, m)
        Samples, NaN where missing.
    components : array of shape (q, m)
        U', in the units of the problem.
    problem : SharedProblem
        Penalties, units and forgetting.
    """
    total = Summary(Statistics.empty(*components.shape), 0.0, 0.0)
    room = empty_unaliased((2, min(len(rows), _PASSES.rows_at_once), rows.shape[1]), rows.dtype)
    with limit_blas_threads(room.size):
        for i in range(0, len(rows), _PASSES.rows_at_once):
            some = rows[i : i + _PASSES.rows_at_once]
            X = problem.units.to_units(some, out=room[0, : len(some)])
            _check_values(X, problem.nonnegative)
            total = _merge(total, _summarise(X, components, problem, room[1, : len(some)]))
    return total


def _check_values(X: Array, nonnegative: bool) -> None:
    """Refuse infinite entries, and negative ones where there must be none."""
    least, most = np.fmin.reduce(X, axis=None), np.fmax.reduce(X, axis=None)
    if np.isinf([least, most]).any() or (nonnegative and least < 0):
        raise ValueError(_INFINITE if np.isinf([least, most]).any() else _NEGATIVE)


def _summarise(X: Array, components: Array, problem: SharedProblem, residual: Array) -> Summary:
    """The same for a few rows, in memory that every block uses; with x - o = Us + r, B = A U' + sum of s r'."""
    project = nonnegative_newton if problem.nonnegative else newton
    codes = next(project(X, components, problem.lam_star, problem.lam, tol=_EXACT[X.dtype.name])).codes
    if problem.nonnegative:
        value, square = _sums_below(X, codes, components, problem.lam, residual)
    else:
        value, _, square = huber_sums(X, codes, components, problem.lam, residual)
    of_residual = Statistics.of(codes, residual, problem.forgetting)
    of_low_rank = of_residual.A @ components
    cost = value + 0.5 * problem.lam_star * float(np.sum(codes**2, dtype=np.float64))
    energy = square + float(np.sum((of_low_rank + 2 * of_residual.B) * components))
    return Summary(of_residual._replace(B=of_low_rank + of_residual.B), cost, energy)


def _sums_below(X: Array, codes: Array, components: Array, lam: Array, residual: Array) -> tuple[float, float]:
    """Make the residual min(X - US, lam); sums of what it and nonnegative outliers cost, and of its squares."""
    np.subtract(X, codes @ components, out=residual)
    np.nan_to_num(residual, copy=False, nan=0.0)
    beyond = np.sum(np.maximum(residual - lam, 0), axis=0, dtype=np.float64)
    np.minimum(residual, lam, out=residual)
    square = float(np.sum(residual**2, dtype=np.float64))
    return 0.5 * square + float(beyond @ lam), square


def _found(result: Result[Pass], problem: SharedProblem, noise: tuple[float, float], n: int) -> PassResult:
    """What the passes found: the components that are best for the codes of the last one."""
    last = result.state
    cost = last.summary.cost + 0.5 * problem.lam_star * float(np.sum(last.components**2))
    return PassResult(
        last.improved(), problem.lam_star, problem.lam, problem.units, noise, cost, last.summary.energy, n,
        result.n_iter, result.measure, result.converged,
    )  # fmt: skip


def _coded_block(rows: Array, projector: Projector) -> Array:
    """Codes, and the gap as one more column."""
    if len(rows) == 0:
        return np.zeros((0, projector.n_components + 1), rows.dtype)
    _check_values(rows, projector.nonnegative)
    with limit_blas_threads(rows.size):
        codes, gap = projector.project(np.ascontiguousarray(rows))
    return np.column_stack([codes, gap.astype(codes.dtype)])


def _part_of_block(rows: Array, coded: Array, projector: Projector, part: str) -> Array:
    if len(rows) == 0:
        return rows
    return getattr(projector.assemble(rows, np.ascontiguousarray(coded[:, :-1]), coded[:, -1]), part)


def _warn_unfinished(result: Result[Pass], tol: float) -> None:
    warnings.warn(
        f"Stopped after {result.n_iter} passes at a stationarity residual of {result.measure:.1e}, "
        f"above tol={tol:.1e}; raise max_passes or tol.",
        ConvergenceWarning,
        stacklevel=3,
    )
