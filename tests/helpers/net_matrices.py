"""Jobs of net.py: matrices, models of tables, encoders and their training."""

from pathlib import Path

import numpy as np
from helpers.net_jobs import job, temporary_folder

import unmingle
from unmingle import synth
from unmingle.learn import Training

# Matrices


def made(n=160, m=40, dtype=np.float64, missing=0.0, seed=0, rank=3):
    return synth.low_rank_plus_sparse(
        n, m, rank, outlier_fraction=0.05, outlier_scale=5, noise=0.1, missing=missing, dtype=dtype, random_state=seed
    ).X


def positive(n=150, m=30, seed=0):
    blocks = synth.nonnegative_stream(n, m, 3, noise=0.02, outlier_scale=3, block_size=n, random_state=seed)
    return next(iter(blocks)).X


def parts_of(part):
    numbers = ("low_rank", "outliers", "codes", "components", "objective", "gap", "n_iter", "converged")
    found = {name: getattr(part, name) for name in numbers}
    return found | {"rank_penalty": part.rank_penalty, "outlier_penalty": part.outlier_penalty}


@job()
def wide_matrix():
    return parts_of(unmingle.decompose(made(60, 300), random_state=0))


@job()
def tall_matrix():
    return parts_of(unmingle.decompose(made(600, 24), random_state=0))


@job()
def square_matrix():
    return parts_of(unmingle.decompose(made(150, 150), rank_penalty=4.0, outlier_penalty=0.3))


@job()
def float32_matrix_with_gaps():
    return parts_of(unmingle.decompose(made(200, 50, np.float32, missing=0.1), random_state=0))


@job()
def matrix_with_at_most_three_components():
    return parts_of(unmingle.decompose(made(300, 60), n_components=3, random_state=0))


@job()
def matrix_by_pursuit():
    exact = parts_of(unmingle.pursue(made(100, 60), random_state=0))
    within = parts_of(unmingle.pursue(made(100, 60), eps=6.0, random_state=0))
    return exact | {f"within_{name}": value for name, value in within.items()}


@job()
def table_with_flagged_cells():
    X = synth.sensor_readings(200, 16, random_state=3).values
    part = unmingle.decompose(X, scale="columns", debias=True, random_state=0)
    tests = {"flags": part.flags(), "significance": part.significance, "column_scale": part.column_scale}
    return parts_of(part) | tests | {"residual": part.residual}


@job()
def penalties_chosen():
    shapes = {"tall": (2000, 8), "wide": (8, 500), "square": (90, 90), "table": (400, 24)}
    found = {}
    for name, (n, m) in shapes.items():
        X = made(n, m, missing=0.1 * (name == "table"), rank=2)
        part = unmingle.decompose(X, max_iter=3, random_state=0)
        found[name] = [part.rank_penalty, part.outlier_penalty, *unmingle.penalty_max(X)]
    return found


# Models of tables


def about_rows(model, X):
    """What a fitted model says of new rows."""
    part = model.decompose(X)
    scores = {"scores": model.score_samples(X), "outlying": model.predict(X), "codes": model.transform(X)}
    return {"components": model.components_, "low_rank": part.low_rank, "outliers": part.outliers} | scores


@job()
def table_model():
    model = unmingle.RobustPCA(random_state=0).fit(made(300, 30, missing=0.05))
    new = made(40, 30, missing=0.05, seed=1)
    found = {"gaps": model.decompose(new).sample_gap, "score": model.score(new), "objective": model.objective_}
    return about_rows(model, new) | found


@job()
def table_model_without_shrinkage():
    model = unmingle.RobustPCA(3, scale="columns", debias=True, random_state=0).fit(made(300, 30))
    part = model.decompose(made(40, 30, seed=1), debias=True)
    return {"components": model.components_, "low_rank": part.low_rank, "flags": part.flags()}


@job()
def nonnegative_model():
    model = unmingle.RobustNMF(4, random_state=0).fit(positive())
    return about_rows(model, positive(30, seed=1)) | {"objective": model.objective_, "n_iter": model.n_iter_}


@job()
def stream_of_rows():
    X = made(500, 30, missing=0.03)
    model = unmingle.OnlineRobustPCA(4, random_state=0)
    for block in np.split(X, 5):
        model.partial_fit(block)
    return about_rows(model, X[:50])


@job()
def stream_of_rows_by_recursion():
    X = made(400, 30)
    model = unmingle.OnlineRobustPCA(4, forgetting=0.99, dictionary_step="recursive", random_state=0).fit(X)
    return about_rows(model, X[:50])


@job()
def stream_of_nonnegative_rows():
    model = unmingle.OnlineRobustNMF(4, random_state=0)
    for block in np.split(positive(450), 3):
        model.partial_fit(block)
    return about_rows(model, positive(30, seed=1))


