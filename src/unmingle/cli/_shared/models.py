"""What `unmingle export` and `unmingle info` do with the encoders of saved models."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import load, store
from ..._validation import require
from ...encoder import Encoder

Array = NDArray[Any]

DEFAULT_LAYERS = 20
"""Passes of Algorithm 1 after which 95 % of the samples of synthetic data, rank 2 to 10, have gaps below 1e-4."""
TOLERANCE = {"float32": 1e-3, "float64": 1e-8}
"""Above these relative differences a file is not the encoder: far more than rounding, even in many layers."""
SAMPLES_TO_CHECK = 16


class Loaded(NamedTuple):
    """A model with an encoder: its own one, or Algorithm 1 with its components."""

    kind: str
    model: Any
    encoder: Encoder
    is_made: bool


def load_encoder(path: Path, n_layers: int | None) -> Loaded:
    """Load a model and its encoder; if it has none, make one of so many layers from its components."""
    model = load(path)
    kind, own = type(model).__name__, getattr(model, "encoder_", model)
    if isinstance(own, Encoder):
        if n_layers is not None:
            raise ValueError(f"--layers is for models without an encoder; that of {path} has {own.n_layers} layers.")
        return Loaded(kind, model, own, False)
    names = ("components_", "rank_penalty_", "outlier_penalty_")
    components, rank_penalty, outlier_penalty = (getattr(model, name, None) for name in names)
    if components is None or rank_penalty is None or outlier_penalty is None:
        raise ValueError(f"{path} holds a {kind}, which has neither an encoder nor components: it cannot be exported.")
    if not len(components):
        raise ValueError(f"{path} holds a {kind} without components: there is nothing to export.")
    made = Encoder.from_components(
        components,
        rank_penalty=float(rank_penalty),
        outlier_penalty=outlier_penalty,
        n_layers=n_layers or DEFAULT_LAYERS,
    )
    return Loaded(kind, made, made, True)


def export(loaded: Loaded, out: Path, *, warm_start: bool) -> dict[str, Any]:
    """Write the ONNX file, keep it only if it gives the answers of the encoder, and return the results in numbers."""
    to_onnx = require("unmingle.export", "onnx").to_onnx
    with store.write_atomically(out) as aside:
        to_onnx(loaded.model, aside, warm_start=warm_start)
        size, difference = aside.stat().st_size, largest_difference(aside, loaded.encoder, warm_start)
        if difference is not None and not difference <= TOLERANCE[loaded.encoder.components.dtype.name]:
            raise ValueError(
                f"{out} was not written: ONNX Runtime gives other answers than unmingle, by {difference:.1e} of them."
            )
    return {
        "kind": loaded.kind,
        "made_from_components": loaded.is_made,
        **figures(loaded.encoder),
        "warm_start": warm_start,
        "bytes": size,
        "largest_difference": difference,
    }


def largest_difference(path: Path, encoder: Encoder, warm_start: bool) -> float | None:
    """Return how far the answers of ONNX Runtime are from the encoder's, each relative to its size; None without it."""
    try:
        runtime = require("onnxruntime", "onnx")
    except ImportError:
        return None
    X, init = probe(encoder)
    answers = _run(runtime, path, {"samples": X, "init": init} if warm_start else {"samples": X})
    codes, outliers = encoder.encode(X, backend="numpy", init=init if warm_start else None)
    expected = (codes, codes @ encoder.components, outliers)
    return float(np.max([_relative_difference(*pair) for pair in zip(answers, expected, strict=True)]))


def _run(runtime: Any, path: Path, given: dict[str, Array]) -> list[Array]:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return session.run(["codes", "low_rank", "outliers"], given)
    except Exception as error:
        raise ValueError(f"ONNX Runtime {runtime.__version__} cannot run the file: {error}") from error


def probe(encoder: Encoder) -> tuple[Array, Array]:
    """Return random samples like those the encoder is for, with outliers and missing entries, and codes near theirs."""
    rng = np.random.default_rng(0)
    (q, m), dtype = encoder.components.shape, encoder.components.dtype
    strength = float(np.mean(encoder.outlier_penalty)) or 1.0
    atom = float(np.abs(encoder.components).max()) or 1.0
    codes = rng.standard_normal((SAMPLES_TO_CHECK, q)) * 3 * strength / atom
    X = codes @ encoder.components + strength * rng.standard_normal((SAMPLES_TO_CHECK, m))
    X[rng.random(X.shape) < 0.1] += 10 * strength
    X[rng.random(X.shape) < 0.1] = np.nan
    return X.astype(dtype), codes.astype(dtype)


def _relative_difference(ours: Array, theirs: Array) -> float:
    size = float(np.abs(theirs).max())
    return float(np.abs(ours - theirs).max()) / (size or 1.0)


def described(path: Path) -> dict[str, Any]:
    """Return how the encoder in a model file is built."""
    own = getattr(load(path), "encoder", None)
    encoder = own if isinstance(own, Encoder) else load_encoder(path, None).encoder
    return {**figures(encoder), "departure": departure(encoder), "bytes": path.stat().st_size}


def figures(encoder: Encoder) -> dict[str, Any]:
    """Return the form of an encoder in numbers."""
    lam = encoder.outlier_penalty
    return {
        "features": encoder.components.shape[1],
        "components": encoder.components.shape[0],
        "layers": encoder.n_layers,
        "tied": encoder.tied,
        "structure": encoder.structure,
        "nonnegative_codes": bool(encoder.nonnegative_codes),
        "nonnegative_outliers": bool(encoder.nonnegative_outliers),
        "dtype": encoder.components.dtype.name,
        "rank_penalty": float(encoder.rank_penalty),
        "outlier_penalty": [float(lam.min()), float(lam.max())],
    }


def departure(encoder: Encoder) -> float:
    """Return how far the layers are from those of Algorithm 1, relative to their size: 0 if nothing was trained."""
    return max(
        _relative_difference(own, plain)
        for own, plain in zip(encoder.layers, encoder.untrained().layers, strict=True)
        if own.size
    )


def encoder_facts(figures: Mapping[str, Any]) -> dict[str, str]:
    """The form of an encoder in words."""
    least, most = figures["outlier_penalty"]
    outliers = f"{least:.4g}" if least == most else f"{least:.4g} to {most:.4g}"
    signs = [part for part in ("codes", "outliers") if figures[f"nonnegative_{part}"]]
    facts = {
        "features": str(figures["features"]),
        "components": str(figures["components"]),
        "layers": f"{figures['layers']}, {'tied' if figures['tied'] else 'each with its own numbers'}",
        "structure": str(figures["structure"]),
        "signs": f"{' and '.join(signs)} not negative" if signs else "any",
        "penalties": f"rank {figures['rank_penalty']:.4g}, outliers {outliers}",
        "size": f"{figures['bytes']:,} bytes, {figures['dtype']}",
    }
    if "departure" in figures:
        moved = f"moved the layers from Algorithm 1 by {figures['departure']:.1e} of their size"
        facts["training"] = moved if figures["departure"] else "none, the layers are those of Algorithm 1"
    return facts
