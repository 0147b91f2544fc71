"""A server for the browser on this computer, which keeps other pages and idle connections away."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from threading import Thread
from time import sleep
from types import TracebackType
from typing import Any, Self

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..report.pieces import style_sheet


@dataclass(frozen=True)
class ServerLimits:
    """What one browser may ask of the server, so that slow or greedy ones do not keep others waiting."""

    seconds_between_answers: float = 30.0
    """From the end of one answer to that of the next; after that the connection ends."""
    bytes_of_body: int = 1000
    """Settings are shorter than this; a request with a longer body is refused."""


LIMITS = ServerLimits()
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; img-src data:; connect-src 'self'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""Of every answer: nothing is stored, and the page takes nothing from elsewhere and is shown nowhere else."""


class SecurityHeaders:
    """Adds to every answer what keeps other pages out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, sent)


class TimeoutProtocol(H11Protocol):
    """A connection that ends unless requests come, and answers are taken, in time."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._restart_timer()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, and for the answer to be taken."""
        super().on_response_complete()
        self._restart_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, with the headers of all other answers."""
        headers = {"Content-Type": "text/plain; charset=utf-8", "Connection": "close", **HEADERS}
        answer = h11.Response(status_code=400, headers=list(headers.items()), reason=b"Bad Request")
        with suppress(h11.LocalProtocolError):  # an answer was under way
            for event in (answer, h11.Data(data=msg.encode()), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _restart_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(LIMITS.seconds_between_answers, self.transport.abort)


class LocalServer:
    """A server for pages, in a thread of its own, from the beginning of a with statement to its end.

    Parameters
    ----------
    routes : sequence of BaseRoute
        What is answered.
    name : str
        What to call it.
    port : int, default=0
        Port on 127.0.0.1; 0 for any that is free.

    Attributes
    ----------
    address : str
        Where browsers find it.
    """

    def __init__(self, routes: Sequence[BaseRoute], name: str, *, port: int = 0) -> None:
        guards = [
            Middleware(SecurityHeaders),
            Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"]),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes, middleware=guards),
            http=TimeoutProtocol,
            log_config=None,
            log_level="critical",
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        self._socket = _listen(port, name)
        self.port = int(self._socket.getsockname()[1])
        self.address = f"http://127.0.0.1:{self.port}/"
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run, args=([self._socket],), name=f"unmingle {name}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            sleep(0.01)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(5.0)
        self._socket.close()


def _listen(port: int, name: str) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise ValueError(f"The {name} cannot use port {port}: {error.strerror}; choose another --port.") from error
    return listener


def read_static_page(name: str) -> str:
    """A page from the folder ``static``, with the style sheet of the reports in it."""
    content = files(__package__).joinpath("static", name).read_text(encoding="utf-8")
    return content.replace("/* style */", style_sheet())


def reason_to_refuse(request: Request) -> str | None:
    """Why a request to change something does not come from the page itself, if so."""
    origin = request.headers.get("origin")
    if origin is not None and origin != f"http://{request.headers.get('host')}":
        return "Settings are changed by the page itself only."
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return "Settings are changed by the page itself only."
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return "Send settings as application/json."
    return None


async def read_short_body(request: Request) -> bytes:
    """The content of a request; ValueError if it is longer than settings are."""
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > LIMITS.bytes_of_body:
            raise ValueError("The settings are too long.")
    return content
