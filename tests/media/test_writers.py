"""Frames to files: nothing half-written under a final name, and nothing lost that was complete."""

import os
import tracemalloc
from io import BytesIO

import av
import numpy as np
import pytest
from PIL import Image
from written import read, scene, write

from unmingle.media import MediaError, open_frames, open_writer
from unmingle.media.images import encode_jpeg

VIDEOS = [".mp4", ".m4v", ".mov", ".mkv"]


def psnr(one, other):
    return 10 * np.log10(255**2 / max(1e-6, np.mean((np.float64(one) - np.float64(other)) ** 2)))


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("suffix", VIDEOS)
def test_videos_come_back_and_browsers_can_play_them(tmp_path, suffix, channels):
    frames = scene(channels=channels)
    path = write(tmp_path / f"street{suffix}", frames)
    back = read(path, colour=channels == 3)
    assert back.shape == frames.shape
    assert psnr(back, frames) > (35 if channels == 1 else 33)
    assert psnr(read(path), frames if channels == 1 else frames @ np.array([0.299, 0.587, 0.114])) > 35
    with av.open(path) as container:
        coder = container.streams.video[0].codec_context
        assert (coder.name, coder.pix_fmt, coder.color_range, coder.colorspace) == ("h264", "yuv420p", 1, 6)
        assert len(container.streams) == 1
        assert container.start_time == 0
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [(47, 64), (48, 63), (47, 63), (1, 1)])
def test_odd_sizes_are_made_even_by_repeating_the_edge(tmp_path, size, channels):
    frames = scene(5, *size, channels)
    back = read(write(tmp_path / "odd.mp4", frames), colour=channels == 3)
    height, width = size
    assert back.shape[1:3] == (height + height % 2, width + width % 2)
    assert psnr(back[:, :height, :width], frames) > 30
    assert np.abs(back[:, -1].astype(int) - back[:, height - 1]).max() < 40


def test_black_and_white_stay_so(tmp_path):
    for value in (0, 255):
        for shape in ((32, 32), (32, 32, 3)):
            back = read(write(tmp_path / "flat.mp4", np.full((3, *shape), value, np.uint8)), colour=len(shape) == 3)
            assert np.abs(back.astype(int) - value).max() <= 1


def test_pixels_of_every_type(tmp_path):
    grey = scene(4)
    for frames, kept in (
        (grey > 127, 255 * (grey > 127)),
        (grey.astype(np.uint16) * 256 + 200, grey),
        (np.float32(grey / 255), grey),
        (grey / 255, grey),
        (grey[..., None], grey),
    ):
        assert psnr(read(write(tmp_path / "street.mp4", frames)), kept) > 30
    folder = write(tmp_path / "deep", grey.astype(np.uint16) * 257 + 1)
    assert np.array_equal(read(folder), grey.astype(np.uint16) * 257 + 1)
    assert np.array_equal(read(write(tmp_path / "real", grey / 255)), grey)
    assert np.array_equal(read(write(tmp_path / "mask", grey > 127)), 255 * (grey > 127))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 3])
def test_images_come_back_exactly(tmp_path, dtype, channels):
    frames = scene(12, channels=channels).astype(dtype) * dtype(1 if dtype == np.uint8 else 251)
    folder = write(tmp_path / "images", frames)
    assert sorted(os.listdir(folder))[::11] == ["frame_000001.png", "frame_000012.png"]
    assert len(os.listdir(folder)) == 12
    back = read(folder, colour=True)
    assert back.dtype == dtype
    assert np.array_equal(back, frames)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("channels", [1, 3])
def test_arrays_come_back_exactly(tmp_path, rng, dtype, channels):
    frames = scene(6, channels=channels).astype(dtype)
    frames = frames / dtype(255) if dtype == np.float32 else frames
    times = np.cumsum(rng.uniform(0.01, 1.0, 6))
    with open_writer(tmp_path / "part.npz") as writer:
        for time, pixels in zip(times, frames, strict=True):
            writer.write(pixels, time)
    with np.load(tmp_path / "part.npz") as arrays:
        assert sorted(arrays.files) == ["frames", "times"]
        assert np.array_equal(arrays["frames"], frames)
        assert arrays["frames"].dtype == dtype
        assert np.allclose(arrays["times"], times - times[0])
    with open_frames(tmp_path / "part.npz", colour=True) as source:
        assert source.rate == pytest.approx(5 / (times[-1] - times[0]))
        assert np.allclose([frame.time for frame in source], times - times[0])
    assert os.listdir(tmp_path) == ["part.npz"]


