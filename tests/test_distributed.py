"""Dask: the same numbers as one machine, wherever the chunks lie and whoever dies."""

import os
import signal
from functools import reduce

import dask
import dask.array as da
import numpy as np
import pytest
import zarr
from distributed import Client, LocalCluster
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import unmingle
from unmingle import OnlineRobustNMF, OnlineRobustPCA, RobustNMF, RobustPCA, distributed
from unmingle.core.linalg.units import Units
from unmingle.core.online.statistics import Statistics, balance, direct_step
from unmingle.core.solvers.nonnegative import nonnegative_newton
from unmingle.core.solvers.projection import newton
from unmingle.distributed import SharedProblem, _spread_rows, _start, summarise
from unmingle.estimators.distributed_protocol import PassRequest

CHUNK = 150


@pytest.fixture(scope="module")
def made():
    return unmingle.synth.low_rank_plus_sparse(1200, 60, 3, noise=0.05, missing=0.02, random_state=0)


@pytest.fixture(scope="module")
def X(made):
    return da.from_array(made.X, chunks=(CHUNK, 60))


@pytest.fixture(scope="module")
def cluster():
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "60s"}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def passes_in_numpy(model, X, count):
    """The same map and reduce, written out for one machine: codes by Newton, sums, (9), balance."""
    chunks = [np.asarray(X.blocks[k]) for k in range(X.numblocks[0])]
    problem, components, _ = _start(model.begin_passes(_spread_rows(X, 1000)), len(X))
    lam_star, lam, unit = problem.lam_star, problem.lam, problem.units.root**2
    for _ in range(count):
        sums = Statistics.empty(*components.shape)
        for chunk in chunks:
            codes = next(newton(chunk / unit, components, lam_star, lam, tol=1e-12)).codes
            low_rank = codes @ components
            cleaned = low_rank + np.nan_to_num(np.clip(chunk / unit - low_rank, -lam, lam))
            sums = Statistics(sums.A + codes.T @ codes, sums.B + codes.T @ cleaned, sums.weight + len(chunk), 1.0)
        components = balance(sums, np.linalg.solve(sums.system(lam_star), sums.B)).components
    return components * problem.units.root


@pytest.mark.parametrize("model", [RobustPCA(random_state=0), OnlineRobustPCA(random_state=0, forgetting=1.0)])
def test_cluster_gives_the_numbers_of_one_machine(model, X, cluster):
    with pytest.warns(ConvergenceWarning, match="3 passes"):
        distributed.fit(model, X, max_passes=3, tol=1e-9)
    expected = passes_in_numpy(model, X, 3)
    assert np.abs(model.components_ - expected).max() <= 1e-8 * np.abs(expected).max()


@pytest.fixture(scope="module")
def parts():
    """Nonnegative samples, some entries missing."""
    X = np.concatenate([b.X for b in unmingle.synth.nonnegative_stream(1200, 60, 3, noise=0.05, random_state=0)])
    X[np.random.default_rng(0).random(X.shape) < 0.02] = np.nan
    return X


def nonnegative_passes_in_numpy(model, X, count):
    """The same for nonnegative factors: exact codes, sums, 30 passes over the atoms, and a scale for each."""
    chunks = [np.asarray(X.blocks[k]) for k in range(X.numblocks[0])]
    problem, components, _ = _start(model.begin_passes(_spread_rows(X, 1000)), len(X))
    lam_star, lam, unit = problem.lam_star, problem.lam, problem.units.root**2
    for _ in range(count):
        A, B = np.zeros((len(components),) * 2), np.zeros(components.shape)
        for chunk in chunks:
            codes = next(nonnegative_newton(chunk / unit, components, lam_star, lam, tol=1e-12)).codes
            low_rank = codes @ components
            cleaned = low_rank + np.nan_to_num(np.minimum(chunk / unit - low_rank, lam))
            A, B = A + codes.T @ codes, B + codes.T @ cleaned
        for k in [*range(len(A))] * 30:
            others = np.delete(np.arange(len(A)), k)
            components[k] = np.maximum((B[k] - A[k, others] @ components[others]) / (A[k, k] + lam_star), 0)
        sizes = np.linalg.norm(components, axis=1)
        components *= np.sqrt(np.sqrt(A.diagonal()) / sizes)[:, None]
        components = components[np.argsort(-np.linalg.norm(components, axis=1))]
    return components * problem.units.root


