"""Encoders as ONNX files, which run without Python in ONNX Runtime and in whatever else reads this format.

`to_onnx` writes a file, `check` runs it and holds it to the encoder.
"""

from .._validation import require

require("onnx", "onnx")

from ._encoders import TOLERANCE, check, run, to_onnx, typical_samples  # noqa: E402
from ._graph import IR_VERSION, LARGEST, OPSET  # noqa: E402
from ._sequences import run_sequence  # noqa: E402

__all__ = ["IR_VERSION", "LARGEST", "OPSET", "TOLERANCE", "check", "run", "run_sequence", "to_onnx", "typical_samples"]
