"""Encoders of single samples as ONNX files."""

import json
from os import PathLike
from typing import Any

import numpy as np
import onnx

from .. import __version__
from .._types import AnyArray
from .._validation import check_positive, require
from ..core.encoder.description import relative_difference
from ..core.encoder.encoder import Encoder
from ..core.encoder.sequence import SequenceEncoder
from ..store import write_atomically
from .graph import Graph, complete, scaled_input, tensor, told_of_input
from .sequences import sequence_model, sequence_pairs

TOLERANCE = {"float32": 1e-3, "float64": 1e-8}
"""Above these relative differences a file is not the encoder: far more than rounding, even in many layers."""
_SAMPLES_TO_CHECK = 16
_WHAT = "Splits samples into a low-rank part and sparse outliers."


def to_onnx(encoder: Any, path: str | PathLike[str], *, warm_start: bool = False, input_scale: float = 1.0) -> None:
    """Write the network of an encoder as an ONNX graph.

    The graph computes for each sample x, with o = 0 and c = 0 in the beginning, in every layer::

        c <- G c + H' (x - o),   d = A c,   o <- soft(x - d, t)

    and in the end the code s = G c + H (x - o), the low-rank part U s and the outliers o, as `Encoder.encode` does, for
    any number of samples at once; where codes must not be negative, each is followed by max(0, .), otherwise G = 0.
    Where x is NaN, it is missing: it counts as d, and its o is 0. Layers that share their numbers share them in the
    file. Cost: 4 m q flops for each sample and layer; the file holds the numbers of the encoder and less than a
    kilobyte for each layer.

    ======================  ========================  ==================================================
    input ``samples``       (n, m)                    NaN means missing
    input ``init``          (n, q)                    codes to start from; only with ``warm_start``
    output ``codes``        (n, q)                    s
    output ``low_rank``     (n, m)                    U s
    output ``outliers``     (n, m)                    o, 0 where a sample is missing
    ======================  ========================  ==================================================

    All are of the type of the encoder's numbers; ``encoder.astype(numpy.float32)`` makes smaller and faster files. The
    metadata of the file tell the problem and the form of the network.

    Parameters
    ----------
    encoder : Encoder, SequenceEncoder, or model that has an ``encoder_``
        The network. One that follows sequences has the graph of a single step for n sequences at once: inputs
        ``samples`` (n, m) and ``state`` (n, q), 0 in the beginning, outputs ``background``, ``foreground`` (n, m) and
        ``next_state`` (n, q). The graph of a model for voices divides samples by their usual sizes.
    path : path
        Where to; an existing file is replaced once the new one is complete.
    warm_start : bool
        Whether the graph takes codes to start from, as ``init`` of `Encoder.encode`: the first layer then thresholds
        x - U init.
    input_scale : float
        What the graph divides samples by first: 255 for bytes, where the network was trained on numbers from 0 to 1.
        The outputs are the same.

    Raises
    ------
    TypeError
        There is no encoder.
    ValueError
        The numbers are more than a file can hold, or there are none.
    unmingle.store.StoreError
        The file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from onnxruntime import InferenceSession
    >>> rng = np.random.default_rng(0)
    >>> U = rng.standard_normal((2, 50))
    >>> x = np.array([[1.0, -2.0]]) @ U
    >>> x[0, 7] += 100.0
    >>> encoder = Encoder.from_components(U, rank_penalty=0.1, outlier_penalty=0.5, n_layers=10)
    >>> with TemporaryDirectory() as folder:
    ...     to_onnx(encoder, f"{folder}/encoder.onnx")
    ...     session = InferenceSession(f"{folder}/encoder.onnx", providers=["CPUExecutionProvider"])
    >>> codes, low_rank, outliers = session.run(None, {"samples": x})
    >>> np.round(codes, 1).tolist(), np.flatnonzero(np.abs(outliers) > 1).tolist()
    ([[1.0, -2.0]], [7])
    """
    network, scale = getattr(encoder, "encoder_", encoder), check_positive(input_scale, "input_scale")
    if isinstance(network, SequenceEncoder):
        if warm_start:
            raise ValueError("A network that follows sequences always takes a state to start from: no warm_start.")
        _write(path, sequence_model(network, getattr(encoder, "usual", None), getattr(encoder, "card_", None), scale))
        return
    if not isinstance(network, Encoder):
        raise TypeError(
            "encoder must be an Encoder, or a fitted estimator that has an encoder_, "
            f"got an object of type {type(encoder).__name__}."
        )
    if not len(network.components):
        raise ValueError("An encoder without components has nothing to export.")
    _write(path, _model(network, warm_start, getattr(encoder, "card_", None), scale))