@pytest.mark.parametrize("kind", [RobustNMF, OnlineRobustNMF])
def test_cluster_gives_the_nonnegative_parts_of_one_machine(kind, parts, cluster):
    X, model = da.from_array(parts, chunks=(CHUNK, 60)), kind(3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="3 passes"):
        distributed.fit(model, X, max_passes=3, tol=1e-9)
    expected = nonnegative_passes_in_numpy(kind(3, random_state=0), X, 3)
    assert model.components_.min() >= 0
    assert np.abs(model.components_ - expected).max() <= 1e-8 * expected.max()


def test_nonnegative_passes_end_where_the_solver_in_memory_does(parts):
    """At a stationary point of (4), from which that solver does not move."""
    X = da.from_array(parts, chunks=(CHUNK, 60))
    with dask.config.set(scheduler="synchronous"):
        spread = distributed.fit(RobustNMF(3, random_state=0), X, tol=1e-5, max_passes=500)
        outliers = distributed.decompose(spread, X).outliers.compute()
    given = {"rank_penalty": spread.rank_penalty_, "outlier_penalty": spread.outlier_penalty_}
    whole = RobustNMF(init=spread.components_, **given, tol=1e-6).fit(parts)
    assert spread.converged_
    assert spread.stationarity_ <= 1e-5
    assert spread.objective_ == pytest.approx(whole.objective_, rel=1e-7)
    assert np.abs(spread.components_ - whole.components_).max() < 1e-2 * whole.components_.max()
    assert np.allclose(outliers, spread.decompose(parts).outliers, rtol=1e-9, atol=1e-9)


def test_a_nonnegative_stream_goes_on_after_a_distributed_fit(parts):
    model = OnlineRobustNMF(3, forgetting=0.995, random_state=0)
    with dask.config.set(scheduler="synchronous"):
        distributed.fit(model, da.from_array(parts, chunks=(CHUNK, 60)), max_passes=300)
    before = model.components_.copy()
    model.partial_fit(parts[:200])
    assert model.n_samples_seen_ == 1400
    assert model.components_.min() >= 0
    assert 0 < unmingle.metrics.subspace_angle(model.components_, before) < 2


def test_negative_entries_in_a_later_chunk_are_an_error(parts):
    X = parts.copy()
    X[1150, 5] = -1.0
    rows = da.from_array(X, chunks=(100, 60))
    with pytest.raises(ValueError, match="X contains negative values"):
        distributed.fit(RobustNMF(3, random_state=0), rows, start_size=80)
    with pytest.raises(ValueError, match="X contains negative values"):
        distributed.decompose(RobustNMF(3, random_state=0).fit(parts), rows).codes.compute()


def test_passes_end_at_the_answer_of_the_estimator(made, X):
    """An independent solver of (4) on all data in memory."""
    spread = distributed.fit(RobustPCA(random_state=0), X, tol=1e-7, max_passes=60)
    given = {"rank_penalty": spread.rank_penalty_, "outlier_penalty": spread.outlier_penalty_}
    whole = RobustPCA(3, **given, tol=1e-9, random_state=0).fit(made.X)
    assert spread.n_components_ == 3
    assert spread.converged_
    assert spread.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert np.allclose(spread.singular_values_, whole.singular_values_, rtol=1e-6)
    assert np.allclose(spread.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-6)
    assert np.abs(spread.components_ - whole.components_).max() < 1e-5 * np.abs(whole.components_).max()
    assert np.isnan(spread.gap_)
    assert np.array_equal(spread.outlier_flags(made.X[:50]), whole.outlier_flags(made.X[:50]))


def test_a_worker_killed_in_mid_pass_changes_nothing(X, cluster, tmp_path):
    undisturbed = distributed.fit(OnlineRobustPCA(random_state=0), X, max_passes=4, tol=1e-9 + 1)
    flag = tmp_path / "killed"

    def deadly(rows, block_id=None):
        if block_id == (5, 0) and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return rows

    X_deadly = X.map_blocks(deadly, dtype=X.dtype, meta=np.empty((0, 0)))
    disturbed = distributed.fit(OnlineRobustPCA(random_state=0), X_deadly, max_passes=4, tol=1e-9 + 1)
    assert flag.exists()
    assert np.array_equal(disturbed.components_, undisturbed.components_)


