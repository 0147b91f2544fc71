"""Brightness and half-sized planes of colour, from decoders and from arrays."""

from fractions import Fraction

import numpy as np
import pytest

from unmingle.media import Planes, open_frames, open_writer

av = pytest.importorskip("av")


def painted(height, width):
    """Smooth colours, as halving blurs others."""
    rows, columns = np.mgrid[0:height, 0:width] / max(height, width)
    return np.rint(255 * np.stack([0.2 + 0.6 * rows, 0.7 - 0.5 * columns, 0.3 + 0.4 * rows * columns], 2)).astype(
        np.uint8
    )


LIMITED, FULL = 1, 2
"""How FFmpeg marks ranges of 16 to 235 and of 0 to 255."""


@pytest.mark.parametrize(
    ("kind", "extent"),
    [("yuv420p", LIMITED), ("yuv420p", FULL), ("yuv422p", LIMITED), ("yuv444p", FULL), ("yuv420p10le", LIMITED),
     ("nv12", LIMITED), ("bgr0", FULL)],
)  # fmt: skip
@pytest.mark.parametrize("size", [(48, 64), (45, 61)])
def test_every_format_gives_the_same_planes(tmp_path, kind, extent, size):
    rgb = painted(*size)
    with av.open(tmp_path / "film.mkv", "w") as film:
        stream = film.add_stream("ffv1" if kind != "nv12" else "rawvideo", rate=Fraction(25))
        stream.height, stream.width, stream.pix_fmt = *size, kind
        frame = av.VideoFrame.from_ndarray(rgb, format="rgb24")
        if kind == "bgr0":
            frame = frame.reformat(format=kind)
        else:
            frame = frame.reformat(format=kind, dst_colorspace=5, dst_color_range=extent)
            frame.color_range = stream.codec_context.color_range = extent
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            film.mux(packet)
    with open_frames(tmp_path / "film.mkv", colour="planes") as frames:
        (found,) = [frame.pixels for frame in frames]
    assert isinstance(found, Planes)
    assert found.shape == (*size, 3)
    assert found.dtype == np.uint8
    expected = Planes.from_rgb(rgb)
    assert np.abs(found.luma.astype(int) - expected.luma)[:-1, :-1].mean() < 1.5
    assert np.abs(found.chroma.astype(int) - expected.chroma)[:, :-1, :-1].mean() < 2.5


@pytest.mark.parametrize("size", [(48, 64), (45, 61)])
def test_planes_are_written_to_films_and_pictures(tmp_path, size):
    rgb = painted(*size)
    for name in ("film.mp4", "pictures"):
        with open_writer(tmp_path / name, rate=25.0) as writer:
            for _ in range(3):
                writer.write(Planes.from_rgb(rgb))
        with open_frames(tmp_path / name, colour=True) as frames:
            found = [frame.pixels[: size[0], : size[1]].astype(int) for frame in frames]
        assert len(found) == 3
        assert np.abs(found[1] - rgb).mean() < 4


@pytest.mark.parametrize(("height", "width"), [(6, 8), (5, 7), (1, 1)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_grey_has_no_colour_and_comes_back(rng, height, width, dtype):
    grey = (rng.random((height, width)) * (1 if dtype == "float32" else np.iinfo(dtype).max)).astype(dtype)
    planes = Planes.from_rgb(np.repeat(grey[..., None], 3, axis=2))
    middle = {"uint8": 128, "uint16": 32768, "float32": 0.5}[dtype]
    np.testing.assert_allclose(planes.chroma.astype(float), middle, atol=1e-6 if dtype == "float32" else 0)
    tolerance = 1e-6 if dtype == "float32" else 1
    np.testing.assert_allclose(planes.luma.astype(float), grey.astype(float), atol=tolerance)
    np.testing.assert_allclose(planes.to_rgb()[..., 1].astype(float), grey.astype(float), atol=tolerance)
    dark = planes.where(np.zeros((height, width), bool))
    assert dark.luma.max() == 0


def test_planes_of_a_wrong_size_are_refused():
    with pytest.raises(ValueError, match="values must hold 24 numbers for 4 x 4 pixels, got 16"):
        Planes(np.zeros(16, np.uint8), 4, 4)
