"""Encoders of sequences as ONNX files: one step, with the state as an input and an output."""

import json
from os import PathLike
from typing import Any

import numpy as np
import onnx

from .. import __version__
from .._types import AnyArray
from .._validation import require
from ..core.encoder.sequence import FLOOR, SequenceEncoder, SequenceParts
from .graph import Graph, complete, scaled_input, tensor, told_of_input

_SAMPLES_TO_CHECK = 16


def sequence_model(
    encoder: SequenceEncoder, usual: Any = None, card: Any = None, scale: float = 1.0
) -> onnx.ModelProto:
    """One step of `carry` and `read_out` of `unmingle.core.encoder.sequence`, for n sequences at once.

    Parameters
    ----------
    encoder : SequenceEncoder
        The network.
    usual : array of shape (m,), optional
        What samples are divided by before.
    card : dict, optional
        What the file tells of its training.
    scale : float
        What samples are divided by even before.
    """
    m, q = encoder.n_features, encoder.n_components
    graph = Graph(encoder.dtype)
    x, code = scaled_input(graph, scale), "state"
    if usual is not None:
        x = graph.node("x", "Div", x, graph.numbers("usual", usual))
    for k in range(encoder.n_layers):
        code = _draw_layer(graph, encoder, k, x, code)
    _draw_head(graph, encoder, x, code)
    inputs = [tensor(graph, "samples", m, "Samples, the next one of each sequence."),
              tensor(graph, "state", q, "Of each sequence; 0 in its beginning.")]  # fmt: skip
    outputs = [
        tensor(graph, "background", m, "b: the share b^2 / (b^2 + f^2) of a sample is background."),
        tensor(graph, "foreground", m, "f."),
        tensor(graph, "next_state", q, "The state after these samples."),
    ]
    told = {
        "producer": f"unmingle {__version__}",
        "n_layers": str(encoder.n_layers),
        "n_features": str(m),
        "n_components": str(q),
        "dtype": encoder.dtype.name,
    }
    for name, value in told_of_input(card, scale).items():
        told[name] = value if isinstance(value, str) else json.dumps(value, default=str)
    return complete(graph, "sequence_encoder", inputs, outputs, "Tells background from foreground in sequences.", told)


def _draw_layer(graph: Graph, encoder: SequenceEncoder, k: int, x: str, code: str) -> str:
    """R = min(x, A c + t),   c <- max(0, G c + H' r + b)."""
    A, H, t, G, b = (part[k] for part in encoder.cell)
    d = graph.node(f"d{k}", "Gemm", code, graph.numbers(f"decoder{k}", A), graph.numbers(f"threshold{k}", t))
    r = graph.node(f"r{k}", "Min", x, d)
    old = graph.node(f"old{k}", "Gemm", code, graph.numbers(f"feedback{k}", G), graph.numbers(f"bias{k}", b))
    new = graph.node(f"new{k}", "Gemm", r, graph.numbers(f"encoder{k}", H), old, transB=1)
    return graph.node("next_state" if k == encoder.n_layers - 1 else f"c{k + 1}", "Relu", new)


def _draw_head(graph: Graph, encoder: SequenceEncoder, x: str, code: str) -> None:
    head, floor = encoder.head, graph.numbers("floor", np.array([FLOOR]))
    half = graph.numbers("half_power", np.array([head.power / 2]))
    soft = {}
    for name, B, b in (
        ("background", head.background, head.background_bias),
        ("foreground", head.foreground, head.foreground_bias),
    ):
        sums = graph.node(f"{name}_sums", "Gemm", code, graph.numbers(f"{name}_head", B), graph.numbers(f"{name}_b", b))
        soft[name] = graph.node(f"{name}_soft", "Softplus", sums)
    both = graph.node("both", "Add", *soft.values())
    beyond = graph.node("beyond", "Sub", graph.node("rest", "Sub", x, both), graph.numbers("t_o", head.threshold))
    soft["foreground"] = graph.node("voiced", "Add", soft["foreground"], graph.node("surplus", "Relu", beyond))
    for name, part in soft.items():
        graph.node(name, "Pow", graph.node(f"{name}_raised", "Add", part, floor), half)


def sequence_pairs(
    path: str | PathLike[str], encoder: SequenceEncoder, usual: Any, scale: float = 1.0
) -> list[tuple[Any, Any]]:
    """Answers of a file, and those of the network, for samples and a state such as it is for."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((_SAMPLES_TO_CHECK, encoder.n_features))).astype(encoder.dtype)
    state = encoder.encode(X[::-1])[-1]
    given = X if usual is None else X * np.asarray(usual, encoder.dtype)
    given = given * encoder.dtype.type(scale)
    return list(zip(run_sequence(path, given, state), encoder.separate(X, state=state, backend="numpy"), strict=True))


def run_sequence(path: str | PathLike[str], samples: AnyArray, state: AnyArray | None = None) -> SequenceParts:
    """Follow one sequence in ONNX Runtime, on one thread.

    Parameters
    ----------
    path : path
        A file that `to_onnx` made of a `SequenceEncoder`.
    samples : array of shape (n, m)
        In their order, of the type of the network's numbers.
    state : array of shape (q,), optional
        Where the sequence goes on; None for its beginning.
    """
    runtime = require("onnxruntime", "onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    q = session.get_inputs()[1].shape[1]
    now = np.zeros((1, q), samples.dtype) if state is None else state[None]
    found = []
    for x in samples:
        *parts, now = session.run(["background", "foreground", "next_state"], {"samples": x[None], "state": now})
        found.append([part[0] for part in parts])
    empty = np.empty((2, 0, samples.shape[1]), samples.dtype)
    background, foreground = np.array(found).swapaxes(0, 1) if found else empty
    return SequenceParts(background, foreground, now[0])