@job("dask", "distributed")
def chunks_of_rows():
    import dask
    import dask.array as da

    with dask.config.set(scheduler="synchronous"):
        X = da.from_array(made(600, 30, missing=0.02), chunks=(150, 30))
        model = unmingle.distributed.fit(unmingle.RobustPCA(random_state=0), X, max_passes=4)
    return about_rows(model, made(40, 30, seed=1))


# Encoders and their training


def encoder_of(X, n_layers=4, **kind):
    U = unmingle.decompose(X, n_components=3, random_state=0).components
    return unmingle.Encoder.from_components(U, rank_penalty=0.5, outlier_penalty=0.2, n_layers=n_layers, **kind)


@job()
def codes_by_an_encoder():
    X = made(200, 30, missing=0.05)
    encoder = encoder_of(X)
    found = {}
    for backend in ("numba", "numpy"):
        codes, outliers = encoder.encode(X, backend=backend)
        found |= {f"{backend}_codes": codes, f"{backend}_outliers": outliers}
    found["gap"], found["cost"] = encoder.gap(X, codes, outliers), encoder.cost(X, codes, outliers)
    found["warm_codes"] = encoder.encode(X, init=codes)[0]
    found["float32_codes"] = encoder_of(X.astype(np.float32)).encode(X.astype(np.float32))[0]
    return found


@job("torch")
def learned_model():
    X = made(300, 30, missing=0.03)
    model = unmingle.LearnedRobustPCA(3, n_layers=3, training=Training(max_steps=40), random_state=0).fit(X)
    return about_rows(model, X[:50]) | model.encoder_.layers._asdict()


@job("torch")
def learned_model_of_a_stream():
    X = made(400, 30)
    model = unmingle.LearnedRobustPCA(
        3, n_layers=2, update_dictionary=True, training=Training(window=100), random_state=0
    )
    for block in np.split(X, 4):
        model.partial_fit(block)
    return about_rows(model, X[:50])


@job("torch")
def learned_nonnegative_model():
    model = unmingle.LearnedRobustNMF(3, n_layers=2, training=Training(max_steps=10), random_state=0).fit(positive(300))
    return about_rows(model, positive(30, seed=1)) | model.encoder_.layers._asdict()


@job("torch")
def learned_model_with_targets():
    mixture = synth.low_rank_plus_sparse(300, 24, 3, outlier_scale=5, noise=0.1, random_state=0)
    truth = np.stack([mixture.low_rank, mixture.outliers], axis=1)
    model = unmingle.LearnedRobustPCA(3, n_layers=2, loss="source", training=Training(max_steps=30), random_state=0)
    return about_rows(model.fit(mixture.X, truth), mixture.X[:50])


def masked_batch(number, frames=12, width=6, m=9):
    """Samples that are mostly foreground in their lower half and mostly background in the other."""
    from unmingle import learn

    V, A = np.random.default_rng((7, number)).random((2, frames, width, m)).astype(np.float32)
    A[..., m // 2 :] *= 0.1
    V[..., : m // 2] *= 0.1
    X, squares = V + A, [np.square(part).sum((0, 2)) for part in (V, A)]
    return learn.MaskBatch(np.sqrt(X), X**2, X * V, squares[0], squares[0] + squares[1])


def sequence_encoder(m=9):
    from unmingle.core.encoder.sequence import SequenceEncoder

    X = np.abs(np.random.default_rng(0).standard_normal((30, m)))
    return SequenceEncoder.from_samples(X, n_components=5, n_layers=2, seed=0).astype(np.float32)


@job("torch")
def network_of_masks():
    from unmingle import learn

    network = learn.SequenceNetwork(sequence_encoder())
    looks = learn.train_masks(network, masked_batch, setup={}, max_steps=40, step_size=0.01)
    numbers = {f"number_{k}": value.detach().numpy() for k, value in enumerate(network.parameters())}
    return numbers | {"losses": [look.loss for look in looks]}


@job("onnx", "onnxruntime")
def encoders_as_onnx():
    from unmingle import export

    X = made(100, 30, np.float32, missing=0.05)
    steps = np.abs(np.random.default_rng(1).standard_normal((20, 9))).astype(np.float32)
    with temporary_folder() as folder:
        rows, sequence = Path(folder) / "rows.onnx", Path(folder) / "sequence.onnx"
        export.to_onnx(encoder_of(X), rows)
        export.to_onnx(sequence_encoder(), sequence)
        codes, low_rank, outliers = export.run(rows, X)
        found = export.run_sequence(sequence, steps)._asdict()
    return found | {"codes": codes, "low_rank": low_rank, "outliers": outliers}
