"""Frames from files, folders, arrays, standard input and addresses."""

import functools
import io
import subprocess
import sys
import threading
from datetime import UTC, datetime
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import av
import numpy as np
import pytest
from pictures import encode, read, scene

from unmingle.media import MediaError, open_frames, open_writer


def test_standard_input_as_a_process(video):
    program = (
        "from unmingle.media import open_frames\n"
        "with open_frames('-') as frames:\n"
        "    print(frames.name, sum(1 for _ in frames), next(frames, None))"
    )
    matroska = video.with_suffix(".mkv")
    with open_writer(matroska) as writer:
        for frame in read(video):
            writer.write(frame.pixels, frame.time)
    with matroska.open("rb") as content:
        done = subprocess.run(
            [sys.executable, "-c", program], stdin=content, capture_output=True, text=True, check=True
        )
    assert (done.stdout, done.stderr) == ("standard input 20 None\n", "")
    sent = matroska.read_bytes()
    done = subprocess.run([sys.executable, "-c", program], input=sent, capture_output=True, check=True)
    assert done.stdout == b"standard input 20 None\n"


READ_STANDARD_INPUT = """
from unmingle.media import MediaError, open_frames
try:
    with open_frames("-") as frames:
        print(frames.n_frames, sum(1 for _ in frames), end="")
except MediaError as error:
    print(error, end="")
"""


def test_an_mp4_with_its_index_at_the_end_from_standard_input(tmp_path, rng):
    """A file can be skipped in, a pipe cannot; of one longer than FFmpeg's buffer the pictures are then gone."""
    path, command = tmp_path / "street.mp4", [sys.executable, "-c", READ_STANDARD_INPUT]
    encode(path, rng.integers(0, 256, (60, 240, 320), np.uint8))
    assert path.stat().st_size > 1_000_000
    with path.open("rb") as content:
        done = subprocess.run(command, stdin=content, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("60 60", "")
    done = subprocess.run(command, input=path.read_bytes(), capture_output=True, check=True)
    assert b"standard input gives no picture: to be read from a pipe" in done.stdout
    assert b"an MP4 must have its index in front (faststart); give the file's name, or use .mkv." in done.stdout


def test_an_mp4_with_its_index_at_the_end_from_an_address_that_cannot_skip(tmp_path, rng, server):
    encode(tmp_path / "street.mp4", rng.integers(0, 256, (60, 240, 320), np.uint8))
    sentence = r"street\.mp4 gives no picture: .* an address that cannot skip, an MP4 must have its index in front"
    with pytest.raises(MediaError, match=sentence):
        read(f"{server}/street.mp4")


def test_standard_input_that_is_not_a_file(video, monkeypatch):
    with open_writer(video.with_suffix(".mkv")) as writer:
        writer.write(scene(1)[0])
    content = io.TextIOWrapper(io.BytesIO(video.with_suffix(".mkv").read_bytes()))
    monkeypatch.setattr(sys, "stdin", content)
    assert len(read("-")) == 1
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"no video at all" * 99)))
    with pytest.raises(MediaError, match="standard input is not a video"):
        open_frames("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(MediaError, match="Standard input gives no video"):
        open_frames("-")


@pytest.fixture
def server(tmp_path):
    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=tmp_path)) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


def test_an_address(video, server):
    assert len(read(f"{server}/street.mp4")) == 20
    with open_frames(f"{server}/street.mp4", live=True) as frames:
        assert frames.live
        came = list(frames)
        assert len(came) + frames.dropped == 20
    with pytest.raises(MediaError, match=r"http://127\.0\.0\.1:\d+/none\.mp4 cannot be opened: .*404"):
        open_frames(f"{server}/none.mp4")
    with pytest.raises(MediaError, match=r"http://127\.0\.0\.1:9/a\.mp4 cannot be opened: connection refused") as error:
        open_frames("http://me:secret@127.0.0.1:9/a.mp4")
    assert "secret" not in str(error.value)


def test_an_interrupted_read_leaves_no_thread(video):
    before = set(threading.enumerate())
    with open_frames(video) as frames:
        next(frames)
        assert set(threading.enumerate()) != before
    assert set(threading.enumerate()) == before
    assert next(frames, None) is None
    forgotten = open_frames(video)
    next(forgotten)
    (thread,) = set(threading.enumerate()) - before
    del forgotten
    thread.join(10)
    assert not thread.is_alive()


def test_a_rate_is_for_what_has_no_times(tmp_path):
    with open_frames(np.zeros((3, 4, 5), np.uint8), rate=10) as frames:
        assert frames.rate == 10
        assert [frame.time for frame in frames] == pytest.approx([0.0, 0.1, 0.2])
    np.savez(tmp_path / "timed.npz", frames=np.zeros((3, 4, 5), np.uint8), times=[0.0, 1.0, 2.0])
    with pytest.raises(MediaError, match=r"timed.npz has times of its own"):
        open_frames(tmp_path / "timed.npz", rate=10)
    with pytest.raises(ValueError, match="rate"):
        open_frames(np.zeros((3, 4, 5), np.uint8), rate=0)


def test_a_film_tells_when_it_was_taken(tmp_path):
    for name, date in (("dated.mp4", "2026-05-01T08:30:00Z"), ("plain.mp4", None)):
        with av.open(str(tmp_path / name), "w") as container:
            if date:
                container.metadata["creation_time"] = date
            stream = container.add_stream("libx264", rate=25)
            stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
            for packet in [*stream.encode(av.VideoFrame.from_ndarray(np.zeros((48, 32), np.uint8), "yuv420p"))]:
                container.mux(packet)
            for packet in stream.encode(None):
                container.mux(packet)
    with open_frames(tmp_path / "dated.mp4") as frames:
        assert frames.start_time == datetime(2026, 5, 1, 8, 30, tzinfo=UTC)
    with open_frames(tmp_path / "plain.mp4") as frames:
        assert frames.start_time is None
