"""The preview: a page for this computer only, which never slows down the one who separates."""

import email
import http.client
import io
import json
import socket
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
from command_line import failed
from PIL import Image

from unmingle.apps.video import Stream, separated_frames
from unmingle.media.images import encode_jpeg
from unmingle.synth import surveillance_scene
from unmingle.web import _server, preview
from unmingle.web.preview import Preview

SCENE = np.uint8(255 * surveillance_scene(60, 48, 64, random_state=0).frames)
VIEWS = ["frame", "background", "foreground", "mask"]


@pytest.fixture(scope="module")
def found():
    return list(separated_frames(SCENE))


@pytest.fixture
def stream():
    return Stream()


@pytest.fixture
def server(stream, monkeypatch):
    monkeypatch.setattr(preview, "LIMITS", preview.PreviewLimits(pictures_per_second=np.inf, longest_wait=0.1))
    with Preview(stream, "front door") as running:
        yield running


def ask(server, path="", body=None, **headers):
    """What the server answers: status, headers and content."""
    request = urllib.request.Request(
        server.address + path, body, {name.replace("_", "-"): v for name, v in headers.items()}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def change(server, settings, **headers):
    body = settings if isinstance(settings, bytes) else json.dumps(settings).encode()
    return ask(server, "settings", body, **{"Content_Type": "application/json", **headers})


def parts(headers, content):
    """The pictures in a form."""
    message = email.message_from_bytes(f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode() + content)
    return {
        part.get_param("name", header="Content-Disposition"): part.get_payload(decode=True)
        for part in message.get_payload()
    }


def decoded(content):
    with Image.open(io.BytesIO(content)) as picture:
        assert picture.format == "JPEG"
        return np.asarray(picture)


def test_the_page_needs_nothing_else(server):
    status, headers, content = ask(server)
    page = content.decode()
    assert (status, headers.get_content_type()) == (200, "text/html")
    assert "http" not in page
    assert "url(" not in page
    assert "--paper" in page
    assert all(f'id="{view}"' in page for view in VIEWS)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert ask(server, "nonsense")[0] == 404


def test_the_status_tells_how_it_goes(server, found):
    assert json.loads(ask(server, "status")[2])["frames"] == 0
    for each in found[:40]:
        server.show(each, dropped=3)
    told = json.loads(ask(server, "status")[2])
    assert (told["source"], told["frames"], told["dropped"]) == ("front door", 40, 3)
    assert (told["time"], told["share"], told["state"]) == (found[39].time, found[39].score, found[39].state)
    assert told["whole"] == "picture"
    assert (told["false_alarm_rate"], told["frozen"]) == (Stream().settings.false_alarm_rate, False)
    assert told["rate"] > 0


def test_shares_of_a_region_are_called_so():
    with Preview(Stream(region=np.ones((48, 64), bool)), "front door") as running:
        assert json.loads(ask(running, "status")[2])["whole"] == "region"


def test_the_newest_pictures_come_together(server, found):
    assert ask(server, "pictures")[0] == 204
    assert ask(server, "frame.jpg")[0] == 404
    for each in found:
        server.show(each)
    status, headers, content = ask(server, "pictures?after=0")
    pictures = parts(headers, content)
    assert (status, headers["X-Frame"], list(pictures)) == (200, "60", VIEWS)
    newest = found[-1]
    for view in VIEWS:
        np.testing.assert_array_equal(decoded(pictures[view]), decoded(encode_jpeg(getattr(newest, view))))
    assert ask(server, "mask.jpg")[2] == pictures["mask"]
    assert ask(server, "secret.jpg")[0] == 404
    assert ask(server, "pictures?after=60")[0] == 204
    assert ask(server, "pictures?after=nonsense")[0] == 200


def test_pictures_are_coded_once_and_only_when_asked_for(server, found, monkeypatch):
    coded, encode = [], preview.encode_jpeg
    monkeypatch.setattr(preview, "encode_jpeg", lambda picture: coded.append(picture) or encode(picture))
    for each in found:
        server.show(each)
    assert coded == []
    for _ in range(3):
        ask(server, "pictures")
    assert len(coded) == 4


def test_large_pictures_are_thinned_out(server, found):
    large = np.repeat(np.repeat(SCENE[0], 40, axis=0), 40, axis=1)
    server.show(Stream().push(large))
    assert decoded(ask(server, "frame.jpg")[2]).shape == (640, 854)


def test_settings_are_changed_between_frames(server, stream, found):
    status, _, content = change(server, {"false_alarm_rate": 0.01})
    assert (status, json.loads(content)["false_alarm_rate"]) == (200, 0.01)
    assert stream.settings.false_alarm_rate == Stream().settings.false_alarm_rate
    assert json.loads(change(server, {"frozen": True})[2]) == {"false_alarm_rate": 0.01, "frozen": True}
    server.show(found[0])
    assert (stream.settings.false_alarm_rate, stream.frozen_) == (0.01, True)
    change(server, {"frozen": False}, Origin=server.address.rstrip("/"))
    server.show(found[1])
    assert (stream.settings.false_alarm_rate, stream.frozen_) == (0.01, False)


WRONG = {
    "nothing": b"",
    "no JSON": b"frozen",
    "too much": b'{"frozen": true' + b" " * 2000 + b"}",
    "zero": b'{"false_alarm_rate": 0}',
    "too large": b'{"false_alarm_rate": 0.6}',
    "not a number": b'{"false_alarm_rate": NaN}',
    "a word": b'{"frozen": "yes"}',
    "true": b'{"false_alarm_rate": true}',
    "another": b'{"memory": 3}',
    "one too many": b'{"frozen": true, "memory": 3}',
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG.keys())
def test_wrong_settings_are_refused(server, stream, found, body):
    assert change(server, body)[0] == 400
    server.show(found[0])
    assert (stream.settings.false_alarm_rate, stream.frozen_) == (Stream().settings.false_alarm_rate, False)


FOREIGN = {
    "origin": {"Origin": "http://example.org"},
    "no origin": {"Origin": "null"},
    "site": {"Sec_Fetch_Site": "cross-site"},
    "form": {"Content_Type": "text/plain"},
    "host": {"Host": "example.org"},
}


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN.keys())
def test_other_pages_change_nothing(server, stream, found, headers):
    assert change(server, {"frozen": True}, **headers)[0] in (400, 403)
    server.show(found[0])
    assert not stream.frozen_
    assert ask(server, "settings")[0] == 405


