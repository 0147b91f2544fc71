"""Files that are missing, empty, cut off or damaged: all that can be read is given, then one clear sentence."""

import av
import numpy as np
import pytest
from PIL import Image

from unmingle.media import IncompleteError, MediaError, open_frames, open_writer
from unmingle.media._read_video import _check_complete, open_video

N = 60


def write_video(path, n=N, *, options=None, sound=False):
    """A video by PyAV alone with a key frame every ten frames."""
    y, x = np.mgrid[:48, :64]
    with av.open(path, "w", options=options or {}) as container:
        stream = container.add_stream("libx264", rate=25, options={"crf": "20", "g": "10"})
        stream.height, stream.width, stream.pix_fmt = 48, 64, "yuv420p"
        speech = container.add_stream("aac", rate=8000, layout="mono") if sound else None
        for number in range(n):
            pixels = np.uint8(127 + 100 * np.sin((x + 3 * number) / 5 + y**2 / 90))
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="gray")))
        container.mux(stream.encode(None))
        if speech:
            silence = av.AudioFrame.from_ndarray(np.zeros((1, 80000), np.float32), format="fltp", layout="mono")
            silence.rate = 8000
            container.mux(speech.encode(silence))
            container.mux(speech.encode(None))


def cut(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])


def read_until_error(path):
    came = []
    with open_frames(path) as frames, pytest.raises(MediaError) as caught:
        came.extend(frames)
    return came, caught.value


def refused(path):
    with pytest.raises(MediaError) as caught:
        open_frames(path)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def test_a_file_that_is_missing(tmp_path):
    assert refused(tmp_path / "none.mp4").endswith("none.mp4 does not exist; check its name.")
    assert "cannot be read: file name too long" in refused("a" * 5000)
    assert "expected a file, a folder, or an address of rtsp://" in refused("gopher://a/b")


def test_a_folder_without_images(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    assert "contains no images; expected files such as .png" in refused(tmp_path)


def test_an_empty_file(tmp_path):
    for name in ("a.mp4", "a.npy", "a.png"):
        (tmp_path / name).touch()
        assert refused(tmp_path / name) == f"{name} is empty: it has 0 bytes."


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.avi", "a.txt", "a"])
def test_text_is_no_video(tmp_path, name):
    (tmp_path / name).write_text("Call me Ishmael. " * 300)
    sentence = refused(tmp_path / name)
    assert sentence.startswith((f"{name} is not a video", f"{name} contains text", f"{name} contains no pictures"))


def test_noise_is_no_video(tmp_path, rng):
    (tmp_path / "noise.mp4").write_bytes(rng.bytes(50000))
    with pytest.raises(MediaError, match=r"noise\.mp4"), open_frames(tmp_path / "noise.mp4") as frames:
        list(frames)


def test_sound_is_no_video(tmp_path):
    with av.open(tmp_path / "song.wav", "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 4000), np.int16), format="s16", layout="mono")
        frame.rate = 8000
        container.mux(stream.encode(frame))
    assert refused(tmp_path / "song.wav").startswith("song.wav contains sound but no pictures; expected a video")


def test_the_cover_of_a_song_is_no_video(tmp_path):
    with av.open(tmp_path / "song.m4a", "w", format="mp4") as container:
        speech = container.add_stream("aac", rate=8000, layout="mono")
        cover = container.add_stream("mjpeg", rate=1)
        cover.height, cover.width, cover.pix_fmt = 32, 32, "yuvj420p"
        cover.disposition = av.stream.Disposition.attached_pic
        silence = av.AudioFrame.from_ndarray(np.zeros((1, 8000), np.float32), format="fltp", layout="mono")
        silence.rate = 8000
        picture = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
        container.mux(cover.encode(picture) + cover.encode(None))
        container.mux(speech.encode(silence) + speech.encode(None))
    assert refused(tmp_path / "song.m4a").startswith("song.m4a contains sound but no pictures")


def test_a_video_cut_off_before_its_index(tmp_path):
    write_video(tmp_path / "street.mp4")
    cut(tmp_path / "street.mp4", 0.6)
    assert "is damaged or incomplete" in refused(tmp_path / "street.mp4")


@pytest.mark.parametrize("share", [0.97, 0.6])
@pytest.mark.parametrize(
    ("name", "options"),
    [("a.mp4", {"movflags": "faststart"}), ("b.mp4", {"movflags": "frag_keyframe+empty_moov"})],
    ids=["index first", "fragments"],
)
def test_a_video_cut_off_after_its_index_gives_what_is_there(tmp_path, name, options, share):
    write_video(tmp_path / name, options=options)
    whole = [frame.pixels for frame in open_frames(tmp_path / name)]
    assert len(whole) == N
    cut(tmp_path / name, share)
    came, error = read_until_error(tmp_path / name)
    assert isinstance(error, IncompleteError)
    assert error.n_frames == len(came)
    assert 0.3 * N < len(came) < N
    assert str(error).startswith(f"{name} is cut off: {len(came)} frames of about ")
    assert all(np.array_equal(frame.pixels, pixels) for frame, pixels in zip(came[:15], whole, strict=False))


@pytest.mark.parametrize("name", ["street.mkv", "street.avi"])
def test_a_video_that_is_clearly_short(tmp_path, name):
    write_video(tmp_path / name)
    cut(tmp_path / name, 0.7)
    came, error = read_until_error(tmp_path / name)
    assert str(error) == f"{name} is cut off: {len(came)} frames of about {N} could be read."
    assert len(came) > 10


def test_nobody_cries_wolf(tmp_path):
    """Sound that lasts longer, a last picture that stays, a single picture, a trimmed file."""
    write_video(tmp_path / "sound.mp4", sound=True)
    write_video(tmp_path / "sound.mkv", sound=True)
    write_video(tmp_path / "one.mkv", 1)
    write_video(tmp_path / "one.mp4", 1)
    write_video(tmp_path / "stream.ts")
    for name, n in (("sound.mp4", N), ("sound.mkv", N), ("one.mkv", 1), ("one.mp4", 1), ("stream.ts", N)):
        with open_frames(tmp_path / name) as frames:
            assert len(list(frames)) == n, name
    with open_writer(tmp_path / "slides.mkv") as writer:
        for time in (0, 1, 2, 40, 41, 42, 43, 44, 45, 200):
            writer.write(np.zeros((32, 32), np.uint8), time)
    with open_frames(tmp_path / "slides.mkv") as frames:
        assert len(list(frames)) == 10


def test_an_avi_that_leaves_pictures_out_is_complete(tmp_path):
    """Its header counts all steps, also those without a picture; cut off it is short in time as well."""
    path, n = tmp_path / "tree.avi", 68
    with av.open(path, "w") as container:
        stream = container.add_stream("mjpeg", rate=15)
        stream.height, stream.width, stream.pix_fmt = 48, 64, "yuvj420p"
        for number in range(n):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64), 3 * number, np.uint8), format="gray")
            frame.pts = 7 * number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with open_frames(path) as frames:
        assert frames.n_frames > 2 * n
        assert len(list(frames)) == n
    cut(path, 0.7)
    came, error = read_until_error(path)
    assert isinstance(error, IncompleteError)
    assert len(came) < n
    assert "is cut off" in str(error)


