"""Sources that go on while the consumer is busy, and connections that break."""

import socket
import sys
import threading
import time

import numpy as np
import pytest

from unmingle.media import Frame, MediaError, _live, open_frames, open_writer


def picture(value):
    return np.full((2, 3), value, np.uint8)


class Camera:
    """Gives a picture whenever it is told to, and waits until that was taken up."""

    def __init__(self, n):
        self.shown = threading.Semaphore(0)
        self.asked = threading.Semaphore(0)
        self.n = n

    def __iter__(self):
        for number in range(self.n):
            self.asked.release()
            self.shown.acquire()
            yield number / 10, picture(number)
        self.asked.release()

    def show(self, n):
        for _ in range(n):
            self.asked.acquire()
            self.shown.release()


def test_a_slow_consumer_sees_the_newest_frame():
    camera = Camera(10)
    with open_frames(camera, live=True) as frames:
        camera.show(1)
        assert (frames.live, next(frames).pixels[0, 0]) == (True, 0)
        camera.show(8)
        camera.asked.acquire()  # the eighth was handed over
        assert next(frames).pixels[0, 0] == 8
        assert frames.dropped == 7
        camera.shown.release()
        last = next(frames)
        assert (last.pixels[0, 0], last.time) == (9, pytest.approx(0.9))
        assert next(frames, None) is None
        assert frames.dropped == 7


def test_a_source_that_is_not_live_gives_every_frame():
    with open_frames([picture(number) for number in range(50)]) as frames:
        assert [frame.pixels[0, 0] for frame in frames] == list(range(50))


def test_errors_of_the_thread_reach_the_consumer():
    def frames_then_error():
        yield picture(1)
        raise RuntimeError("the lens fell off")

    with open_frames(frames_then_error(), live=True) as frames, pytest.raises(RuntimeError, match="the lens fell off"):
        list(frames)


def test_closing_stops_the_thread():
    before = set(threading.enumerate())

    def endless():
        while True:
            yield picture(1)

    with open_frames(endless(), live=True) as frames:
        next(frames)
    assert set(threading.enumerate()) == before


class Network:
    """Connections that give some frames each, then break; None is one that cannot be made."""

    def __init__(self, *connections):
        self.connections = list(connections)

    def connect(self):
        values = self.connections.pop(0)
        if values is None:
            raise MediaError("The camera does not answer.")

        def frames(stop):
            for number, value in enumerate(values):
                yield Frame(number / 25, picture(value))
            if self.connections:
                raise MediaError("The camera broke off.")

        return _live.Connection(frames, 25.0)


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(_live, "RECONNECTING", _live.Reconnecting(first_delay=0.001))


def frames_of(network):
    """All frames: not by the queue, which drops some."""
    return list(_live._reconnect(network.connect, network.connect(), "cam", threading.Event()))


def test_a_broken_connection_is_made_anew(hasty):
    network = Network([1, 2, 3], None, None, [4, 5])
    came = frames_of(network)
    assert [frame.pixels[0, 0] for frame in came] == [1, 2, 3, 4, 5]
    times = [frame.time for frame in came]
    assert times == sorted(times)
    assert times[0] == 0.0
    with _live.open_live(Network([1], None, None, [4]).connect, "cam", False) as frames:
        assert [frame.pixels[0, 0] for frame in frames][-1] == 4
        assert frames.rate == 25.0


def test_attempts_are_counted_from_the_last_frame(hasty):
    assert len(frames_of(Network([1], *[None] * 4, [2], *[None] * 4, [3]))) == 3


def test_a_lost_connection_is_given_up_in_the_end(hasty):
    sentence = r"cam was lost, and 5 attempts to connect again failed; the last one: The camera does not answer\."
    with pytest.raises(MediaError, match=sentence):
        frames_of(Network([1, 2], *[None] * 9))


def test_the_first_connection_must_succeed():
    with pytest.raises(MediaError, match="does not answer"):
        _live.open_live(Network(None, [1]).connect, "cam", False)


