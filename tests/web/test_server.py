"""What every page shares: a server for this computer only, with the look of the reports."""

import http.client
import threading

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from unmingle.report.pieces import style_sheet
from unmingle.web._server import HEADERS, LIMITS, LocalServer, read_short_body, read_static_page, reason_to_refuse


async def echo(request):
    reason = reason_to_refuse(request)
    if reason is not None:
        return PlainTextResponse(reason, status_code=403)
    try:
        return PlainTextResponse(await read_short_body(request))
    except ValueError as error:
        return PlainTextResponse(str(error), status_code=400)


@pytest.fixture(scope="module")
def server():
    with LocalServer([Route("/echo", echo, methods=["POST"])], "echo") as running:
        yield running


def post(server, body, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("POST", "/echo", body, {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def test_any_page_gets_the_guards_and_the_limits(server):
    status, headers, content = post(server, b"x" * LIMITS.bytes_of_body)
    assert (status, content) == (200, b"x" * LIMITS.bytes_of_body)
    lower = {name.lower(): value for name, value in headers.items()}
    assert {name: lower[name.lower()] for name in HEADERS} == HEADERS
    assert post(server, b"x" * (LIMITS.bytes_of_body + 1))[0] == 400
    assert post(server, b"x", Host="example.org")[0] == 400
    assert post(server, b"x", Origin="http://example.org")[0] == 403
    assert post(server, b"x", **{"Content-Type": "text/plain"})[0] == 403
    assert post(server, b"x", Origin=server.address.rstrip("/"))[0] == 200


def test_it_listens_on_this_computer_and_only_for_its_time():
    with LocalServer([], "short visit") as running:
        assert running.address == f"http://127.0.0.1:{running.port}/"
        assert "unmingle short visit" in [thread.name for thread in threading.enumerate()]
        with pytest.raises(ValueError, match=f"The next one cannot use port {running.port}"):
            LocalServer([], "next one", port=running.port)
    assert "unmingle short visit" not in [thread.name for thread in threading.enumerate()]
    with pytest.raises(ConnectionRefusedError):
        post(running, b"")


def test_pages_have_the_style_of_the_reports():
    page = read_static_page("preview.html")
    assert style_sheet() in page
    own = page.replace(style_sheet(), "")
    assert "var(--sans)" in own
    assert "sans-serif" not in own
    assert "/* style */" not in own