def test_damage_that_costs_no_frame(tmp_path):
    write_video(tmp_path / "street.mkv")
    video = open_video(f"file:{tmp_path / 'street.mkv'}", "street.mkv")
    video.n_frames = video.given = N
    video.damaged = 2
    sentence = r"^street\.mkv is damaged in 2 places: all 60 frames came, but some may look wrong\.$"
    with video.container, pytest.raises(IncompleteError, match=sentence):
        _check_complete(video)


def test_a_damaged_part_is_skipped_and_told(tmp_path, rng):
    path = tmp_path / "street.mp4"
    write_video(path, options={"movflags": "faststart"})
    content = bytearray(path.read_bytes())
    middle = len(content) * 6 // 10
    content[middle : middle + 200] = rng.bytes(200)
    path.write_bytes(content)
    came, error = read_until_error(path)
    assert isinstance(error, IncompleteError)
    assert str(error).startswith("street.mp4 is damaged in ")
    some, whole = f": {len(came)} frames could be read.", f": all {N} frames came, but some may look wrong."
    assert str(error).endswith(whole if len(came) == N else some)
    assert len(came) >= 0.8 * N
    assert came[-1].time == pytest.approx((N - 1) / 25, abs=0.05)


def test_damaged_images(tmp_path, rng):
    Image.fromarray(rng.integers(0, 255, (40, 50), np.uint8)).save(tmp_path / "1.png")
    (tmp_path / "2.png").write_bytes((tmp_path / "1.png").read_bytes()[:500])
    came, error = read_until_error(tmp_path)
    assert len(came) == 1
    assert str(error).endswith("2.png is damaged or not an image.")


def test_arrays_that_cannot_be_frames(tmp_path):
    np.save(tmp_path / "flat.npy", np.zeros((4, 5), np.uint8))
    assert "flat.npy has shape (4, 5); expected (frames, height, width)" in refused(tmp_path / "flat.npy")
    np.save(tmp_path / "objects.npy", np.array([{}, None], dtype=object), allow_pickle=True)
    assert refused(tmp_path / "objects.npy") == "objects.npy cannot be read: it is damaged or contains no numbers."
    np.savez(tmp_path / "many.npz", a=np.zeros(3), b=np.zeros(3))
    assert refused(tmp_path / "many.npz") == "many.npz contains a, b; expected one array, or one named frames."
    (tmp_path / "text.npz").write_text("hello")
    assert refused(tmp_path / "text.npz") == "text.npz cannot be read: it is damaged or contains no numbers."
    np.savez(tmp_path / "times.npz", frames=np.zeros((2, 3, 4), np.uint8), times=np.zeros(3))
    assert "expected one number for each frame" in refused(tmp_path / "times.npz")
    with pytest.raises(MediaError, match=r"the array has shape \(3,\)"):
        open_frames(np.zeros(3))


def test_a_damaged_archive(tmp_path, rng):
    np.savez_compressed(tmp_path / "a.npz", frames=rng.integers(0, 256, (20, 30, 40), np.uint8))
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[12000:12300] = bytes(300)
    (tmp_path / "a.npz").write_bytes(content)
    came, error = read_until_error(tmp_path / "a.npz")
    assert len(came) < 20
    assert str(error) == "a.npz cannot be read: it is damaged or contains no numbers."
