"""ONNX graphs in the making."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import onnx
from onnx import checker, helper, numpy_helper

from .. import __version__
from .._types import AnyArray

OPSET = 18
"""Version of the operators in all files; ONNX Runtime knows it since 1.14."""
IR_VERSION = 8
"""Version of the file format itself; the lowest that goes with the operators."""
LARGEST = 2**31 - 2**20
"""Bytes of numbers that a file can hold: Protocol Buffers end at 2 GB, and the graph takes its share."""


class Graph:
    """Operations and numbers of a graph in the making; each goes by the name that is returned."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.nodes: list[onnx.NodeProto] = []
        self.arrays: dict[str, AnyArray] = {}
        self._name_of: dict[Any, str] = {}

    def numbers(self, name: str, array: Any) -> str:
        """Put in an array; one that is equal to another shares its place and name."""
        array = np.ascontiguousarray(array, dtype=self.dtype)
        name = self._name_of.setdefault((array.shape, sha256(array.data).digest()), name)
        self.arrays.setdefault(name, array)
        return name

    def node(self, result: str, operator: str, *inputs: str, **attributes: Any) -> str:
        """Put in an operation."""
        self.nodes.append(helper.make_node(operator, inputs, [result], name=result, **attributes))
        return result


def tensor(graph: Graph, name: str, width: int, meaning: str) -> onnx.ValueInfoProto:
    """An input or output of n rows."""
    kind = helper.np_dtype_to_tensor_dtype(graph.dtype)
    return helper.make_tensor_value_info(name, kind, ["n", width], doc_string=meaning)


def scaled_input(graph: Graph, scale: float) -> str:
    """The samples, divided by a number unless that is 1."""
    return "samples" if scale == 1 else graph.node("scaled", "Div", "samples", graph.numbers("input_scale", [scale]))


def told_of_input(card: Any, scale: float) -> dict[str, Any]:
    """What a file tells of its input, and its card: samples are divided by ``input_scale``."""
    told: dict[str, Any] = {"input_scale": f"{scale:g}"}
    if not card:
        return told
    if "smallest entry" in card and "largest entry" in card:
        least, most = (scale * float(card[name]) for name in ("smallest entry", "largest entry"))
        told["input_range"] = f"{least:g} to {most:g}"
    if "data" in card:
        told["trained_on"] = str(card["data"])
    return told | {"card": card}


def complete(
    graph: Graph, name: str, inputs: Sequence[Any], outputs: Sequence[Any], what: str, told: dict[str, str]
) -> onnx.ModelProto:
    """The whole content of a file, checked."""
    size = sum(array.nbytes for array in graph.arrays.values())
    if size > LARGEST:
        raise ValueError(
            f"The encoder holds {size / 2**30:.1f} GB of numbers, but an ONNX file at most {LARGEST / 2**30:.1f} GB; "
            "save it as .safetensors instead."
        )
    arrays = [numpy_helper.from_array(array, name) for name, array in graph.arrays.items()]
    model = helper.make_model(
        helper.make_graph(graph.nodes, name, inputs, outputs, arrays),
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
        producer_name="unmingle",
        producer_version=__version__,
        doc_string=what,
    )
    helper.set_model_props(model, told)
    checker.check_model(model, full_check=True)
    return model
