"""The card of a film and its events, in words: the same in the terminal and in the report."""

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np

from ...core.encoder.encoder import Encoder
from ...report import clock, counted, share
from ._stream import Stream


def whole(card: Mapping[str, Any]) -> str:
    """What the shares of a card are shares of."""
    return "region" if card["region"] else "picture"


def facts(card: Mapping[str, Any]) -> dict[str, str]:
    """The card, each line with its name."""
    told = {
        "film": f"{counted(card['frames'], 'frame')} of {card['width']} x {card['height']} pixels, "
        f"{clock(card['duration'], 1)}",
        "rank of the background": str(card["rank"]),
        "noise": f"{card['noise'] or 0:.1f} of 255 grey steps",
        "foreground": f"{share(card['mean_share'])} of the {whole(card)} on average, "
        f"at most {share(card['largest_share'])}",
        "scene changes": _changes(card["scene_changes"], card["adapting_frames"]),
        "time": ", ".join(f"{name} {seconds:.1f} s" for name, seconds in card["seconds"].items()),
        "processing speed": f"{card['frames_per_second'] or 0:.0f} frames/s",
    }
    if card.get("camera_moves"):
        told["camera"] = _moves(card["camera_moves"])
    if card.get("start_frames") is not None:
        told["start"] = (
            f"the film is short, the background was learnt from {counted(card['start_frames'], 'frame')} only"
        )
    if card["dropped"]:
        told["dropped"] = f"{counted(card['dropped'], 'frame')} that came too fast"
    unknown = [line for line, key in (("rank of the background", "rank"), ("noise", "noise")) if card[key] is None]
    return {name: words for name, words in told.items() if name not in unknown}


def _changes(changes: int, frames: int) -> str:
    return f"{changes}, which took {counted(frames, 'frame')} to learn" if changes else "none"


def _moves(times: Sequence[float]) -> str:
    first = ", ".join(clock(time, 1) for time in times[:5])
    return f"moved, or the film was cut, at {first}{f' and {len(times) - 5} more times' if len(times) > 5 else ''}"


def warnings_of(card: Mapping[str, Any]) -> list[str]:
    """What users of the masks should know, one sentence each."""
    told = []
    if card["camera_moves"]:
        told.append(
            f"The camera {_moves(card['camera_moves'])}; the background was learnt again, and "
            f"{counted(card['frames_without_mask'], 'frame')} {'has' if card['frames_without_mask'] == 1 else 'have'} "
            "no mask. A fixed camera is needed"
            f"{'' if card['stabilise'] else '; one that shakes is followed with --stabilise (Stream(stabilise=...))'}."
        )
    return told


EVENT_HEAD = ("event", "start", "end", "seconds", "frames", "peak", "place")


def event_table(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], list[list[str]]]:
    """The events as a table to read: its head and rows, with regions if a named one was touched."""
    cells = [
        [
            str(row["event"]),
            clock(row["start"], 2),
            clock(row["end"], 2),
            f"{row['duration']:.2f}",
            f"{row['first_frame']}–{row['last_frame']}",
            share(row["peak_share"]),
            f"x {row['left']}–{row['right']}, y {row['top']}–{row['bottom']}",
        ]
        for row in rows
    ]
    if not any(row["regions"] for row in rows):
        return EVENT_HEAD, cells
    return (*EVENT_HEAD, "regions"), [[*cell, row["regions"]] for cell, row in zip(cells, rows, strict=True)]


UNSET = {
    "patience": "never",
    "region": "the whole picture",
    "min_area": "by the size of the picture",
    "smoothing": "by the size of the picture",
    "stabilise": "no, the camera stands still",
}
"""What None means for a setting."""


def settings_in_words(stream: Stream) -> dict[str, str]:
    """The settings of a stream in words, by their names."""
    return {name: _in_words(name, getattr(stream, name)) for name in signature(Stream).parameters}


def _in_words(name: str, value: Any) -> str:
    if value is None:
        return UNSET.get(name, "not set")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, np.ndarray):
        return f"{np.count_nonzero(value) / value.size:.0%} of the picture"
    if isinstance(value, Encoder):
        return f"a trained network of {counted(value.n_layers, 'layer')}"
    words = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{words} frames" if name == "patience" else words