def test_tree_of_sums_keeps_the_order_that_forgetting_needs(made):
    codes = np.random.default_rng(0).standard_normal((90, 2))
    rows = np.nan_to_num(made.X[:90])
    blocks = [Statistics.of(codes[i : i + 9], rows[i : i + 9], 0.97) for i in range(0, 90, 9)]
    summaries = [dask.delayed(distributed.Summary)(block, 1.0, 2.0) for block in blocks]
    (total,) = dask.compute(distributed._tree_sum(summaries), scheduler="synchronous")
    whole = Statistics.of(codes, rows, 0.97)
    assert np.allclose(total.statistics.B, whole.B, rtol=1e-12, atol=1e-12)
    assert total.statistics.decay == pytest.approx(whole.decay, rel=1e-12)
    assert (total.cost, total.energy) == (10.0, 20.0)


def test_forgetting_weighs_later_rows_more(made):
    """First half of one subspace, second half of another: with forgetting, the second one remains."""
    rng = np.random.default_rng(1)
    bases = rng.standard_normal((2, 2, 60))
    rows = np.concatenate([rng.standard_normal((600, 2)) @ basis for basis in bases])
    rows += 0.05 * rng.standard_normal(rows.shape)
    model = OnlineRobustPCA(n_components=2, forgetting=0.98, random_state=0)
    distributed.fit(model, da.from_array(rows, chunks=(100, 60)), tol=1e-6, max_passes=100)
    assert unmingle.metrics.subspace_angle(model.components_, bases[1]) < 1.0


def test_online_model_goes_on_after_a_distributed_fit(made, X):
    model = distributed.fit(OnlineRobustPCA(random_state=0), X)
    assert model.n_samples_seen_ == 1200
    before = model.components_.copy()
    model.partial_fit(made.X[:200])
    assert model.n_samples_seen_ == 1400
    assert 0 < np.abs(model.components_ - before).max() < 0.1 * np.abs(before).max()


def test_lazy_decomposition_is_that_of_the_estimator(made, X):
    model = RobustPCA(random_state=0).fit(made.X[:300])
    lazy = distributed.decompose(model, X)
    assert all(isinstance(part, da.Array) for part in lazy)
    expected = model.decompose(made.X)
    for name, part in zip(lazy._fields, dask.compute(*lazy), strict=True):
        assert np.allclose(part, getattr(expected, name), rtol=1e-9, atol=1e-12), name


def test_decomposition_goes_to_disk_and_stays_there(made, tmp_path):
    store = zarr.create_array(tmp_path / "in.zarr", shape=(1200, 60), chunks=(CHUNK, 60), dtype="f4")
    store[:] = made.X
    X = da.from_zarr(str(tmp_path / "in.zarr"))
    model = distributed.fit(RobustPCA(random_state=0), X)
    assert model.components_.dtype == np.float32
    distributed.decompose(model, X).low_rank.to_zarr(str(tmp_path / "out.zarr"))
    written = zarr.open_array(tmp_path / "out.zarr")[:]
    assert np.sqrt(np.mean((written - made.low_rank) ** 2)) < 0.1


@pytest.mark.parametrize("chunks", [(100, 25), (1200, 60), (40, 60)])
def test_any_chunks_do(made, chunks):
    model = distributed.fit(RobustPCA(random_state=0), da.from_array(made.X, chunks=chunks), tol=1e-5)
    assert model.n_components_ == 3


def test_empty_chunks_are_no_harm(made):
    whole = da.from_array(np.nan_to_num(made.X), chunks=(300, 60))
    some = whole[(da.arange(1200, chunks=300) < 300) | (da.arange(1200, chunks=300) >= 600)]
    model = distributed.fit(RobustPCA(random_state=0), some)
    assert model.n_components_ == 3
    assert distributed.decompose(model, some).outliers.compute().shape == (900, 60)