def test_waiting_for_a_connection_ends_with_closing(monkeypatch):
    monkeypatch.setattr(_live, "RECONNECTING", _live.Reconnecting(first_delay=600.0))
    before = set(threading.enumerate())
    with _live.open_live(Network([1], None, [2]).connect, "cam", False) as frames:
        assert next(frames).pixels[0, 0] == 1
    assert set(threading.enumerate()) == before


def test_an_address_that_is_silent():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for scheme in ("http", "tcp", "rtsp"):
            with pytest.raises(MediaError, match=f"{scheme}://127.* does not answer within 0.3 seconds"):
                open_frames(f"{scheme}://127.0.0.1:{port}/a", timeout=0.3)


def test_an_address_that_falls_silent_ends_with_a_sentence(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(_live, "RECONNECTING", _live.Reconnecting(attempts=0))
    with open_writer(tmp_path / "street.mkv") as writer:
        for _ in range(60):
            writer.write(rng.integers(0, 256, (120, 160), np.uint8))
    content = (tmp_path / "street.mkv").read_bytes()
    finished = threading.Event()

    def serve(server):
        connection, _ = server.accept()
        with connection:
            connection.sendall(content[: len(content) * 2 // 3])
            finished.wait(30)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        came = []
        with (
            open_frames(f"tcp://127.0.0.1:{server.getsockname()[1]}", live=True, timeout=3.0) as frames,
            pytest.raises(MediaError, match=r"was lost, .*stopped sending: nothing came in time"),
        ):
            came.extend(frames)
        finished.set()
    assert came


def test_cameras_that_are_not_there():
    sentence = "camera:97 (does not exist: there is no /dev/video97|cannot be opened)"
    for camera in (97, "camera:97", "/dev/video97"):
        with pytest.raises(MediaError, match=sentence):
            open_frames(camera)
    with pytest.raises(MediaError, match="camera:front is not a camera; expected its number"):
        open_frames("camera:front")


class OpenCV:
    """What is used of OpenCV, with a camera of three pictures."""

    CAP_PROP_FPS = 5

    def VideoCapture(self, number):
        self.left = 3 if number == 0 else 0
        return self

    def isOpened(self):
        return self.left > 0

    def read(self):
        self.left -= 1
        time.sleep(0.001)
        return self.left >= 0, np.dstack([picture(10), picture(20), picture(30 + self.left)])

    def get(self, what):
        return 30.0 if what == self.CAP_PROP_FPS else 0.0

    def release(self):
        self.left = 0


@pytest.fixture
def without_devices(monkeypatch):
    monkeypatch.setattr(_live, "_has_format", lambda kind: False)
    monkeypatch.setattr(_live, "_DEVICES", {sys.platform: ("v4l2", "{}")})
    monkeypatch.setattr(_live, "RECONNECTING", _live.Reconnecting(attempts=0))


def test_a_camera_by_opencv(without_devices, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", OpenCV())
    with open_frames(0, colour=True) as frames:
        assert (frames.name, frames.rate, frames.live) == ("camera:0", 30.0, True)
        assert next(frames).pixels[0, 0, 1:].tolist() == [20, 10], "red, green, blue"
        with pytest.raises(MediaError, match="camera:0 was lost"):
            list(frames)
    with pytest.raises(MediaError, match="camera:7 cannot be opened by OpenCV"):
        open_frames(7)


def test_a_camera_without_opencv_names_the_command(without_devices, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MediaError, match="built without v4l2; install OpenCV with: pip install opencv-python-headless"):
        open_frames("camera:0")


@pytest.mark.parametrize("source", [None, True, 3.5])
def test_sources_that_are_none(source):
    with pytest.raises(MediaError, match="must be a path, an address, a camera or arrays"):
        open_frames(source)
    with pytest.raises(ValueError, match="timeout must be a finite number above 0"):
        open_frames("-", timeout=0)
