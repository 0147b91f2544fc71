"""A page that shows a film while it is separated.

The one who separates hands over every frame and never waits: only the newest is kept, and pictures are coded when a
browser asks for them, in a thread of the server.
"""

import asyncio
import json
import math
from dataclasses import dataclass, replace
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from .._types import AnyArray
from ..apps.video import Separation, Stream
from ..media.images import encode_jpeg
from ._server import LocalServer, read_short_body, read_static_page, reason_to_refuse

VIEWS = ("frame", "background", "foreground", "mask")


@dataclass(frozen=True)
class PreviewLimits:
    """How much of a film a browser is shown: what one sees, without slowing down the one who separates."""

    width: int = 960
    """Wider pictures are shown with every second, third ... pixel only."""
    pictures_per_second: float = 30.0
    """At most; frames that come sooner are not shown."""
    longest_wait: float = 2.0
    """Seconds after which a request for a new picture is answered without one."""


LIMITS = PreviewLimits()
BOUNDARY = "unmingle-picture"


@dataclass(frozen=True)
class Shown:
    """A frame that is shown, by its number."""

    number: int
    found: Separation


class LatestFrame:
    """The newest frame and how it goes; written by one thread, read by others."""

    def __init__(self) -> None:
        self.newest: Shown | None = None
        self.closed = False
        self._status: dict[str, Any] = {"frames": 0}
        self._step, self._last = math.nan, math.nan
        self._shown_at = -math.inf

    def show(self, found: Separation, dropped: int) -> None:
        """Put a frame in place of the last one, if that was long enough on show."""
        now = monotonic()
        step, self._last = now - self._last, now
        self._step = step if math.isnan(self._step) else self._step + 0.05 * (step - self._step)
        frames = self._status["frames"] + 1
        self._status = {
            "frames": frames,
            "time": found.time,
            "rate": 1.0 / self._step if self._step > 0.0 else 0.0,
            "share": found.score,
            "state": found.state,
            "dropped": dropped,
        }
        if now - self._shown_at >= 1.0 / LIMITS.pictures_per_second:
            self.newest, self._shown_at = Shown(frames, found), now

    @property
    def status(self) -> dict[str, Any]:
        """How it goes."""
        return self._status

    async def after(self, number: int) -> Shown | None:
        """The newest frame if it is newer than that of the number; else the next one, or None if none comes soon."""
        end = monotonic() + LIMITS.longest_wait
        while not self.closed and monotonic() < end:
            if self.newest is not None and self.newest.number > number:
                return self.newest
            await asyncio.sleep(0.01)
        return None


class JpegCache:
    """Codes pictures, each once, however many ask for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._number = -1
        self._coded: dict[str, bytes] = {}

    def pictures(self, shown: Shown) -> dict[str, bytes]:
        """The pictures of a frame as JPEG files."""
        with self._lock:
            if shown.number != self._number:
                self._coded = {view: encode_jpeg(_thin_out(getattr(shown.found, view))) for view in VIEWS}
                self._number = shown.number
            return self._coded


def _thin_out(picture: AnyArray) -> AnyArray:
    step = -(-picture.shape[1] // LIMITS.width)
    return picture[::step, ::step]


class Preview(LocalServer):
    """A server for the page, in a thread of its own, from the beginning of a with statement to its end.

    Parameters
    ----------
    stream : Stream
        What separates the frames; the page changes its false_alarm_rate and whether it is frozen.
    name : str
        What to call the film.
    port : int, default=0
        Port on 127.0.0.1; 0 for any that is free.

    Attributes
    ----------
    address : str
        The address of the page.
    """

    def __init__(self, stream: Stream, name: str, *, port: int = 0) -> None:
        self._stream, self._name = stream, name
        self._latest, self._coded = LatestFrame(), JpegCache()
        self._asked: dict[str, Any] = {}
        """Settings that the page asked for since the last frame."""
        self._content = read_static_page("preview.html")
        routes = [
            Route("/", self._page),
            Route("/status", self._status),
            Route("/pictures", self._pictures),
            Route("/{view}.jpg", self._picture),
            Route("/settings", self._change, methods=["POST"]),
        ]
        super().__init__(routes, "preview", port=port)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._latest.closed = True
        super().__exit__(kind, error, trace)

    def show(self, found: Separation, dropped: int = 0) -> None:
        """Show a frame and do what the page asked for meanwhile; to be called by the one who separates."""
        self._latest.show(found, dropped)
        asked, self._asked = self._asked, {}
        if "frozen" in asked:
            self._stream.freeze(asked["frozen"])
        if "false_alarm_rate" in asked:
            self._stream.settings = replace(self._stream.settings, false_alarm_rate=asked["false_alarm_rate"])

    def _settings(self) -> dict[str, Any]:
        now = {"false_alarm_rate": self._stream.settings.false_alarm_rate, "frozen": self._stream.frozen_}
        return {**now, **self._asked}

    async def _page(self, request: Request) -> Response:
        return HTMLResponse(self._content)

    async def _status(self, request: Request) -> Response:
        whole = "picture" if self._stream.settings.region is None else "region"
        return JSONResponse({"source": self._name, "whole": whole, **self._latest.status, **self._settings()})

    async def _pictures(self, request: Request) -> Response:
        shown = await self._latest.after(_parse_number(request.query_params.get("after", "")))
        if shown is None:
            return Response(status_code=204)
        coded = await run_in_threadpool(self._coded.pictures, shown)
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        return Response(_to_form(coded), media_type=kind, headers={"X-Frame": str(shown.number)})

    async def _picture(self, request: Request) -> Response:
        shown, view = self._latest.newest, request.path_params["view"]
        if shown is None or view not in VIEWS:
            return PlainTextResponse("There is no such picture.", status_code=404)
        return Response((await run_in_threadpool(self._coded.pictures, shown))[view], media_type="image/jpeg")

    async def _change(self, request: Request) -> Response:
        reason = reason_to_refuse(request)
        if reason is not None:
            return PlainTextResponse(reason, status_code=403)
        try:
            asked = _settings_in(await read_short_body(request))
        except ValueError as error:
            return PlainTextResponse(str(error), status_code=400)
        self._asked = {**self._asked, **asked}
        return JSONResponse(self._settings())


def _parse_number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 16 else 0


def _to_form(pictures: dict[str, bytes]) -> bytes:
    """Several pictures as one answer, which browsers read as a form."""
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{view}"; filename="{view}.jpg"\r\n'
        f"Content-Type: image/jpeg\r\n\r\n".encode()
        + content
        + b"\r\n"
        for view, content in pictures.items()
    ]
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def _settings_in(body: bytes) -> dict[str, Any]:
    """The settings in a request, checked."""
    try:
        asked = json.loads(body)
    except ValueError:
        asked = None
    match asked:
        case {"false_alarm_rate": int() | float() as rate} if len(asked) == 1 and 0.0 < rate <= 0.5:
            return {"false_alarm_rate": float(rate)}
        case {"frozen": bool(frozen)} if len(asked) == 1:
            return {"frozen": frozen}
    raise ValueError("Expected either false_alarm_rate, above 0 and at most 0.5, or frozen, true or false.")
