"""Streams of colours that were saved with three channels for each pixel, as version 1 did, to brightness and planes."""

import math
from typing import Any

import numpy as np

from ..._types import AnyArray, Float64Array
from ...media import BLUE, RED, Planes

_TO_PLANES = np.array(
    [[0.299, 0.587, 0.114], [-0.299 * BLUE, -0.587 * BLUE, 0.886 * BLUE], [0.701 * RED, -0.587 * RED, -0.114 * RED]]
)
"""Y, and Cb and Cr from the middle, of red, green and blue."""


def has_three_channels(content: dict[str, Any]) -> bool:
    """Whether what a file holds has red, green and blue of each pixel, side by side."""
    shape = content["shape"]
    rows = content.get("components", content.get("first"))
    return shape is not None and len(shape) == 3 and rows is not None and rows.shape[1] == math.prod(shape)


def with_planes(content: dict[str, Any]) -> dict[str, Any]:
    """The same with brightness and two planes of colour.

    Planes are linear in the colours, so components keep what they say; variances are those of sums of independent
    numbers. What was learnt of the pixels to find codes from is kept.
    """
    height, width = content["shape"][:2]
    found = dict(content)
    for name in ("last", "first"):
        if name in content:
            rows = [Planes.from_rgb(row.reshape(height, width, 3)).values for row in np.atleast_2d(content[name])]
            found[name] = rows[0] if name == "last" else np.stack(rows)
    if "components" not in content:
        return found
    found["components"] = np.stack([_in_planes(row, height, width, _TO_PLANES) for row in content["components"]])
    found["variance"] = _in_planes(content["variance"], height, width, _TO_PLANES**2)
    found["last_deviation"] = np.zeros_like(found["last"])
    found["sample"] = np.unique(content["sample"] // 3).astype(np.int32)
    found["step"] = np.zeros((0, 0), dtype=np.float32)
    return found


def _in_planes(row: AnyArray, height: int, width: int, how: Float64Array) -> AnyArray:
    """A row of coloured pixels as a row of planes, each plane by its own weights of the channels."""
    picture = row.reshape(height, width, 3).astype(np.float64)
    even = np.pad(picture, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    halves = even.reshape(len(even) // 2, 2, -1, 2, 3).mean(axis=(1, 3))
    parts = [picture @ how[0], halves @ how[1], halves @ how[2]]
    return np.concatenate([part.reshape(-1) for part in parts]).astype(row.dtype)
