"""Who takes films apart: our stream, and OpenCV's background subtractors where OpenCV is installed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmingle.apps.video import Stream

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]
View = Literal["grey", "colour", "planes", "blue first", "grey as colour"]

WITHOUT_OPENCV = "OpenCV is not installed, so its methods are left out: pip install opencv-contrib-python-headless."
MEDIAN = " + median"
OURS, REFERENCE = "unmingle", "MOG2" + MEDIAN
FOREGROUND = 255
"""What OpenCV's methods write; shadows, 127, count as background."""


class Rival(NamedTuple):
    """A method, at its defaults."""

    name: str
    begin: Callable[[], Callable[[Bytes], Mask]]
    """Gives what maps frame after frame to masks."""
    view: View = "grey"
    """What frames it is given."""
    cleaned_by: Callable[[Mask], Mask] | None = None
    """For methods that leave their masks as they are: a median over 5 x 5 pixels."""


def ours(name: str = OURS, *, view: View = "grey", **settings: Any) -> Rival:
    """Our stream."""

    def begin() -> Callable[[Bytes], Mask]:
        stream = Stream(**settings)
        return lambda frame: stream.push(frame).mask

    return Rival(name, begin, view)


def opencv() -> Any:
    """The module cv2; None where it is not installed."""
    try:
        return import_module("cv2")
    except ImportError:
        return None


@contextmanager
def one_thread(cv2: Any) -> Iterator[None]:
    """OpenCV with one thread and a fixed seed, for as long as it lasts."""
    if cv2 is None:
        yield
        return
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    cv2.setRNGSeed(0)
    try:
        yield
    finally:
        cv2.setNumThreads(before)


def rivals(cv2: Any) -> list[Rival]:
    """Everyone in the table."""
    own = [ours(), ours("unmingle, 10 % of the pixels", pixel_share=0.1), ours("unmingle, colour", view="colour")]
    if cv2 is None:
        return own
    known = [peer(cv2, "MOG2"), peer(cv2, "KNN"), peer(cv2, "MOG2", "blue first"), peer(cv2, "KNN", "blue first")]
    if hasattr(cv2, "bgsegm"):
        known.insert(2, peer(cv2, "GSOC", "grey as colour"))
    return [*own, *known]


def lobby_rivals(cv2: Any) -> list[Rival]:
    """Those that are watched when lamps are switched."""
    return [ours()] if cv2 is None else [ours(), peer(cv2, "MOG2"), peer(cv2, "KNN")]


def subtractor(cv2: Any, name: str) -> Any:
    """One of OpenCV's methods at its defaults, as it is."""
    home = cv2 if hasattr(cv2, f"createBackgroundSubtractor{name}") else cv2.bgsegm
    return getattr(home, f"createBackgroundSubtractor{name}")()


def peer(cv2: Any, name: str, view: View = "grey") -> Rival:
    """One of OpenCV's methods at its defaults."""

    def begin() -> Callable[[Bytes], Mask]:
        method = subtractor(cv2, name)
        return lambda frame: np.asarray(method.apply(frame) == FOREGROUND)

    def median(mask: Mask) -> Mask:
        return np.asarray(cv2.medianBlur(mask.view(np.uint8), 5).view(np.bool_))

    return Rival(f"{name}, colour" if view == "blue first" else name, begin, view, median)


def seen(view: View, frames: Bytes, colours: Bytes | None) -> Bytes | None:
    """The frames as a method wants them; None if there are no colours."""
    if view == "grey":
        return frames
    if view == "grey as colour":
        return np.repeat(frames[..., None], 3, axis=3)
    if colours is None or view == "colour":
        return colours
    return np.ascontiguousarray(colours[..., ::-1])
