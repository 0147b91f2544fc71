"""What keeps other pages and idle connections away from the server."""

import asyncio
from contextlib import suppress
from typing import Any

import h11
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

LONGEST_EXCHANGE = 30.0
"""Seconds from the end of one answer to that of the next, after which a connection ends."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; img-src data:; connect-src 'self'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class Careful:
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


class Impatient(H11Protocol):
    """A connection that ends unless requests come, and answers are taken, in time."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, and for the answer to be taken."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        if self._limit is not None:
            self._limit.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, with the headers of all other answers."""
        told = {"Content-Type": "text/plain; charset=utf-8", "Connection": "close", **HEADERS}
        answer = h11.Response(status_code=400, headers=list(told.items()), reason=b"Bad Request")
        with suppress(h11.LocalProtocolError):  # an answer was under way
            for event in (answer, h11.Data(data=msg.encode()), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _wait(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
        self._limit = self.loop.call_later(LONGEST_EXCHANGE, self.transport.abort)
