"""Encoders as ONNX files, which run without Python in ONNX Runtime and in whatever else reads this format.

`to_onnx` writes a file, `check` runs it and holds it to the encoder.
"""

from .._validation import require

require("onnx", "onnx")

from .encoders import check, run, to_onnx  # noqa: E402
from .sequences import run_sequence  # noqa: E402

__all__ = ["check", "run", "run_sequence", "to_onnx"]
