"""What files of older formats called things: for each format and kind, the step to the next format.

A step gets the parameters and the arrays of a file and gives those of the next format. Nothing in them has been checked
yet: what it does not know it leaves as it is, and the schema refuses it later.
"""

from collections.abc import Callable, Mapping
from typing import Any

Parameters = dict[str, Any]
Arrays = dict[str, Any]
"""Arrays by their dotted paths."""
Step = Callable[[Parameters, Arrays], tuple[Parameters, Arrays]]


def _with_arrays_in_their_places(parameters: Parameters, arrays: Arrays) -> tuple[Parameters, Arrays]:
    """Arrays of estimators lay beside ``init`` and ``fitted``, and those of a tracker beside its other values."""

    def place(name: str) -> str:
        if name.startswith("tracker."):
            return f"stream.{name}"
        return name if "." in name else f"init.{name}" if name == "outlier_penalty" else f"fitted.{name}"

    return parameters, {place(name): array for name, array in arrays.items()}


def _with_words_of_trackers(parameters: Parameters, arrays: Arrays) -> tuple[Parameters, Arrays]:
    """``pace`` was the noise of a tracker, and ``root`` that of its units."""
    parameters, arrays = _with_arrays_in_their_places(parameters, arrays)
    match parameters:
        case {
            "stream": {
                "tracker": {
                    "root": root,
                    "pace": {"noise": level, "least_noise": least, **noise},
                    **others,
                },
                **stream,
            },
            **rest,
        }:
            tracker = {**others, "unit_root": root, "noise": {"level": level, "least": least, **noise}}
            return {**rest, "stream": {**stream, "tracker": tracker}}, arrays
    return parameters, arrays


def _with_words_of_all_streams(parameters: Parameters, arrays: Arrays) -> tuple[Parameters, Arrays]:
    """``memory`` was 1 / (1 - forgetting), ``start`` the start size, and ``calm`` what tells a change of the scene."""
    match parameters:
        case {"calm": calm, "settings": {"memory": int(memory) | float(memory), "start": start, **others}, **rest} if (
            memory >= 1
        ):
            settings = {**others, "forgetting": 1 - 1 / memory, "start_size": start}
            return {**rest, "scene_change": calm, "settings": settings}, arrays
    return parameters, arrays


FROM_1: Mapping[str, Step] = {
    "LearnedRobustPCA": _with_arrays_in_their_places,
    "OnlineRobustPCA": _with_words_of_trackers,
    "RobustPCA": _with_arrays_in_their_places,
    "VideoStream": _with_words_of_all_streams,
}