def test_memory_does_not_grow_with_the_frames(tmp_path):
    frame = np.zeros((256, 256), np.uint8)

    def peak(n):
        tracemalloc.start()
        with open_writer(tmp_path / "a.npz") as writer:
            for _ in range(n):
                writer.write(frame)
        with open_frames(tmp_path / "a.npz") as source:
            assert sum(1 for _ in source) == n
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(4)
    assert peak(400) < peak(50) + 50 * frame.nbytes


def test_frames_without_time_follow_the_rate(tmp_path):
    write(tmp_path / "fast.mp4", scene(10), rate=60)
    with open_frames(tmp_path / "fast.mp4") as source:
        assert source.rate == pytest.approx(60)
        assert np.allclose([frame.time for frame in source], np.arange(10) / 60, atol=1e-4)


@pytest.mark.parametrize("suffix", [*VIDEOS, ".npz"])
def test_times_that_stand_still_or_go_back_are_moved_on(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    with open_writer(path) as writer:
        for time, pixels in zip((1.0, 1.0, 0.5, 2.0), scene(4), strict=True):
            writer.write(pixels, time)
    with open_frames(path) as source:
        times = [frame.time for frame in source]
    assert np.allclose(times, [0, 0, 0, 1.0], atol=2.1e-3)
    assert (np.diff(times) > 0).all()
    with (
        open_writer(tmp_path / "b.npz") as writer,
        pytest.raises(MediaError, match="has the time nan; expected seconds"),
    ):
        writer.write(scene(1)[0], float("nan"))


@pytest.mark.parametrize(
    "steps",
    [
        [0.04] * 64 + [12.4],
        [0.04] * 64 + [12.4, 0.04],
        [0.04] * 64 + [12.4] + [0.04] * 4,
        [0.5, 0.04, 1.0, 0.3, 0.02] * 9,
        [0.04] * 9,
        [3.0],
        [],
    ],
    ids=["gap before the last", "gap before two", "gap before five", "uneven", "even", "two frames", "one frame"],
)
@pytest.mark.parametrize("suffix", VIDEOS)
def test_the_duration_holds_every_step_and_a_typical_one(tmp_path, suffix, steps):
    path = tmp_path / f"a{suffix}"
    times = np.cumsum([0.0, *steps])
    with open_writer(path) as writer:
        for time, pixels in zip(times, scene(len(times)), strict=True):
            writer.write(pixels, time)
    end = times[-1] + (np.median(steps) if steps else 0.04)
    with av.open(path) as container:
        stream = container.streams.video[0]
        assert container.duration / 1e6 == pytest.approx(end, abs=2e-3)
        assert stream.duration is None or stream.duration * stream.time_base == pytest.approx(end, abs=2e-3)
        packets = [packet for packet in container.demux(stream) if packet.size]
        assert sum(packet.duration * packet.time_base for packet in packets) >= end - 2e-3
    with open_frames(path) as source:
        assert np.allclose([frame.time for frame in source], times, atol=1e-3)


def test_without_h264_the_command_is_named(tmp_path, monkeypatch):
    class Container:
        def add_stream(self, *arguments, **options):
            raise av.codec.codec.UnknownCodecError("libx264")

    def write_one():
        with open_writer(tmp_path / "a.mp4") as writer:
            monkeypatch.setattr(av, "open", lambda *arguments, **options: Container())
            writer.write(scene(1)[0])

    with pytest.raises(MediaError, match=r"built without H\.264 .* pip install --force-reinstall av"):
        write_one()
    assert not os.listdir(tmp_path)


def test_what_can_be_written_is_listed(tmp_path):
    for name in ("a.gif", "a.webm", "a.txt"):
        with pytest.raises(MediaError, match=r"videos are \.m4v, \.mkv, \.mov, \.mp4, arrays \.npz; a name without"):
            open_writer(tmp_path / name)
    with pytest.raises(ValueError, match="rate must be a finite number above 0"):
        open_writer(tmp_path / "a.mp4", rate=0)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.npz", "a"])
def test_frames_must_be_of_one_size(tmp_path, name):
    with open_writer(tmp_path / name) as writer:
        writer.write(np.zeros((32, 32), np.uint8))
        with pytest.raises(MediaError, match=f"{name} contains 32 x 32 grey pixels of uint8, but a frame has 32 x 30"):
            writer.write(np.zeros((30, 32), np.uint8))
        with pytest.raises(MediaError, match=r"Frame 2 for .* contains values from 9 to 9; .* divide it by 255"):
            writer.write(np.full((32, 32), 9.0))
        writer.write(np.ones((32, 32), np.uint8))
    assert len(read(tmp_path / name)) == 2
    writer.close()
    with pytest.raises(MediaError, match="is closed"):
        writer.write(np.zeros((32, 32), np.uint8))


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.npz", "a"])
def test_without_frames_nothing_is_left(tmp_path, name):
    with open_writer(tmp_path / name):
        pass
    assert not os.listdir(tmp_path)

    def stumble():
        with open_writer(tmp_path / name) as writer:
            writer.write(np.zeros((2, 2)) - 1)

    with pytest.raises(MediaError, match="values from -1"):
        stumble()
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.npz", "a"])
def test_an_error_keeps_what_was_written(tmp_path, name):
    def interrupted():
        with open_writer(tmp_path / name) as writer:
            for pixels in scene(7):
                writer.write(pixels)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert os.listdir(tmp_path) == [name]
    assert len(read(tmp_path / name)) == 7


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_an_interrupt_within_the_encoder_keeps_what_was_written(tmp_path, monkeypatch, name):
    def interrupted(frame):
        monkeypatch.undo()
        raise KeyboardInterrupt

    def write_interrupted():
        with open_writer(tmp_path / name) as writer:
            for pixels in scene(7):
                writer.write(pixels)
            monkeypatch.setattr(writer, "_encode", interrupted)
            writer.write(scene(1)[0])

    with pytest.raises(KeyboardInterrupt):
        write_interrupted()
    assert len(read(tmp_path / name)) == 6


@pytest.mark.parametrize("name", ["a.mp4", "a.npz"])
def test_an_older_file_stays_until_the_new_one_is_complete(tmp_path, name):
    (tmp_path / name).write_text("older")
    with open_writer(tmp_path / name) as writer:
        for pixels in scene(3):
            writer.write(pixels)
        assert (tmp_path / name).read_text() == "older"
    assert len(read(tmp_path / name)) == 3


def test_places_that_cannot_be_written_to(tmp_path):
    for name in ("none/a.mp4", "none/a.npz", "none/a"):
        with pytest.raises(MediaError, match=r"cannot be written: the folder .*none does not exist; create it first\."):
            open_writer(tmp_path / name)
    (tmp_path / "a.mp4").mkdir()
    with pytest.raises(MediaError, match="it is a folder; give it another name"):
        open_writer(tmp_path / "a.mp4")
    (tmp_path / "file").write_text("text")
    with pytest.raises(MediaError, match="it is a file; give it another name"):
        open_writer(tmp_path / "file")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "frame_000001.png").touch()
    with pytest.raises(MediaError, match="full is not empty; name another folder"):
        open_writer(tmp_path / "full")
    assert sorted(os.listdir(tmp_path)) == ["a.mp4", "file", "full"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("name", ["a.mp4", "a.npz", "a"])
def test_a_folder_that_is_read_only(tmp_path, name):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(MediaError, match=f"{name} cannot be written: permission denied"):
            open_writer(tmp_path / name)
    finally:
        tmp_path.chmod(0o700)


def test_jpeg_for_previews():
    for pixels in (scene(1)[0], scene(1, channels=3)[0], scene(1)[0] / 255, scene(1)[0].astype(np.uint16) * 256):
        content = encode_jpeg(pixels, quality=95)
        with Image.open(BytesIO(content)) as image:
            assert (image.format, image.size) == ("JPEG", (64, 48))
            kept = pixels if pixels.dtype == np.uint8 else scene(1)[0]
            assert psnr(np.asarray(image), kept) > 35
    assert len(encode_jpeg(scene(1)[0], quality=20)) < len(encode_jpeg(scene(1)[0], quality=95))
    with pytest.raises(MediaError, match="The picture has shape"):
        encode_jpeg(np.zeros(3))