def test_integers_and_unknown_chunk_sizes(made):
    whole = da.from_array(np.nan_to_num(made.X * 100).astype(int), chunks=(300, 60))
    unknown = whole[whole[:, 0] < 10**6]
    assert np.isnan(unknown.shape[0])
    assert distributed.fit(RobustPCA(3, random_state=0), unknown, tol=1e-2).n_components_ == 3


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.eye(3), TypeError, "dask array, got ndarray; wrap it"),
        (da.zeros(5), ValueError, "two dimensions"),
        (da.zeros((0, 3)), ValueError, "at least one sample"),
        (da.zeros((5, 3), dtype=complex), ValueError, "real numbers, got complex128"),
        (da.full((40, 3), np.inf), ValueError, "infinity"),
        (da.full((40, 3), np.nan), ValueError, "only NaN"),
    ],
)
def test_bad_data_get_one_sentence(X, error, message):
    with pytest.raises(error, match=message):
        distributed.fit(RobustPCA(), X)


def test_infinity_in_a_later_chunk_is_an_error(made):
    X = made.X.copy()
    X[1100, 5] = np.inf
    with pytest.raises(ValueError, match="X contains infinity"):
        distributed.fit(RobustPCA(random_state=0), da.from_array(X, chunks=(100, 60)), start_size=80)


def test_bad_parameters_are_noticed_before_the_work(X):
    with pytest.raises(ValueError, match="forgetting must be above 0"):
        distributed.fit(OnlineRobustPCA(forgetting=1.5), X)
    parts = distributed.decompose(RobustPCA(random_state=0).fit(np.asarray(X)), da.full((10, 60), np.inf))
    with pytest.raises(ValueError, match="infinity"):
        parts.outliers.compute()


def test_only_fitted_models_of_the_right_kind_decompose(made, X):
    with pytest.raises(NotFittedError):
        distributed.decompose(RobustPCA(), X)
    with pytest.raises(TypeError, match="OnlineRobustPCA or LearnedRobustPCA, or else have the methods"):
        distributed.fit("model", X)
    model = RobustPCA(random_state=0).fit(made.X[:, :50])
    with pytest.raises(ValueError, match="50 features of the model, got 60"):
        distributed.decompose(model, X)


def test_summary_is_the_sum_of_summaries(made):
    problem = SharedProblem(2.0, np.full(60, 0.1), Units(), 1.0)
    components = np.random.default_rng(0).standard_normal((3, 60))
    parts = [summarise(made.X[i : i + 100], components, problem) for i in range(0, 300, 100)]
    whole = summarise(made.X[:300], components, problem)
    total = reduce(distributed._merge, parts)
    assert np.allclose(total.statistics.A, whole.statistics.A, rtol=1e-6)
    assert total.cost == pytest.approx(whole.cost, rel=1e-8)
    values = unmingle.core.objective.projection_gap(
        made.X[:300], components, next(newton(made.X[:300], components, 2.0, problem.lam)).codes, 2.0, 0.1
    )
    assert values.max() < 1e-8
    assert np.allclose(direct_step(whole.statistics, 2.0), direct_step(total.statistics, 2.0), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-200, 2.0**-40, 1e200])
def test_scale_is_a_matter_of_units(scale, made, X):
    plain, other = (distributed.fit(RobustPCA(random_state=0), rows, max_passes=3, tol=1.0) for rows in (X, scale * X))
    assert np.allclose(other.components_ / np.sqrt(scale), plain.components_, rtol=1e-6, atol=1e-8)
    assert other.rank_penalty_ / scale == pytest.approx(plain.rank_penalty_, rel=1e-9)
    assert np.array_equal(other.outlier_flags(scale * made.X[:50]), plain.outlier_flags(made.X[:50]))


class Subspace:
    """No estimator of the package: it has nothing but the methods that are asked for."""

    def begin_passes(self, rows):
        self.asked = rows.shape
        return PassRequest(rows, 2, None, None, random_state=0)

    def finish_passes(self, found, rows):
        self.found, self.given = found, rows.shape

    def projector(self):
        model = RobustPCA(random_state=0).fit(np.outer(np.arange(1.0, 21.0), np.arange(1.0, 61.0)))
        return model.projector()


def test_a_model_joins_by_its_methods_alone(X):
    model = distributed.fit(Subspace(), X, start_size=400, max_passes=2, tol=1.0)
    wanted = distributed.fit(RobustPCA(2, random_state=0), X, start_size=400, max_passes=2, tol=1.0)
    assert model.asked == model.given
    assert np.array_equal(model.found.components, wanted.components_)
    assert (model.found.objective, model.found.n_rows) == (wanted.objective_, 1200)
    assert distributed.decompose(model, X).codes.shape == (1200, 1)
