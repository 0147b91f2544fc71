"""Sizes are judged by what files say of themselves, before anything is read."""

import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest
from command_line import failed
from fuzz_files import with_member
from PIL import Image

from unmingle import _numpy_files, media, store
from unmingle.cli import info
from unmingle.media import MediaError, open_frames, read_image

MOST_BYTES = 100 << 20


@pytest.fixture
def little_memory():
    """Nothing in a test may take much memory."""
    tracemalloc.start()
    yield
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert largest < MOST_BYTES


def npy_start(shape, dtype="|u1"):
    start = io.BytesIO()
    np.lib.format.write_array_header_1_0(start, {"descr": dtype, "fortran_order": False, "shape": shape})
    return start.getvalue()


def write_zeros(path, **arrays):
    """A .npz file of zeros that is small however large they are."""
    chunk = bytes(1 << 24)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, (shape, dtype) in arrays.items():
            left = int(np.prod(shape)) * np.dtype(dtype).itemsize
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(npy_start(shape, dtype))
                while left:
                    left -= member.write(chunk[:left])


def test_times_are_as_many_as_frames_before_they_are_read(tmp_path, little_memory):
    write_zeros(tmp_path / "film.npz", frames=((2, 3, 4), "|u1"), times=((30_000_000,), "<f8"))
    assert (tmp_path / "film.npz").stat().st_size < 4 << 20
    with pytest.raises(MediaError, match=r"contains times of shape \(30000000,\); expected one number for each frame"):
        open_frames(tmp_path / "film.npz")


@pytest.mark.parametrize("colours", [(), (3,)])
def test_frames_that_would_take_all_memory(tmp_path, little_memory, colours):
    write_zeros(tmp_path / "film.npz", frames=((1, 12_000, 12_000, *colours), "|u1"))
    with pytest.raises(
        MediaError, match=r"Each frame of film\.npz has 12000 x 12000 pixels; at most \d+ pixels are read"
    ):
        open_frames(tmp_path / "film.npz")
    with (tmp_path / "film.npy").open("wb") as file:
        file.write(npy_start((1, 60_000, 60_000)))
        file.truncate(file.tell() + 60_000**2)
    with pytest.raises(MediaError, match="60000 x 60000 pixels"):
        open_frames(tmp_path / "film.npy")


@pytest.mark.filterwarnings("ignore:Image size:PIL.Image.DecompressionBombWarning")
def test_a_picture_that_would_take_all_memory(tmp_path, run, little_memory):
    Image.new("1", (13_000, 13_000)).save(tmp_path / "large.png")
    Image.new("1", (20_000, 20_000)).save(tmp_path / "larger.png")
    for read in (read_image, lambda path: list(open_frames(path))):
        with pytest.raises(MediaError, match=r"large\.png has 13000 x 13000 pixels; at most 134217728"):
            read(tmp_path / "large.png")
        with pytest.raises(MediaError, match=r"larger\.png has too many pixels"):
            read(tmp_path / "larger.png")
    np.save(tmp_path / "film.npy", np.zeros((3, 24, 32), np.uint8))
    assert failed(run("video", "film.npy", "--region", "large.png"), "13000 x 13000 pixels")


def test_a_video_that_would_take_all_memory(tmp_path, monkeypatch):
    with media.open_writer(tmp_path / "film.mp4") as writer:
        writer.write(np.zeros((48, 64), np.uint8))
    monkeypatch.setattr(media.pixels, "MOST_NUMBERS", 3000)
    with pytest.raises(MediaError, match=r"film\.mp4 has 64 x 48 pixels; at most 3000"):
        open_frames(tmp_path / "film.mp4")


def test_pictures_are_of_common_formats_only(tmp_path):
    """For others Pillow may start other programs."""
    Image.new("RGB", (8, 8)).save(tmp_path / "a.eps")
    (tmp_path / "a.eps").rename(tmp_path / "a.png")
    with pytest.raises(MediaError, match="is damaged or not an image"):
        read_image(tmp_path / "a.png")


@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_a_table_of_nothing_has_no_names_for_its_columns(run, tmp_path, name):
    table = np.zeros((0, 10**12))
    np.save(tmp_path / name, table) if name == "x.npy" else np.savez(tmp_path / name, X=table)
    assert failed(run("decompose", name), "has no rows of numbers")


def test_a_table_larger_than_memory_is_not_read(run, tmp_path, monkeypatch, little_memory):
    write_zeros(tmp_path / "x.npz", X=((10, 3_000_000), "<f8"))
    monkeypatch.setattr(_numpy_files.os, "sysconf", lambda name: 1 << 12)
    assert failed(run("decompose", "x.npz"), "the data do not fit into memory")


@pytest.mark.parametrize("claimed", [(10**12, 3), (-1, 3), (3, 10**30), (True, 3)])
def test_headers_that_claim_too_much(run, tmp_path, claimed, little_memory):
    (tmp_path / "x.npy").write_bytes(npy_start(claimed, "<f8") + bytes(72))
    for command in ("decompose", "fit"):
        assert failed(run(command, "x.npy"), "x.npy is damaged")
    with pytest.raises(MediaError, match=r"x\.npy cannot be read: it is damaged or contains no numbers"):
        open_frames(tmp_path / "x.npy")


def damaged_archives():
    whole = io.BytesIO()
    np.savez_compressed(whole, X=np.random.default_rng(0).random((30, 20)))
    content = whole.getvalue()
    yield "encrypted", with_member(content, 6, 1)
    yield "bent", content[:300] + bytes(200) + content[500:]
    yield "unknown method", with_member(content, 8, 99)
    for name, text in {"open string": "'''", "open bracket": "((((", "indented": "\t\n  {", "deep": "[" * 3000}.items():
        start = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
        odd = io.BytesIO()
        with zipfile.ZipFile(odd, "w") as archive:
            archive.writestr("X.npy", start + bytes(100))
        yield name, odd.getvalue()
        yield f"{name}, alone", start + bytes(100)


DAMAGED = dict(damaged_archives())


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_damaged_files_of_numpy_are_told_in_one_sentence(run, tmp_path, content):
    name = "x.npy" if content.startswith(b"\x93NUMPY") else "x.npz"
    (tmp_path / name).write_bytes(content)
    for command in ("decompose", "fit"):
        assert failed(run(command, name), f"{name} is damaged")
    assert failed(run("video", name), name)


def test_a_file_of_very_many_arrays_is_told_of_in_short(run, tmp_path):
    arrays = {f"a{number:04d}": np.zeros(1, np.uint8) for number in range(info.MOST_ARRAYS + 50)}
    store.write(tmp_path / "many.safetensors", "Thing", {"text": "long " * 10_000}, arrays)
    told = run("info", "many.safetensors", "--details")
    assert told.code == 0
    assert "and 50 more arrays" in told.out
    assert "a0199" in told.out
    assert "a0200" not in told.out
    assert len(told.out) < 30_000
    whole = json.loads(run("info", "many.safetensors", "--json").out)
    assert len(whole["arrays"]) == len(arrays)


def test_links_that_lead_to_each_other_are_told(run, tmp_path):
    for one, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{one}.npy").symlink_to(f"{other}.npy")
    np.save(tmp_path / "film.npy", np.zeros((3, 24, 32), np.uint8))
    for command in (("info",), ("decompose",), ("fit",), ("video",), ("video", "film.npy", "--region")):
        assert failed(run(*command, "a.npy"), "a.npy")
