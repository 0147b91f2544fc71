"""Encoders: layers against Algorithm 1, answers against their optimum; how they are run, tests/parity."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from reference import mixture
from scipy.optimize import minimize

import unmingle
from unmingle import store
from unmingle.core.encoder.encoder import Encoder
from unmingle.core.encoder.layers import Layers
from unmingle.core.prox import soft_threshold
from unmingle.core.solvers.projection import newton

PENALTIES = {"rank_penalty": 0.7, "outlier_penalty": 0.3}
SIGNED, ONE_SIDED = {}, {"nonnegative_outliers": True}
POSITIVE, BOTH = {"nonnegative_codes": True}, {"nonnegative_codes": True, "nonnegative_outliers": True}
SIGNS = [SIGNED, ONE_SIDED, POSITIVE, BOTH]
KINDS = [*SIGNS, {"structure": "full"}, {"structure": "full", **ONE_SIDED}]


def encoder_of(q, m, n_layers=4, dtype=np.float64, **kind):
    U = np.random.default_rng(1).standard_normal((q, m)).astype(dtype)
    U = np.abs(U) if kind.get("nonnegative_codes") else U
    return Encoder.from_components(U, n_layers=n_layers, **PENALTIES, **kind)


def trained(encoder):
    """The encoder with layers that are those of no algorithm, each one different."""
    rng = np.random.default_rng(2)
    layers = (part * rng.uniform(0.7, 1.2, part.shape).astype(part.dtype) for part in encoder.layers)
    return replace(encoder, layers=Layers(*layers))


def samples(n, m, dtype=np.float64, missing=0.0):
    return mixture(n, m, 3, missing=missing, seed=n, dtype=dtype)


def assert_same_answers(actual, expected, tolerance):
    for mine, other in zip(actual, expected, strict=True):
        assert mine.dtype == other.dtype
        assert np.abs(mine - other).max(initial=0) <= tolerance * np.abs(other).max(initial=1)


def cost_of_codes(encoder, x, s):
    """Cost of (5) at a code with the best outliers for it, and its gradient."""
    U, lam, known = encoder.components, encoder.outlier_penalty, ~np.isnan(x)
    e = np.where(known, x - s @ U, 0)
    r = np.minimum(e, lam) if encoder.nonnegative_outliers else np.clip(e, -lam, lam)
    value = np.sum(r * (e - r / 2)) + encoder.rank_penalty / 2 * s @ s
    return value, encoder.rank_penalty * s - U @ r


def least_cost(encoder, x):
    """Minimum of (5) and its code by a general method for smooth functions in a box."""
    q = len(encoder.components)
    bounds = [(0 if encoder.nonnegative_codes else None, None)] * q
    options = {"maxiter": 5000, "maxfun": 50000, "ftol": 1e-16, "gtol": 1e-11}
    found = minimize(
        lambda s: cost_of_codes(encoder, x, s), np.ones(q), jac=True, bounds=bounds, method="L-BFGS-B", options=options
    )
    return found.fun, found.x


@pytest.mark.parametrize("structure", ["low_rank", "full"])
@pytest.mark.parametrize("tied", [True, False])
def test_a_new_encoder_is_algorithm_1(structure, tied):
    encoder = encoder_of(3, 40, n_layers=7, structure=structure, tied=tied)
    X, U = samples(20, 40), encoder.components.T
    H = np.linalg.inv(U.T @ U + 0.7 * np.eye(3)) @ U.T
    W = U @ H
    B = X - X @ W.T
    for _ in range(7):
        outliers = soft_threshold(B, 0.3)
        B = X - (X - outliers) @ W.T
    for backend in ("numpy", "numba"):
        answer = encoder.encode(X, backend=backend)
        assert_same_answers(answer, ((X - outliers) @ H.T, outliers), 1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_without_components_there_is_only_a_threshold(kind):
    encoder = encoder_of(0, 33, **kind)
    X = samples(70, 33)
    codes, outliers = encoder.encode(X)
    assert codes.shape == (70, 0)
    assert np.allclose(outliers, np.maximum(X - 0.3, 0) if encoder.nonnegative_outliers else soft_threshold(X, 0.3))


@pytest.mark.parametrize("q", [5, 25])
@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("kind", [SIGNED, ONE_SIDED], ids=str)
def test_what_is_no_outlier_is_zero_to_the_last_bit(q, backend, kind):
    X = samples(100, 33, missing=0.1)
    outliers = encoder_of(q, 33, **kind).encode(X, backend=backend)[1]
    assert outliers[outliers != 0].size > 100
    assert np.abs(outliers[outliers != 0]).min() > 1e-12
    assert outliers.min() >= 0 or not kind


def test_an_empty_sample_has_the_code_zero():
    codes, outliers = encoder_of(3, 10).encode(np.full((1, 10), np.nan))
    assert not codes.any()
    assert not outliers.any()


@pytest.mark.parametrize("missing", [0, 0.1])
def test_many_layers_reach_the_exact_projection(missing):
    encoder, X = encoder_of(3, 40, n_layers=2000), samples(30, 40, missing=missing)
    exact = next(newton(X, encoder.components, 0.7, encoder.outlier_penalty, tol=1e-14))
    codes, outliers = encoder.encode(X)
    assert np.allclose(codes, exact.codes, atol=1e-8)
    assert encoder.gap(X, codes, outliers).max() < 1e-10


@pytest.mark.parametrize("kind", SIGNS, ids=str)
def test_many_layers_reach_the_optimum_under_each_sign(kind):
    encoder, X = encoder_of(3, 40, n_layers=5000, **kind), samples(6, 40, missing=0.1)
    codes, outliers = encoder.encode(X)
    for x, code, value in zip(X, codes, encoder.cost(X, codes, outliers), strict=True):
        least, best = least_cost(encoder, x)
        assert value == pytest.approx(least, rel=1e-9)
        assert code == pytest.approx(best, abs=1e-5)
    assert encoder.gap(X, codes, outliers).max() < 1e-9
    assert codes.min() >= 0 or not encoder.nonnegative_codes
    assert outliers.min() >= 0 or not encoder.nonnegative_outliers


@pytest.mark.parametrize("kind", SIGNS, ids=str)
def test_the_gap_bounds_what_any_answer_costs_too_much(kind):
    encoder, X = encoder_of(3, 30, **kind), samples(25, 30, missing=0.1)
    rng = np.random.default_rng(4)
    codes, outliers = rng.standard_normal((25, 3)), np.where(np.isnan(X), 0, rng.standard_normal(X.shape))
    codes = np.abs(codes) if encoder.nonnegative_codes else codes
    outliers = np.abs(outliers) if encoder.nonnegative_outliers else outliers
    least = np.array([least_cost(encoder, x)[0] for x in X])
    for answer in ((codes, outliers), encoder.encode(X), (codes, 0 * outliers)):
        cost = encoder.cost(X, *answer)
        assert (cost - least <= encoder.gap(X, *answer) * cost + 1e-9).all()
    best = np.array([cost_of_codes(encoder, x, s)[0] for x, s in zip(X, codes, strict=True)])
    assert (best - least <= encoder.gap(X, codes) * best + 1e-9).all()
    assert (encoder.gap(X, codes) * best <= encoder.gap(X, codes, outliers) * encoder.cost(X, codes, outliers)).all()


@pytest.mark.parametrize("kind", SIGNS, ids=str)
def test_a_start_at_the_answer_stays_there(kind):
    X = samples(9, 40, missing=0.1)
    codes, outliers = encoder_of(3, 40, n_layers=5000, **kind).encode(X)
    assert_same_answers(encoder_of(3, 40, n_layers=1, **kind).encode(X, init=codes), (codes, outliers), 1e-9)


@pytest.mark.parametrize("q", [5, 25])
def test_threads_change_nothing(q):
    encoder, X = trained(encoder_of(q, 33)), samples(1000, 33)
    alone = encoder.encode(X)
    assert_same_answers(encoder.encode(X, n_jobs=2), alone, 1e-13)
    with ThreadPoolExecutor(4) as pool:
        for answer in pool.map(lambda _: encoder.encode(X), range(16)):
            assert_same_answers(answer, alone, 0)


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("q", [2, 9])
def test_the_input_is_left_alone(q, backend):
    encoder, X = encoder_of(q, 33), samples(50, 33, missing=0.1)
    init, before = np.ones((50, q)), X.copy()
    codes, outliers = encoder.encode(X, init=init, backend=backend)
    assert np.array_equal(X, before, equal_nan=True)
    assert (init == 1).all()
    X.setflags(write=False)
    fortran = np.asfortranarray(X)
    assert_same_answers(encoder.encode(fortran, init=init, backend=backend), (codes, outliers), 0)


def test_the_type_of_the_input_is_kept():
    encoder = encoder_of(3, 20)
    codes, outliers = encoder.encode(samples(5, 20, np.float32))
    assert (codes.dtype, outliers.dtype) == (np.float32, np.float32)
    assert encoder.encode(np.ones((5, 20), int))[0].dtype == np.float64


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_save_and_load(tmp_path, kind, dtype):
    encoder = trained(encoder_of(3, 20, dtype=dtype, tied=False, **kind))
    encoder.save(tmp_path / "e.safetensors")
    loaded = unmingle.load(tmp_path / "e.safetensors")
    assert (loaded.n_layers, loaded.signs, loaded.structure) == (encoder.n_layers, encoder.signs, encoder.structure)
    for mine, other in zip(loaded.layers, encoder.layers, strict=True):
        assert mine.tobytes() == other.tobytes()
    X = samples(10, 20, dtype)
    assert_same_answers(loaded.encode(X), encoder.encode(X), 0)


def damaged(content):
    """What could be wrong with a file."""
    layers = content["layers"]
    yield content | {"layers": {name: part for name, part in layers.items() if name != "readout"}}
    yield content | {"layers": layers | {"threshold": -layers["threshold"]}}
    yield content | {"layers": layers | {"threshold": layers["threshold"][:, 1:]}}
    yield content | {"layers": layers | {"decoder": layers["decoder"] * np.nan}}
    yield content | {"n_layers": 0}
    yield {name: part for name, part in content.items() if not np.isscalar(part)}


def test_a_damaged_file_is_refused(tmp_path):
    path, encoder = tmp_path / "e.safetensors", encoder_of(3, 20)
    for content in damaged(encoder._to_store()):
        store.save(path, "Encoder", content)
        with pytest.raises(store.StoreError):
            unmingle.load(path)
    encoder.save(path)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(store.StoreError):
        unmingle.load(path)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_data_four_times_as_large(kind):
    encoder, X = trained(encoder_of(3, 20, **kind)), samples(10, 20)
    codes, outliers = encoder.encode(X)
    large = encoder.rescaled(2)
    assert_same_answers(large.encode(4 * X), (2 * codes, 4 * outliers), 1e-12)
    assert np.allclose(large.gap(4 * X, 2 * codes, 4 * outliers), encoder.gap(X, codes, outliers))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_new_encoder_moves_to_the_new_encoder_of_other_components(kind):
    encoder = encoder_of(3, 20, tied=False, **kind)
    U = encoder.components[::-1] * 1.5
    moved, new = encoder.moved_to(U), Encoder.from_components(U, n_layers=4, tied=False, **PENALTIES, **kind)
    for mine, other in zip(moved.layers, new.layers, strict=True):
        assert np.allclose(mine, other, atol=1e-13)
    for mine, other in zip(encoder.untrained(U).layers, new.layers, strict=True):
        assert (mine == other).all()
    assert U.flags.writeable


def test_a_move_keeps_what_training_added():
    encoder = trained(encoder_of(3, 20))
    back = encoder.moved_to(encoder.components * 2).moved_to(encoder.components)
    for mine, other, start in zip(back.layers, encoder.layers, encoder.untrained().layers, strict=True):
        assert np.allclose(mine, other, atol=1e-13)
        assert not start.any() or not np.allclose(mine, start)


@pytest.mark.parametrize(
    ("sentence", "call"),
    [
        ("X must have 20 columns", lambda e: e.encode(np.ones((5, 19)))),
        (r"got an array of shape \(20,\)", lambda e: e.encode(np.ones(20))),
        (r"init must hold one code for each .* \(5, 3\)", lambda e: e.encode(np.ones((5, 20)), init=[[1.0]])),
        ("backend", lambda e: e.encode(np.ones((5, 20)), backend="cuda")),
        ("components must be finite", lambda e: Encoder.from_components([[np.nan]], n_layers=1, **PENALTIES)),
        ("n_layers", lambda e: Encoder.from_components(e.components, n_layers=0, **PENALTIES)),
        ("structure", lambda e: encoder_of(3, 20, structure="half")),
        ("structure='full' has no inner code", lambda e: encoder_of(3, 20, structure="full", **POSITIVE)),
        ("their shapes do not fit together", lambda e: replace(e, layers=e.layers._replace(readout=np.ones((3, 19))))),
        ("must be finite", lambda e: replace(e, outlier_penalty=np.full(20, np.inf))),
        ("penalties not negative", lambda e: replace(e, rank_penalty=0.0)),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(sentence, call):
    with pytest.raises(ValueError, match=sentence):
        call(encoder_of(3, 20))


def in_a_process(code, **environment):
    """What a new process counts in the compiled functions of the package after running the code."""
    count = """
