"""Streams of video to what a file holds, and back."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..._rules import LEAST, ArrayOf, Count, Either, Flag, Number, OneOf, Record, Row, Rule, maybe
from ..._types import AnyArray
from ...core.encoder.encoder import ENCODER, LAYERS, Encoder
from ._background import MOST_COMPONENTS, Background
from ._camera import CameraWatch
from ._format import FrameFormat
from ._scene_change import SceneChange
from ._stabiliser import STABILISERS, stabiliser_rules

if TYPE_CHECKING:
    from ._stream import Stream

S = TypeVar("S", bound="Stream")

KIND = "VideoStream"
SETTINGS = (
    "n_components", "forgetting", "false_alarm_rate", "n_layers", "pixel_share", "smoothing", "min_area", "shadows",
    "patience", "start_size", "stabilise", "random_state",
)  # fmt: skip
"""What is stored of a stream as it was given, beside the encoder and the region."""
DTYPES = ("uint8", "uint16", "float32")
_SETTING_RULES: dict[str, Rule] = {
    "n_components": Count(1, MOST_COMPONENTS),
    "forgetting": Number(LEAST, 1.0),
    "false_alarm_rate": Number(LEAST, np.nextafter(1.0, 0.0)),
    "n_layers": LAYERS,
    "pixel_share": maybe(Number(LEAST, 1.0)),
    "smoothing": OneOf(None, *range(1, 16, 2)),
    "min_area": maybe(Count(1)),
    "shadows": Flag(),
    "patience": maybe(Count(1)),
    "start_size": Count(1),
    "random_state": maybe(Count(0, 2**1024)),
    "stabilise": OneOf(None, *STABILISERS),
}
_MOST = 1e6
"""Pixels are at most 1: no number of a background is near this."""
_NUMBERS = Record(
    {
        "weight": Number(1e-9, _MOST**2),
        "outlier_penalty": Number(0.0, _MOST),
        "learnt": Count(),
        "stride": Count(1, 2**20),
    }
)
_SCENE_CHANGE = Record(
    {
        "usual": Number(0.0, 1.0),
        "left": Count(),
        "was_disturbed": Flag(),
        "alert": Count(),
        "jumps": Count(),
        "before": Number(0.0, 1.0),
    }
)
_CAMERA = Record({"moves": Count(), "moving": Flag(), "strikes": Count()})
_SIDE = Count(1, 2**20)
_SHAPE = Either(Row(_SIDE, _SIDE), Row(_SIDE, _SIDE, OneOf(3)))


def to_store(stream: "Stream") -> dict[str, Any]:
    """What a file holds, from which `restored` makes the stream again."""
    content: dict[str, Any] = {} if stream._model is None else stream._model.arrays()
    content |= {
        "settings": {name: getattr(stream, name) for name in SETTINGS},
        "numbers": {} if stream._model is None else stream._model.numbers(),
        "scene_change": asdict(stream._scene_change),
        "n_frames": stream.n_frames,
        "learnt_at": stream._learnt_at,
        "camera": asdict(stream._camera),
        "frozen": stream.frozen_,
        "shape": None if stream._detector is None else list(stream._detector.format.shape),
        "dtype": None if stream._detector is None else str(stream._detector.format.dtype),
        "encoder": stream.encoder._to_store() if isinstance(stream.encoder, Encoder) else stream.encoder,
    }
    if stream.region is not None:
        content["region"] = stream.region
    for name, rows in (("first", stream._first), ("lights", stream._lights.pictures)):
        if rows:
            content[name] = np.stack(rows)
    if stream.stabilise is not None and stream._model is not None:
        content["stabiliser"] = stream._stabiliser.to_store()
    return content


def schema_of(content: dict[str, Any]) -> Record:
    """The schema of a file: a stream has a background, or is starting, or has seen nothing; some have a network."""
    has_model, has_network = "components" in content, isinstance(content.get("encoder"), dict)
    dtype = tuple(name for name in DTYPES if name == content.get("dtype")) or DTYPES
    kept: dict[str, Rule] = {"lights" if has_model else "first": ArrayOf(dtype, "frames", "m", low=0.0, high=1.0)}
    if has_model:
        kept |= {"usual": ArrayOf(("float32",), "q", low=-_MOST, high=_MOST), "stabiliser": stabiliser_rules(dtype)}
    return Record(
        {
            **(_background_rules(dtype) if has_model else {}),
            "settings": Record(_SETTING_RULES),
            "numbers": _NUMBERS if has_model else Record({}),
            "scene_change": _SCENE_CHANGE,
            "n_frames": Count(),
            "learnt_at": Count(),
            "frozen": Flag(),
            "shape": _SHAPE if has_model or "first" in content else OneOf(None),
            "dtype": OneOf(None) if content.get("shape") is None else OneOf(*DTYPES),
            "encoder": ENCODER if has_network else OneOf("layers", "exact"),
            "camera": _CAMERA,
        },
        {"region": ArrayOf(("bool",), "height", "width"), **kept},
    )


def _background_rules(dtype: tuple[str, ...]) -> dict[str, Rule]:
    """The compiled loops rely on these sizes and types."""
    return {
        "components": ArrayOf(("float32",), "q", "m", low=-_MOST, high=_MOST),
        "codes": ArrayOf(("float32",), "q", low=-_MOST, high=_MOST),
        "variance": ArrayOf(("float32",), "m", low=0.0, high=_MOST),
        "squares": ArrayOf(("float64",), "q", "q", low=-(_MOST**2), high=_MOST**2),
        "last": ArrayOf(dtype, "m", low=0.0, high=1.0),
        "last_deviation": ArrayOf(dtype, "m", low=-1.0, high=1.0),
        "seen": ArrayOf(("uint16",), "pixels"),
        "waited": ArrayOf(("uint16",), "pixels"),
        "sample": ArrayOf(("int32",), "sample"),
        "step": ArrayOf(("float32",), "q", "q", low=-_MOST, high=_MOST),
    }


def restored(kind: type[S], content: dict[str, Any]) -> S:
    """The stream that was stored; whatever does not fit together raises an error."""
    encoder = content["encoder"]
    encoder = Encoder._from_store(encoder) if isinstance(encoder, dict) else encoder
    stream = kind(**content["settings"], encoder=encoder, region=content.get("region"))
    stream.n_frames, stream.frozen_ = int(content["n_frames"]), content["frozen"] is True
    stream._learnt_at = int(content["learnt_at"])
    stream._scene_change = SceneChange(**content["scene_change"])
    stream._camera = CameraWatch(**content["camera"])
    parts: dict[str, Any] = {
        name: content[name].copy() for name in (*_background_rules(DTYPES), "usual") if name in content
    }
    first = content.get("first", np.empty((0, 0)))
    stream._lights.pictures = list(content.get("lights", ()))
    if content["shape"] is not None:
        shape = content["shape"]
        form = FrameFormat("grey" if len(shape) == 2 else "colours", shape[0], shape[1], np.dtype(content["dtype"]))
        if parts or "first" in content:
            _check_sizes(form, parts, first)
        stream._open(form)
        if parts:
            stream._model = Background(format=form, **parts, **content["numbers"])
        if "stabiliser" in content:
            stream._stabiliser.restore(content["stabiliser"], form)
    if len(first) and len(first) >= stream.start_size:
        raise ValueError(f"a stream that starts from {stream.start_size} frames cannot hold {len(first)} of them")
    stream._first = list(first)
    return stream


def _check_sizes(form: FrameFormat, arrays: dict[str, AnyArray], first: AnyArray) -> None:
    """Refuse arrays of another size than the frames, too many components, and pixels that are not there."""
    m = arrays["last"].size if arrays else first.shape[1]
    if m != form.entries or (arrays and arrays["seen"].size != form.pixels):
        raise ValueError(f"frames of shape {form.shape} have {form.entries} entries, not {m}")
    if not arrays:
        return
    if not 1 <= len(arrays["components"]) <= MOST_COMPONENTS:
        raise ValueError(f"a background has 1 to {MOST_COMPONENTS} components, not {len(arrays['components'])}")
    sample = arrays["sample"]
    if sample.size and (sample[0] < 0 or sample[-1] >= form.pixels or (np.diff(sample) <= 0).any()):
        raise ValueError("sample should hold places of pixels in rising order")
