"""Frames from files, folders, arrays, standard input and addresses."""

import subprocess
import sys
from fractions import Fraction

import av
import numpy as np
import pytest
from pictures import encode, read, scene
from PIL import Image

from unmingle.apps.video import Stream
from unmingle.media import Frame, MediaError, open_frames, open_writer
from unmingle.media.errors import SizesDifferError
from unmingle.media.pixels import check_pixels


def coded(planes, value):
    """Luma of one value, without colours."""
    n, height, width = planes
    return np.stack(
        [np.vstack([np.full((height, width), value, np.uint8), np.full((height // 2, width), 128, np.uint8)])] * n
    )


def psnr(one, other):
    return 10 * np.log10(255**2 / np.mean((np.float64(one) - np.float64(other)) ** 2))


def test_a_video_gives_its_frames_and_what_it_knows(video):
    with open_frames(video) as frames:
        assert (frames.name, frames.rate, frames.n_frames, frames.live) == ("street.mp4", 25.0, 20, False)
        came = list(frames)
        assert frames.dropped == 0
    assert [type(frame) for frame in came] == [Frame] * 20
    assert np.allclose([frame.time for frame in came], np.arange(20) / 25, atol=1e-4)
    assert all(frame.pixels.flags.c_contiguous and frame.pixels.dtype == np.uint8 for frame in came)
    assert psnr([frame.pixels for frame in came], scene()) > 35


def test_frames_keep_their_memory(video):
    one_by_one = [frame.pixels.copy() for frame in read(video)]
    assert np.array_equal(one_by_one, [frame.pixels for frame in read(video)])
    for frame in read(video):
        frame.pixels[:] = 0  # may be written to


@pytest.mark.parametrize(("value", "expected"), [(16, 0), (235, 255), (126, 128), (0, 0), (255, 255)])
def test_luma_of_limited_range_becomes_full_range(tmp_path, value, expected):
    planes = coded((3, 32, 48), value)
    encode(tmp_path / "flat.mp4", planes, kind="yuv420p", options={"crf": "0", "bf": "0"})
    with av.open(tmp_path / "flat.mp4") as container:
        stored = next(container.decode(video=0)).to_ndarray()[0, 0]
    assert abs(int(stored) - value) <= 1
    for colour in (False, True):
        pixels = read(tmp_path / "flat.mp4", colour=colour)[0].pixels
        assert pixels.shape == ((32, 48, 3) if colour else (32, 48))
        assert np.abs(pixels.astype(int) - expected).max() <= 1


def test_every_level_of_limited_range_is_right_within_one(tmp_path):
    levels = np.tile(np.arange(16, 236, dtype=np.uint8), (32, 1))
    planes = np.vstack([levels, np.full((16, 220), 128, np.uint8)])[None]
    encode(tmp_path / "levels.mkv", planes, kind="yuv420p", codec="ffv1", options={"level": "3"})
    (frame,) = read(tmp_path / "levels.mkv")
    exact = np.rint(np.arange(220) * 255 / 219).astype(int)
    assert np.abs(frame.pixels[0] - exact).max() <= 1
    assert (frame.pixels[0] != exact).sum() <= 6
    assert (np.diff(frame.pixels[0].astype(int)) > 0).all()


def test_full_range_is_handed_through(tmp_path):
    levels = np.tile(np.arange(256, dtype=np.uint8), (2, 1))
    encode(tmp_path / "grey.mkv", levels[None], pix_fmt="gray", codec="ffv1", options={"level": "3"})
    for colour in (False, True):
        assert np.array_equal(read(tmp_path / "grey.mkv", colour=colour)[0].pixels, levels), "grey stays grey"


@pytest.mark.parametrize(("pix_fmt", "bits"), [("yuv420p10le", 10), ("yuv444p12le", 12), ("gray16le", 16)])
def test_more_than_8_bits_become_16(tmp_path, pix_fmt, bits):
    ramp = np.tile(np.linspace(0, 65535, 64).astype(np.uint16), (32, 1))
    encode(tmp_path / "deep.mkv", ramp[None], kind="gray16le", pix_fmt=pix_fmt, codec="ffv1", options={"level": "3"})
    (frame,) = read(tmp_path / "deep.mkv")
    assert (frame.pixels.dtype, frame.pixels.shape) == (np.uint16, (32, 64))
    assert np.abs(frame.pixels.astype(int) - ramp).max() <= 2 * 65536 / 2**bits
    colours = read(tmp_path / "deep.mkv", colour=True)[0].pixels
    assert (colours.dtype, colours.ndim) == (np.uint16, 2 if pix_fmt.startswith("gray") else 3)


def test_colours_of_a_video(tmp_path):
    frames = np.zeros((3, 32, 48, 3), np.uint8)
    frames[..., :16, 0], frames[..., 16:32, 1], frames[..., 32:, 2] = 255, 255, 255
    with open_writer(tmp_path / "flag.mp4") as writer:
        for pixels in frames:
            writer.write(pixels)
    colours = read(tmp_path / "flag.mp4", colour=True)[1].pixels
    assert np.abs(colours[:, 4:44:16].astype(int) - frames[1, :, 4:44:16]).max() < 12
    grey = read(tmp_path / "flag.mp4")[1].pixels
    assert np.abs(grey[:, 4:44:16].astype(int) - np.array([76, 150, 29])).max() < 4


def test_rgb_video_becomes_luma(tmp_path):
    frames = scene(2, channels=(3,))
    encode(tmp_path / "rgb.mkv", frames, kind="rgb24", pix_fmt="bgr0", codec="ffv1", options={"level": "3"})
    assert np.array_equal(read(tmp_path / "rgb.mkv", colour=True)[1].pixels, frames[1])
    luma = frames[1] @ np.array([0.299, 0.587, 0.114])
    assert np.abs(read(tmp_path / "rgb.mkv")[1].pixels - luma).max() <= 0.51


@pytest.mark.skipif(not hasattr(av.VideoStream, "set_display_rotation"), reason="this PyAV cannot write a rotation")
@pytest.mark.parametrize("degrees", [90, -90, 180])
def test_turned_videos_are_turned_upright(tmp_path, degrees):
    frames = scene(3)
    encode(tmp_path / "turned.mp4", frames, rotation=degrees)
    for frame, pixels in zip(read(tmp_path / "turned.mp4"), frames, strict=True):
        assert frame.pixels.flags.c_contiguous
        assert psnr(frame.pixels, np.rot90(pixels, degrees // 90)) > 35


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_times_of_variable_rate_survive(tmp_path, rng, suffix):
    times = 7 + np.cumsum(rng.uniform(0.005, 0.3, 20))
    with open_writer(tmp_path / f"street{suffix}") as writer:
        for time, pixels in zip(times, scene(), strict=True):
            writer.write(pixels, time)
    came = [frame.time for frame in read(tmp_path / f"street{suffix}")]
    assert np.allclose(came, times - 7 - (times[0] - 7), atol=6e-4 if suffix == ".mkv" else 1e-5)


def test_a_folder_is_read_in_the_order_of_its_numbers(tmp_path):
    for number in (10, 2, 1, 33):
        Image.fromarray(np.full((4, 6), number, np.uint8)).save(tmp_path / f"img{number}.png")
    (tmp_path / "notes.txt").write_text("no image")
    (tmp_path / ".hidden.png").write_text("no image")
    with open_frames(tmp_path) as frames:
        assert (frames.rate, frames.n_frames) == (25.0, 4)
        came = list(frames)
    assert [int(frame.pixels[0, 0]) for frame in came] == [1, 2, 10, 33]
    assert [frame.time for frame in came] == [0.0, 0.04, 0.08, 0.12]


def test_images_keep_their_type(tmp_path):
    grey = scene(1)[0]
    wide, real = grey.astype(np.uint16) * 257 + 3, (grey / 255).astype(np.float32)
    colours = scene(1, channels=(3,))[0]
    see_through = np.dstack([colours, grey])
    images = {"a.png": grey, "b.png": wide, "c.tif": wide, "d.tif": real, "e.png": colours, "f.png": see_through}
    for name, pixels in images.items():
        Image.fromarray(pixels).save(tmp_path / name)
        (frame,) = read(tmp_path / name, colour=True)
        assert np.array_equal(frame.pixels, pixels[:, :, :3] if pixels.ndim == 3 else pixels), name
        assert frame.pixels.dtype == pixels.dtype, name
        assert read(tmp_path / name)[0].pixels.ndim == 2
    luma = colours @ np.array([0.299, 0.587, 0.114])
    assert np.abs(read(tmp_path / "e.png")[0].pixels - luma).max() <= 0.51


def test_an_image_of_another_size_comes_after_the_others(tmp_path):
    for number, size in enumerate([(4, 6), (4, 6), (5, 6)]):
        Image.fromarray(np.zeros(size, np.uint8)).save(tmp_path / f"{number}.png")
    with open_frames(tmp_path) as frames:
        assert [next(frames).time, next(frames).time] == [0.0, 0.04]
        with pytest.raises(SizesDifferError, match=r"2\.png has 6 x 5 pixels, but 0\.png has 6 x 4 pixels"):
            next(frames)


@pytest.mark.parametrize("dtype", ["uint8", ">u2", "float64"])
@pytest.mark.parametrize("channels", [(), (3,), (1,), (4,)], ids=["grey", "colour", "one", "alpha"])
def test_arrays_in_memory_and_in_files(tmp_path, dtype, channels):
    frames = np.repeat(scene(5)[..., None], channels[0], axis=3) if channels else scene(5)
    frames = (frames / 255).astype(dtype) if dtype == "float64" else frames.astype(dtype)
    kept = frames[..., 0] if channels == (1,) else frames[..., :3] if channels else frames
    np.save(tmp_path / "a.npy", frames)
    np.savez(tmp_path / "one.npz", frames)
    np.savez_compressed(tmp_path / "two.npz", other=np.zeros(3), frames=frames)
    for source in (frames, tmp_path / "a.npy", tmp_path / "one.npz", str(tmp_path / "two.npz"), list(frames)):
        came = read(source, colour=True)
        assert [frame.time for frame in came] == [0.0, 0.04, 0.08, 0.12, 0.16]
        assert came[0].pixels.dtype == {"uint8": "uint8", ">u2": "uint16", "float64": "float32"}[dtype]
        assert np.array_equal([frame.pixels for frame in came], kept.astype(came[0].pixels.dtype))
        assert not any(np.shares_memory(frame.pixels, frames) for frame in came)


def test_an_animated_image_has_times(tmp_path):
    pictures = [Image.fromarray(np.full((8, 8, 3), value, np.uint8)) for value in (10, 120, 230)]
    pictures[0].save(tmp_path / "a.gif", save_all=True, append_images=pictures[1:], duration=[100, 300, 100])
    came = read(tmp_path / "a.gif")
    assert np.allclose([frame.time for frame in came], [0.0, 0.1, 0.4])
    assert [int(frame.pixels[0, 0]) for frame in came] == [10, 120, 230]


def test_a_video_that_changes_its_size(tmp_path):
    for name, size in (("a.h264", (48, 64)), ("b.h264", (64, 96))):
        encode(tmp_path / name, scene(6, *size), options={"crf": "20", "bf": "0"})
    (tmp_path / "c.h264").write_bytes((tmp_path / "a.h264").read_bytes() + (tmp_path / "b.h264").read_bytes())
    came = []
    with (
        open_frames(tmp_path / "c.h264") as frames,
        pytest.raises(MediaError, match="changes at frame 7 from 64 x 48 grey pixels of uint8 to 96 x 64 grey"),
    ):
        came.extend(frames)
    assert len(came) == 6


def test_nothing_is_imported_before_it_is_needed():
    program = "import sys, unmingle.media; print({'av', 'PIL', 'cv2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_iterables_with_and_without_times():
    pictures = scene(4)
    assert [frame.time for frame in read(iter(pictures))] == [0.0, 0.04, 0.08, 0.12]
    pairs = [(5.0 + 0.1 * number**2, picture) for number, picture in enumerate(pictures)]
    assert np.allclose([frame.time for frame in read(pairs)], [0.0, 0.1, 0.4, 0.9])
    again = read(read(pairs))
    assert np.array_equal([frame.pixels for frame in again], pictures)


def test_an_iterable_is_not_asked_ahead():
    asked = []

    def pictures():
        for number in range(5):
            asked.append(number)
            yield np.zeros((2, 3), np.uint8)

    with open_frames(pictures()) as frames:
        next(frames)
        next(frames)
    assert asked == [0, 1]


def test_masks_become_black_and_white():
    (frame,) = read([np.array([[True, False]])])
    assert (frame.pixels.dtype, frame.pixels.tolist()) == (np.uint8, [[255, 0]])


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (np.full((2, 2), 128.0), r"values from 128 to 128; expected 0, black, to 1, white; divide it by 255\."),
        (np.full((2, 2), 5000.0), r"divide it by 65535\."),
        (np.full((2, 2), -0.5), r"values from -0\.5 to -0\.5; expected 0, black, to 1, white\."),
        (np.full((2, 2), np.nan), "contains NaN or infinity"),
        (np.full((2, 2), 7), r"int64 from 7 to 7; .* convert it with \.astype\(numpy\.uint8\)"),
        (np.full((2, 2), 700), r"convert it with \.astype\(numpy\.uint16\)"),
        (np.full((2, 2), -7), r"expected uint8, uint16 or numbers from 0 to 1\."),
        (np.full((2, 2), 1j), "contains complex128"),
        (np.zeros((2, 2, 5), np.uint8), r"shape \(2, 2, 5\); expected \(height, width\)"),
        (np.zeros((3,), np.uint8), r"shape \(3,\)"),
        (np.zeros((0, 2), np.uint8), r"shape \(0, 2\)"),
    ],
    ids=["255", "65535", "negative", "nan", "int", "int16", "below", "complex", "channels", "line", "empty"],
)
def test_pixels_that_are_none(frame, sentence):
    good = np.zeros((2, 2), np.uint8)
    with open_frames([good, frame]) as frames:
        next(frames)
        with pytest.raises(MediaError, match=f"Frame 2 of the source .*{sentence}"):
            next(frames)


def test_what_is_no_array_is_named():
    for check in (lambda frame: check_pixels(frame, "It"), Stream().push):
        with pytest.raises(MediaError, match=r"is a Frame; give its \.pixels"):
            check(Frame(0.0, np.zeros((2, 2), np.uint8)))
        with pytest.raises(MediaError, match="is a list that is no array; expected numbers in rows of equal length"):
            check([[1, 2], [3]])


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (np.zeros((2, 4), np.uint8), "from 3 x 2 grey pixels of uint8 to 4 x 2 grey pixels of uint8"),
        (np.zeros((2, 3), np.uint16), "to 3 x 2 grey pixels of uint16"),
        (np.zeros((2, 3, 3), np.uint8), "to 3 x 2 colour pixels of uint8"),
    ],
    ids=["size", "type", "colour"],
)
def test_a_change_comes_after_all_earlier_frames(other, words):
    with open_frames([np.zeros((2, 3), np.uint8)] * 3 + [other], colour=True) as frames:
        assert [next(frames).time for _ in range(3)] == [0.0, 0.04, 0.08]
        with pytest.raises(MediaError, match=f"the source changes at frame 4 .*{words}; all frames"):
            next(frames)


def test_time_stamps_that_start_late_and_are_uneven(tmp_path):
    with av.open(tmp_path / "late.mkv", "w") as container:
        stream = container.add_stream("ffv1", rate=25, options={"level": "3"})
        stream.height, stream.width, stream.pix_fmt = 48, 64, "yuv420p"
        stream.codec_context.time_base = Fraction(1, 1000)
        for time, pixels in zip((3000, 3010, 3500, 9000), scene(4), strict=True):
            frame = av.VideoFrame.from_ndarray(pixels, format="gray").reformat(format="yuv420p")
            frame.pts, frame.time_base = time, Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    assert np.allclose([frame.time for frame in read(tmp_path / "late.mkv")], [0, 0.01, 0.5, 6.0])