def raw(server, content):
    """What a connection answers to some bytes, until it ends."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(content)
        answer = b""
        try:
            while part := connection.recv(1 << 16):
                answer += part
        except ConnectionResetError:
            pass
        return answer


NO_REQUESTS = {
    "nonsense": b"nonsense\r\n\r\n",
    "another host": b"GET / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "endless head": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 100_000,
}


@pytest.mark.parametrize("content", NO_REQUESTS.values(), ids=NO_REQUESTS.keys())
def test_answers_to_wrong_requests_have_all_headers(server, content):
    head = raw(server, content).partition(b"\r\n\r\n")[0].decode()
    assert head.startswith("HTTP/1.1 400 ")
    told = email.message_from_string(head.partition("\r\n")[2])
    assert {name: told[name] for name in _server.HEADERS} == _server.HEADERS


SLOW = {
    "idle": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    "half a body": b"POST /settings HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100\r\n\r\n{",
}


@pytest.mark.parametrize("content", SLOW.values(), ids=SLOW.keys())
def test_slow_connections_end(stream, monkeypatch, content):
    monkeypatch.setattr(_server, "LIMITS", _server.ServerLimits(seconds_between_answers=0.2))
    with Preview(stream, "front door") as running:
        assert raw(running, content) == b""


def test_a_connection_on_which_all_goes_well_stays(stream, monkeypatch):
    monkeypatch.setattr(_server, "LIMITS", _server.ServerLimits(seconds_between_answers=1.0))
    with Preview(stream, "front door") as running:
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)
        connection.connect()
        first = connection.sock
        for _ in range(4):
            time.sleep(0.4)
            connection.request("GET", "/status")
            assert json.load(connection.getresponse())["frames"] == 0
            assert connection.sock is first
        connection.close()


def test_someone_who_never_reads_is_cut_off(stream, monkeypatch):
    monkeypatch.setattr(_server, "LIMITS", _server.ServerLimits(seconds_between_answers=0.5))
    with (
        Preview(stream, "front door") as running,
        socket.create_connection(("127.0.0.1", running.port), timeout=10) as connection,
    ):
        with pytest.raises((ConnectionResetError, BrokenPipeError)):  # noqa: PT012
            for _ in range(100_000):
                connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert ask(running, "status")[0] == 200


def test_someone_who_never_reads_holds_up_nobody(server, found):
    with socket.create_connection(("127.0.0.1", server.port)) as idle:
        for _ in range(50):
            idle.sendall(b"GET /pictures HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        for each in found:
            server.show(each)
        assert json.loads(ask(server, "status")[2])["frames"] == 60


def test_the_server_ends_with_the_command(stream):
    with Preview(stream, "front door") as running:
        assert ask(running, "status")[0] == 200
    with pytest.raises(urllib.error.URLError):
        ask(running, "status")
    assert not [thread for thread in threading.enumerate() if thread.name == "unmingle preview"]


def test_a_port_in_use_is_told(run, tmp_path, server):
    np.save(tmp_path / "street.npy", SCENE)
    ended = run("video", "street.npy", "--mask", "mask", "--preview", "--port", server.port)
    assert failed(ended, f"cannot use port {server.port}", "--port")
    assert not (tmp_path / "mask").exists()


def test_the_command_shows_its_frames(run, tmp_path, monkeypatch):
    np.savez(tmp_path / "street.npz", frames=SCENE, times=np.arange(60) / 500)
    show, seen = Preview.show, {}

    def look(self, found, dropped):
        show(self, found, dropped)
        if found.index == 30:
            change(self, {"frozen": True})
        if found.index == 50:
            seen.update(json.loads(ask(self, "status")[2]))

    monkeypatch.setattr(Preview, "show", look)
    ended = run("video", "street.npz", "--preview", "--quiet")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.startswith("Preview: http://127.0.0.1:")
    assert (seen["source"], seen["frames"], seen["state"]) == ("street.npz", 51, "frozen")