def _write(path: str | PathLike[str], model: onnx.ModelProto) -> None:
    content = model.SerializeToString()
    with write_atomically(path) as unfinished:
        unfinished.write_bytes(content)


def check(path: str | PathLike[str], encoder: Any, *, warm_start: bool = False, input_scale: float = 1.0) -> float:
    """Run a file in ONNX Runtime and hold its answers to those of the encoder.

    Parameters
    ----------
    path : path
        A file from `to_onnx`.
    encoder : Encoder, SequenceEncoder, or model that has an ``encoder_``
        What it should be.
    warm_start : bool
        Whether it takes codes to start from.
    input_scale : float
        What it divides samples by.

    Returns
    -------
    float
        The largest difference, relative to the largest entry of codes, low-rank part or outliers: rounding.

    Raises
    ------
    ImportError
        ONNX Runtime is not installed.
    ValueError
        The file cannot be run, or gives other answers, beyond `TOLERANCE`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> encoder = Encoder.from_components(np.eye(2, 5), rank_penalty=0.1, outlier_penalty=0.5, n_layers=3)
    >>> with TemporaryDirectory() as folder:
    ...     to_onnx(encoder, f"{folder}/encoder.onnx")
    ...     check(f"{folder}/encoder.onnx", encoder) < 1e-12
    True
    """
    network = getattr(encoder, "encoder_", encoder)
    if isinstance(network, SequenceEncoder):
        pairs, dtype = sequence_pairs(path, network, getattr(encoder, "usual", None), input_scale), network.dtype
    else:
        X, init = typical_samples(network)
        start, dtype = init if warm_start else None, network.components.dtype
        codes, outliers = network.encode(X, backend="numpy", init=start)
        pairs = list(
            zip(
                run(path, X * X.dtype.type(input_scale), start),
                (codes, codes @ network.components, outliers),
                strict=True,
            )
        )
    difference = float(np.max([relative_difference(*pair) for pair in pairs]))
    if not difference <= TOLERANCE[dtype.name]:
        raise ValueError(f"ONNX Runtime gives other answers than unmingle, by {difference:.1e} of them.")
    return difference


