"""Streams of video to what a file holds, and back."""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...encoder import Encoder
from ._light import Calm
from ._model import Background, check_parts

if TYPE_CHECKING:
    from ._stream import Stream

Array = NDArray[Any]
S = TypeVar("S", bound="Stream")

KIND = "VideoStream"
SETTINGS = (
    "n_components", "memory", "false_alarm_rate", "n_layers", "pixel_share", "smoothing", "min_area", "shadows",
    "patience", "start", "random_state",
)  # fmt: skip
"""What is stored of a stream as it was given, beside the encoder and the region."""


def to_store(stream: "Stream") -> tuple[dict[str, Any], dict[str, Array]]:
    """Parameters and arrays from which `restored` makes the stream again."""
    arrays = {} if stream._model is None else stream._model.arrays()
    parameters: dict[str, Any] = {
        "settings": {name: getattr(stream, name) for name in SETTINGS},
        "numbers": {} if stream._model is None else stream._model.numbers(),
        "calm": asdict(stream._calm),
        "n_frames": stream.n_frames,
        "learnt_at": stream._learnt_at,
        "frozen": stream.frozen,
        "shape": None if stream._eye is None else list(stream._eye.format[0]),
        "dtype": None if stream._eye is None else str(stream._eye.format[1]),
        "encoder": stream.encoder,
    }
    if isinstance(stream.encoder, Encoder):
        parameters["encoder"], parts = stream.encoder._to_store()
        arrays |= {f"encoder.{name}": part for name, part in parts.items()}
    if stream.region is not None:
        arrays["region"] = stream.region
    if stream._first:
        arrays["first"] = np.stack(stream._first)
    return parameters, arrays


def restored(kind: type[S], parameters: dict[str, Any], arrays: dict[str, Array]) -> S:
    """The stream that was stored; whatever does not fit together raises an error."""
    encoder = parameters["encoder"]
    if isinstance(encoder, dict):
        names = [name for name in arrays if name.startswith("encoder.")]
        encoder = Encoder._from_store(encoder, {name.removeprefix("encoder."): arrays.pop(name) for name in names})
    stream = kind(**parameters["settings"], encoder=encoder, region=arrays.pop("region", None))
    stream.n_frames, stream.frozen = int(parameters["n_frames"]), parameters["frozen"] is True
    stream._learnt_at = int(parameters["learnt_at"])
    stream._calm = Calm(**parameters["calm"])
    first = arrays.pop("first", np.empty((0, 0)))
    if parameters["shape"] is None and (arrays or first.size):
        raise ValueError
    if parameters["shape"] is not None:
        shape, dtype = tuple(parameters["shape"]), np.dtype(parameters["dtype"])
        _check_format(shape, dtype, arrays["last"] if arrays else first[0])
        stream._open(shape, dtype)
    stream._first = list(first)
    if arrays:
        parts: dict[str, Any] = {name: part.copy() for name, part in arrays.items()}
        check_parts(parts, stream._eyes().canvas.near.size)
        stream._model = Background(**parts, **parameters["numbers"])
    return stream


def _check_format(shape: tuple[int, ...], dtype: Any, row: Array) -> None:
    """Refuse a size or type that no frame has, or that is not that of a stored row."""
    colours = len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)
    if not colours or min(shape) < 1 or dtype not in (np.uint8, np.uint16, np.float32):
        raise ValueError
    if (row.shape, row.dtype) != ((math.prod(shape),), dtype):
        raise ValueError