import gc
from numba.core.dispatcher import Dispatcher
kernels = [thing for thing in gc.get_objects() if isinstance(thing, Dispatcher) and "unmingle" in thing.__module__]
print(sum(len(kernel.overloads) for kernel in kernels), sum(len(kernel.stats.cache_misses) for kernel in kernels))
"""
    command = [sys.executable, "-c", code + count]
    answer = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    return tuple(map(int, answer.stdout.split()))


def test_an_import_compiles_nothing():
    assert in_a_process("import unmingle.core.encoder") == (0, 0)


def test_a_second_process_finds_the_compiled_network(tmp_path):
    code = """
import numpy as np
from unmingle import Encoder
Encoder.from_components(np.ones((1, 4)), rank_penalty=1, outlier_penalty=1, n_layers=1).encode(np.ones((1, 4)))
"""
    (_, compiled), (loaded, again) = (in_a_process(code, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert compiled > 0
    assert loaded > 0
    assert again == 0


@pytest.mark.parametrize("kind", [SIGNED, ONE_SIDED, POSITIVE, BOTH], ids=str)
def test_infinity_is_refused_and_missing_entries_do_not_hide_it(kind):
    encoder = Encoder.from_components(np.eye(2, 5), rank_penalty=0.1, outlier_penalty=0.1, n_layers=2, **kind)
    for X in ([[np.inf, 0, 0, 0, 0]], [[np.nan, 0, 0, -np.inf, 0]]):
        for init in (None, np.zeros((1, 2))):
            with pytest.raises(ValueError, match="contains infinity"):
                encoder.encode(np.array(X), init=init)
    huge = np.full((2, 5), 1e308)
    assert np.isfinite(encoder.encode(huge)[1]).all()


@pytest.mark.parametrize(
    ("dtype", "scale"), [("float64", 1e-150), ("float64", 1e150), ("float32", 1e-20), ("float32", 1e20)]
)
def test_certificates_hold_at_any_scale(rng, dtype, scale):
    U, root = rng.standard_normal((3, 20)), np.sqrt(scale)
    X = rng.standard_normal((9, 3)) @ U + (rng.random((9, 20)) < 0.1)
    plain = Encoder.from_components(U, rank_penalty=0.5, outlier_penalty=0.2, n_layers=3)
    scaled = Encoder.from_components(
        (root * U).astype(dtype), rank_penalty=0.5 * scale, outlier_penalty=0.2 * scale, n_layers=3
    )
    Y = (scale * X).astype(dtype)
    expected = plain.gap(X, *plain.encode(X))
    tolerance = {"rtol": 1e-2, "atol": 1e-6} if dtype == "float32" else {"rtol": 1e-9, "atol": 1e-15}
    np.testing.assert_allclose(scaled.gap(Y, *scaled.encode(Y)), expected, **tolerance)


def test_what_is_no_number_has_no_certificate():
    encoder = Encoder.from_components(np.eye(2, 5), rank_penalty=0.1, outlier_penalty=0.1, n_layers=2)
    assert np.isnan(encoder.gap(np.ones((3, 5)), np.full((3, 2), np.nan))).all()
    with pytest.raises(ValueError, match="init must be finite"):
        encoder.encode(np.ones((1, 5)), init=np.array([[np.nan, 0.0]]))
    with pytest.raises(ValueError, match=r"codes must have shape \(3, 2\)"):
        encoder.gap(np.ones((3, 5)), np.ones((1, 2)))
    with pytest.raises(ValueError, match="outliers that of X"):
        encoder.cost(np.ones((3, 5)), np.ones((3, 2)), np.ones((1, 5)))


@pytest.mark.parametrize("n_features", [10, 18, 27, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_bits_wherever_memory_is_free(dtype, n_features, rng):
    components = rng.standard_normal((3, n_features)).astype(dtype)
    encoder = Encoder.from_components(components, rank_penalty=0.5, outlier_penalty=0.3, n_layers=2)
    X = rng.standard_normal((1, n_features)).astype(dtype)
    kept, answers = [X.copy() for _ in range(100)], set()
    for places in rng.integers(100, size=(200, 3)):
        for place in places:  # where the next arrays of this size find room
            kept[place] = None
        for place in places[::-1]:
            kept[place] = X.copy()
            answers.add(b"".join(part.tobytes() for part in encoder.encode(kept[place])))
    assert len(answers) == 1
