"""Addresses and cameras that go on for ever, and what to do when they break off."""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, NamedTuple

from .._validation import require
from ._read_video import Video, decode_frames, open_video
from .errors import MediaError, cause
from .frames import Colour, Frame, FrameSource

_ENDLESS = ("rtsp", "rtsps", "rtmp", "udp")
"""Addresses that never end of themselves, so that an end is a break."""


@dataclass(frozen=True)
class Reconnecting:
    """How often to connect again when a connection breaks: these numbers wait for about 15 seconds altogether."""

    attempts: int = 5
    """After this number of failures the frames end with an error."""
    first_delay: float = 0.5
    """Seconds before the first attempt; each further one waits twice as long."""


RECONNECTING = Reconnecting()
_DEVICES = {"linux": ("v4l2", "/dev/video{}"), "darwin": ("avfoundation", "{}")}
"""How FFmpeg calls cameras, and the camera of a number, on each system."""


class Connection(NamedTuple):
    """An open camera or address."""

    frames: Callable[[Event], Iterator[Frame]]
    """Gives frames; ends at a true end and raises MediaError when the connection is lost."""
    rate: float | None


def hide_password(address: str) -> str:
    """The address as it may be shown."""
    return re.sub(r"//[^/@]*@", "//", address)


def is_always_live(scheme: str) -> bool:
    """Whether addresses of this kind go on for ever."""
    return scheme in _ENDLESS


def open_stream(address: str, colour: Colour, timeout: float) -> FrameSource:
    """Frames of an address, the newest one at a time; a connection that breaks is made again."""
    scheme, name = address.partition("://")[0].lower(), hide_password(address)
    options = {"rtsp_transport": "tcp"} if scheme.startswith("rtsp") else {}

    def connect() -> Connection:
        video = open_video(address, name, options=options, timeout=timeout, threads="SLICE")
        return Connection(lambda stop: _live_frames(video, colour, stop, is_always_live(scheme)), video.rate)

    return open_live(connect, name, colour)


def open_live(connect: Callable[[], Connection], name: str, colour: Colour) -> FrameSource:
    """Frames of whatever can be connected to; the first connection must succeed at once."""
    first = connect()
    return FrameSource(
        lambda stop: _reconnect(connect, first, name, stop),
        name=name,
        colour=colour,
        rate=first.rate,
        live=True,
    )


def _live_frames(video: Video, colour: Colour, stop: Event, endless: bool) -> Iterator[Frame]:
    try:
        yield from decode_frames(video, colour, stop)
        if endless or video.error is not None:
            raise MediaError(
                f"{video.name} stopped sending: {cause(video.error) if video.error else 'the sender ended'}."
            )
    finally:
        video.container.close()


def _reconnect(connect: Callable[[], Connection], first: Connection, name: str, stop: Event) -> Iterator[Frame]:
    """Frames of one connection after the other; times go on by the clock while there is none."""
    connection: Connection | None = first
    failures, begun, last = 0, None, 0.0
    while not stop.is_set():
        try:
            connection = connection or connect()
            offset = None
            for frame in connection.frames(stop):
                now = monotonic()
                begun = begun or now
                if offset is None:
                    offset = max(last, now - begun) - frame.time
                failures, last = 0, offset + frame.time
                yield Frame(last, frame.pixels)
            return
        except MediaError as error:
            failures += 1
            if failures > RECONNECTING.attempts:
                raise MediaError(
                    f"{name} was lost, and {RECONNECTING.attempts} attempts to connect again failed; "
                    f"the last one: {error}"
                ) from error
        connection = None
        stop.wait(RECONNECTING.first_delay * 2 ** (failures - 1))


def open_camera(camera: int | str, colour: Colour, timeout: float) -> FrameSource:
    """Frames of a camera, by FFmpeg where it can, else by OpenCV if that is installed."""
    number = str(camera).removeprefix("camera:").removeprefix("/dev/video")
    if not number.isdigit():
        raise MediaError(f"{camera} is not a camera; expected its number, such as camera:0.")
    name = f"camera:{number}"
    kind, pattern = _DEVICES.get(sys.platform, ("dshow", "{}"))
    device = pattern.format(number)
    if device.startswith("/") and not Path(device).exists():
        raise MediaError(f"{name} does not exist: there is no {device}; check that the camera is plugged in.")
    if _has_format(kind):
        return open_live(lambda: _connect_by_ffmpeg(kind, device, name, colour, timeout), name, colour)
    by_opencv = _import_opencv()
    if by_opencv is None:
        raise MediaError(
            f"{name} cannot be opened: this PyAV was built without {kind}; "
            "install OpenCV with: pip install opencv-python-headless"
        )
    return open_live(lambda: _connect_by_opencv(by_opencv, int(number), name), name, colour)


def _connect_by_ffmpeg(kind: str, device: str, name: str, colour: Colour, timeout: float) -> Connection:
    video = open_video(device, name, kind=kind, timeout=timeout, threads="SLICE")
    return Connection(lambda stop: _live_frames(video, colour, stop, True), video.rate)


def _has_format(kind: str) -> bool:
    formats = require("av", "media").formats_available
    return kind != "dshow" and any(kind in names.split(",") for names in formats)


def _import_opencv() -> Any:
    try:
        return import_module("cv2")
    except ImportError:
        return None


def _connect_by_opencv(cv2: Any, number: int, name: str) -> Connection:
    capture = cv2.VideoCapture(number)
    if not capture.isOpened():
        raise MediaError(f"{name} cannot be opened by OpenCV; check that it is plugged in and not in use.")

    def frames(stop: Event) -> Iterator[Frame]:
        begun = monotonic()
        try:
            while not stop.is_set():
                came, pixels = capture.read()
                if not came:
                    raise MediaError(f"{name} stopped sending pictures.")
                yield Frame(monotonic() - begun, pixels if pixels.ndim == 2 else pixels[:, :, ::-1])
        finally:
            capture.release()

    return Connection(frames, float(capture.get(cv2.CAP_PROP_FPS)) or None)