def run(
    path: str | PathLike[str], samples: AnyArray, init: AnyArray | None = None
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Codes, low-rank part and outliers of samples, as ONNX Runtime finds them on one thread.

    Parameters
    ----------
    path : path
        A file from `to_onnx`.
    samples : array of shape (n, m)
        Of the type of the encoder's numbers; NaN means missing.
    init : array of shape (n, q), optional
        Codes to start from, for a file with ``warm_start``.

    Raises
    ------
    ImportError
        ONNX Runtime is not installed.
    ValueError
        The file cannot be run.
    """
    runtime = require("onnxruntime", "onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    given = {"samples": samples} if init is None else {"samples": samples, "init": init}
    try:
        session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        codes, low_rank, outliers = session.run(["codes", "low_rank", "outliers"], given)
    except Exception as error:
        raise ValueError(f"ONNX Runtime {runtime.__version__} cannot run the file: {error}") from error
    return codes, low_rank, outliers


def typical_samples(encoder: Encoder) -> tuple[AnyArray, AnyArray]:
    """Random samples like those an encoder is for, with outliers and missing entries, and codes near theirs.

    Parameters
    ----------
    encoder : Encoder
        Whose components and penalties tell the sizes.
    """
    rng = np.random.default_rng(0)
    (q, m), dtype = encoder.components.shape, encoder.components.dtype
    strength = float(np.mean(encoder.outlier_penalty)) or 1.0
    atom = float(np.abs(encoder.components).max()) or 1.0
    codes = rng.standard_normal((_SAMPLES_TO_CHECK, q)) * 3 * strength / atom
    X = codes @ encoder.components + strength * rng.standard_normal((_SAMPLES_TO_CHECK, m))
    X[rng.random(X.shape) < 0.1] += 10 * strength
    X[rng.random(X.shape) < 0.1] = np.nan
    return X.astype(dtype), codes.astype(dtype)


def _model(encoder: Encoder, warm_start: bool, card: Any, scale: float) -> onnx.ModelProto:
    """The whole content of a file, checked."""
    q, m = encoder.components.shape
    graph = Graph(encoder.components.dtype)
    _draw(graph, encoder, warm_start, scale)
    inputs = [tensor(graph, "samples", m, "Samples in rows; NaN means missing.")]
    if warm_start:
        inputs.append(tensor(graph, "init", q, "Codes to start from."))
    outputs = [
        tensor(graph, "codes", q, "Codes of the samples."),
        tensor(graph, "low_rank", m, "Codes times components."),
        tensor(graph, "outliers", m, "Outliers of the samples, 0 where missing."),
    ]
    return complete(graph, "encoder", inputs, outputs, _WHAT, _metadata(encoder, warm_start, card, scale))


def _draw(graph: Graph, encoder: Encoder, warm_start: bool, scale: float) -> None:
    """Put the way from samples to codes, low-rank part and outliers into the graph."""
    nothing = graph.numbers("zero", np.zeros(1))
    missing = graph.node("missing", "IsNaN", "samples")
    x = graph.node("x", "Where", missing, nothing, scaled_input(graph, scale))
    cleaned = _draw_layers(graph, encoder, x, missing, "init" if warm_start else None)
    graph.node("low_rank", "MatMul", "codes", graph.numbers("components", encoder.components))
    graph.node("outliers", "Where", missing, nothing, graph.node("removed", "Sub", x, cleaned))


def _draw_layers(graph: Graph, encoder: Encoder, x: str, missing: str, init: str | None) -> str:
    """Put in the layers and the readout of `unmingle.core.encoder.layers.propagate`; return x - o of the last layer."""
    layers = encoder.layers
    r, c = x, None
    for k in range(encoder.n_layers):
        own = min(k, len(layers.threshold) - 1)
        if k == 0 and init is not None:
            c, decoder = init, graph.numbers("components", encoder.components)
        else:
            c = r if layers.full else _draw_code(graph, encoder, f"c{k}", own, r, c)
            decoder = graph.numbers(f"decoder{own}", layers.decoder[own])
        d = graph.node(f"d{k}", "MatMul", c, decoder)
        r = _draw_clipping(graph, encoder, str(k), own, x, d, missing)
    _draw_code(graph, encoder, "codes", None, r, c)
    return r


def _draw_code(graph: Graph, encoder: Encoder, result: str, own: int | None, r: str, c: str | None) -> str:
    """H' r, or max(0, G c + H' r) for nonnegative codes, of a layer or, if ``own`` is None, of the readout."""
    layers, place = encoder.layers, "" if own is None else str(own)
    H, G = (layers.readout, layers.readout_feedback) if own is None else (layers.encoder[own], layers.feedback[own])
    inputs = [r, graph.numbers(f"encoder{place}", H)]
    if not encoder.nonnegative_codes:
        return graph.node(result, "Gemm", *inputs, transB=1)
    if c is not None:
        inputs.append(graph.node(f"{result}_old", "MatMul", c, graph.numbers(f"feedback{place}", G)))
    return graph.node(result, "Relu", graph.node(f"{result}_new", "Gemm", *inputs, transB=1))


def _draw_clipping(graph: Graph, encoder: Encoder, place: str, own: int, x: str, d: str, missing: str) -> str:
    """Put in x - o = clip(x, d - t, d + t), without the lower bound for nonnegative outliers; d where x is missing."""
    threshold = graph.numbers(f"threshold{own}", encoder.layers.threshold[own])
    r = graph.node(f"r{place}_upper", "Min", x, graph.node(f"upper{place}", "Add", d, threshold))
    if not encoder.nonnegative_outliers:
        r = graph.node(f"r{place}_lower", "Max", r, graph.node(f"lower{place}", "Sub", d, threshold))
    return graph.node(f"r{place}", "Where", missing, d, r)


def _metadata(encoder: Encoder, warm_start: bool, card: Any, scale: float) -> dict[str, str]:
    """What the file tells of itself: text, numbers and truth values as in JSON."""
    q, m = encoder.components.shape
    least, most = encoder.outlier_penalty.min(), encoder.outlier_penalty.max()
    told = {
        "producer": f"unmingle {__version__}",
        "structure": encoder.structure,
        "n_layers": encoder.n_layers,
        "tied": encoder.tied,
        "n_features": m,
        "n_components": q,
        "dtype": encoder.components.dtype.name,
        "rank_penalty": float(encoder.rank_penalty),
        "outlier_penalty": str(least) if least == most else f"{least} to {most}",
        "nonnegative_codes": bool(encoder.nonnegative_codes),
        "nonnegative_outliers": bool(encoder.nonnegative_outliers),
        "warm_start": bool(warm_start),
    }
    told |= told_of_input(card, scale)
    return {name: value if isinstance(value, str) else json.dumps(value, default=str) for name, value in told.items()}
