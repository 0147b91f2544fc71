"""Films for the tests of the command line."""

import csv
import sys

import av
import numpy as np
import pytest

from unmingle.media import open_frames, open_writer
from unmingle.synth import surveillance_scene

SCENE = surveillance_scene(60, 48, 64, random_state=0).frames


POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")


def write_film(path, frames, rate=25.0):
    with open_writer(path, rate=rate) as writer:
        for frame in frames:
            writer.write(frame)


def write_video(path, frames, **options):
    """A video by PyAV alone, with a key frame every ten frames."""
    with av.open(path, "w", **options) as container:
        stream = container.add_stream("libx264", rate=25, options={"crf": "20", "g": "10"})
        stream.height, stream.width = frames.shape[1:]
        stream.pix_fmt = "yuv420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.uint8(255 * frame), format="gray")))
        container.mux(stream.encode(None))


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def frames_of(path):
    with open_frames(path) as frames:
        return list(frames)
