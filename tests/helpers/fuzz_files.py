"""Files of every kind that the product reads, and ways to spoil them; for fuzz.py."""

import io
import json
import zipfile
from copy import deepcopy
from functools import partial

import av
import numpy as np
from PIL import Image

from unmingle import (
    Aligner,
    Encoder,
    LearnedRobustNMF,
    LearnedRobustPCA,
    OnlineRobustNMF,
    OnlineRobustPCA,
    RobustNMF,
    RobustPCA,
    store,
)
from unmingle.apps import audio
from unmingle.apps.audio.networks import Encoded
from unmingle.apps.audio.nonnegative import Adaptive
from unmingle.apps.video import Stream
from unmingle.core.encoder.sequence import SequenceEncoder
from unmingle.learn import MaskBatch, SequenceNetwork, Training, train, train_masks
from unmingle.media import SoundWriter
from unmingle.synth import displaced_faces

M = 12
RATE = 8000
SOUNDS = (".wav", ".flac", ".ogg")
SIZE = (24, 32)
EXTREMES = [
    None, True, False, 0, 1, -1, 2, 3, 7, 100, 400, 10**4, 10**6, 10**12, 10**18, 2**31, 2**63, 2**64, -(2**63),
    10**400,
    0.0, -0.0, 0.5, 1.0, 1.5, 1e-320, 1e-308, 1e-9, 1e9, 1e308, np.nan, np.inf, -np.inf, "", "auto", "float32", "full",
    "x" * 5000, "\ud800", "\x1b[31m", [], {}, [[]], [1, 2, 3], [10**9, 10**9], {"a": 1}, [0] * 5000,
]  # fmt: skip
DTYPES = ["bool", "float16", "float32", "float64", "int8", "int32", "int64", "uint8", "uint16", "uint64"]
STRANGE_NAMES = [
    "extra", "outlier_penalty", "init.outlier_penalty", "fitted.outlier_penalty_", "region", "first", "adam.9.step", "",
    "fitted", "fitted.card_.a", "encoder", "encoder.n_layers", "settings.a.b", "init.tol.x", ".", "a." * 300, "setup.a",
]  # fmt: skip
KINDS = [
    "RobustPCA", "RobustNMF", "Encoder", "VideoStream", "AudioStream", "OnlineRobustPCA", "OnlineRobustNMF",
    "LearnedRobustPCA", "Training", "VoiceModel", "SequenceEncoder", "Aligner",
]  # fmt: skip
VALUES = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1.0, 1e-320, 1e-30, 1e30, 1e308, 3.4e38]


def rows(n=80, m=M, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, m)) + 0.05 * rng.standard_normal((n, m))
    X[rng.random(X.shape) < 0.05] += 10.0
    X[rng.random(X.shape) < 0.05] = np.nan
    return X.astype(dtype)


def frames(n=40, seed=0, colour=False):
    rng = np.random.default_rng(seed)
    picture = rng.integers(50, 200, (*SIZE, 3) if colour else SIZE)
    film = np.clip(picture + rng.normal(0, 3, (n, *picture.shape)), 0, 255).astype(np.uint8)
    for number in range(n):
        film[number, 5:12, number % 20 : number % 20 + 8] = 255
    return film


def training(path):
    """A checkpoint of training that was stopped, as `unmingle train` leaves it."""
    start = Encoder.from_components(np.eye(2, M), rank_penalty=0.3, outlier_penalty=0.2, n_layers=3)
    settings = {"max_steps": 60, "batch_size": 16, "random_state": 0, "checkpoint": path}
    return partial(train, start, np.nan_to_num(rows()), **settings)


def mask_training(path):
    """The same of `unmingle train audio`."""
    start = SequenceEncoder.from_samples(np.abs(np.nan_to_num(rows())), n_components=2, n_layers=1)
    rng = np.random.default_rng(0)
    arrays = [rng.random((4, 3, M)).astype(np.float32) for _ in range(3)] + [np.ones(3, np.float32)] * 2
    settings = {"setup": {"data": "noise"}, "max_steps": 40, "checkpoint": path}
    return partial(train_masks, SequenceNetwork(start), lambda step: MaskBatch(*arrays), **settings)


TRAININGS = {"work": training, "masks": mask_training}
"""Checkpoints by the names of their files."""


def write_seeds(folder):
    """Write one or more good files of every kind; return their paths."""
    write_models(folder)
    table = rows()
    np.save(folder / "table.npy", table)
    np.savez(folder / "table.npz", X=table)
    np.savez_compressed(folder / "packed.npz", X=table, y=np.arange(3))
    lines = [",".join(f"c{k}" for k in range(M)), *(",".join(f"{v:.4g}" for v in row) for row in table[:20])]
    (folder / "table.csv").write_text("\n".join(lines))
    film = frames(20)
    np.save(folder / "film.npy", film)
    np.savez_compressed(folder / "film.npz", frames=film, times=np.arange(20) / 10)
    Image.fromarray(film[0]).save(folder / "grey.png")
    Image.fromarray(film[0].astype(np.uint16) * 200).save(folder / "wide.png")
    Image.fromarray(frames(1, colour=True)[0]).save(folder / "colour.jpg")
    Image.fromarray(frames(1, colour=True)[0]).save(folder / "colour.tif", compression="tiff_lzw")
    Image.fromarray(film[0]).save(folder / "film.gif", save_all=True, append_images=[Image.fromarray(film[1])])
    for name in ("film.mp4", "film.mkv", "film.avi"):
        with av.open(folder / name, "w") as container:
            stream = container.add_stream("libx264", rate=25)
            stream.height, stream.width, stream.pix_fmt = *SIZE, "yuv420p"
            for pixels in film:
                container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="gray")))
            container.mux(stream.encode(None))
    for suffix in SOUNDS:
        with SoundWriter(folder / f"sound{suffix}", RATE, 2) as writer:
            writer.write(sound(0.5, channels=2))
    return sorted(folder.iterdir())


def sound(seconds, channels=1):
    times = np.arange(round(seconds * RATE)) / RATE
    waves = np.sin(np.outer(times, 2 * np.pi * np.array([220.0, 330.0, 1000.0]))).sum(axis=1) / 4
    return np.repeat(waves[:, None], channels, axis=1).astype(np.float32)


def voice_model():
    """A network for voices that has learnt nothing."""
    frames = np.random.default_rng(0).random((9, 240))
    encoder = SequenceEncoder.from_samples(frames, n_components=3, n_layers=2)
    return audio.VoiceModel(encoder, np.ones(240), {"data": "noise", "scores": {"mean": 0.5}})


def write_sound_streams(folder):
    """Write networks for voices, and streams of sound in several states."""
    voice_model().save(folder / "voices.safetensors")
    voice_model().save(folder / "halves.safetensors", half=True)
    voice_model().encoder_.save(folder / "sequence.safetensors")
    network = Encoder.from_components(np.eye(2, 513), rank_penalty=0.3, outlier_penalty=0.2, n_layers=2)
    for name, seconds, method in (
        ("mute", 0.0, Adaptive(2)),
        ("starting", 0.6, Adaptive(2)),
        ("adapting", 1.2, Adaptive(2)),
        ("encoding", 0.3, Encoded(network)),
        ("carrying", 0.3, voice_model()),
    ):
        stream = audio.Stream(RATE, channels=2, method=method)
        stream.push(sound(seconds, channels=2))
        if name == "mute":
            stream.learn_music(sound(0.3, channels=2))
        stream.save(folder / f"{name}.safetensors")


def write_models(folder):
    """Write a model of every kind, in several states."""
    X = rows()
    encoder = partial(Encoder.from_components, np.eye(2, M), rank_penalty=0.3, outlier_penalty=0.2)
    RobustPCA(2, scale="columns", debias=True, random_state=0).fit(X).save(folder / "robust.safetensors")
    RobustPCA(2, outlier_penalty=np.full(M, 0.3)).fit(X.astype(np.float32)).save(folder / "each.safetensors")
    RobustNMF(2, random_state=0).fit(np.abs(X)).save(folder / "parts.safetensors")
    RobustNMF(init=np.ones((2, M))).fit(np.abs(X).astype(np.float32)).save(folder / "given.safetensors")
    for name, size, options in (("start", 20, {}), ("follow", 80, {}), ("recursive", 80, {"n_layers": 3})):
        step = "recursive" if options else "block"
        model = OnlineRobustPCA(2, start_size=40, dictionary_step=step, random_state=0, **options)
        model.partial_fit(X[:size]).save(folder / f"{name}.safetensors")
    for name, size in (("early", 20), ("late", 80)):
        model = OnlineRobustNMF(2, start_size=40, random_state=0)
        model.partial_fit(np.abs(X[:size])).save(folder / f"{name}.safetensors")
    short = Training(max_steps=20, window=40, window_step=10)
    learned = LearnedRobustPCA(2, n_layers=2, training=short, random_state=0)
    learned.fit(X).save(folder / "learned.safetensors")
    learned.partial_fit(X[:50]).save(folder / "window.safetensors")
    positive = LearnedRobustNMF(2, n_layers=2, tied=False, training=short, random_state=0)
    positive.fit(np.abs(X)).partial_fit(np.abs(X[:50])).save(folder / "positive.safetensors")
    encoder(n_layers=3).save(folder / "encoder.safetensors")
    encoder(n_layers=3, tied=False, structure="full").save(folder / "full.safetensors")
    encoder(n_layers=2, nonnegative_codes=True).astype(np.float32).save(folder / "signed.safetensors")
    for name, count, options in (
        ("young", 10, {}),
        ("video", 40, {}),
        ("part", 40, {"pixel_share": 0.5, "region": np.ones(SIZE, bool)}),
        ("colour", 40, {"smoothing": 3}),
    ):
        stream = Stream(**options)
        for pixels in frames(count, colour=name == "colour"):
            stream.push(pixels)
        stream.save(folder / f"{name}.safetensors")
    Aligner().fit(displaced_faces(6, shape=(20, 20), random_state=0).images).save(folder / "aligner.safetensors")
    write_sound_streams(folder)
    for name, begin in TRAININGS.items():
        begin(folder / f"{name}.training")(callback=lambda progress: progress.done >= 5)


def spoilt(path, others, rng):
    """The content of a file after one to three changes, and whether its structure was kept."""
    if path.suffix in (".safetensors", ".training") and rng.random() < 0.8:
        content = spoilt_model(path, rng)
    elif path.suffix in (".npy", ".npz") and rng.random() < 0.5:
        content = spoilt_arrays(path, rng)
    elif path.suffix == ".csv" and rng.random() < 0.6:
        content = spoilt_text(path.read_text(), rng)
    else:
        content = path.read_bytes()
        for _ in range(rng.integers(1, 4)):
            content = spoilt_bytes(content, others[rng.integers(len(others))].read_bytes(), rng)
    return content


def chosen(items, rng):
    return items[int(rng.integers(len(items)))]


def spoilt_bytes(content, other, rng):
    content, n = bytearray(content), max(1, len(content))
    place, length = int(rng.integers(n)), int(rng.integers(1, 1 + min(n, 64)))
    match int(rng.integers(7)):
        case 0:
            content[place : place + 1] = bytes([int(rng.integers(256))])
        case 1:
            del content[place:]
        case 2:
            del content[place : place + length]
        case 3:
            content[place : place + length] = rng.bytes(length)
        case 4:
            start = int(rng.integers(max(1, len(other))))
            content[place : place + length] = other[start : start + length]
        case 5:
            content[place:place] = content[place : place + length] * int(rng.integers(1, 50))
        case _:
            content[place : place + length] = chosen([b"\x00", b"\xff", b"9", b"["], rng) * length
    return bytes(content)


def places(value, way=()):
    """The ways to all values within a JSON value."""
    yield way
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield from places(part, (*way, key))


def spoil_parameter(parameters, rng):
    """Replace, remove or add one value, wherever it is."""
    way = chosen([way for way in places(parameters) if way], rng)
    holder = parameters
    for key in way[:-1]:
        holder = holder[key]
    match int(rng.integers(8)):
        case 0:
            del holder[way[-1]]
        case 1 if isinstance(holder, dict):
            names = ["surprise", "", "components_", "n_layers", "fitted.components_"]
            holder[chosen(names, rng)] = deepcopy(chosen(EXTREMES, rng))
        case 2:
            deep = deepcopy(chosen(EXTREMES, rng))
            for _ in range(int(rng.integers(1, 250))):
                deep = [deep] if rng.random() < 0.5 else {"a": deep}
            holder[way[-1]] = deep
        case _:
            holder[way[-1]] = deepcopy(chosen(EXTREMES, rng))


def spoilt_array(array, rng):
    with np.errstate(all="ignore"):
        match int(rng.integers(7)):
            case 0:
                return np.nan_to_num(array).astype(chosen(DTYPES, rng))
            case 1:
                return array[: int(rng.integers(len(array) + 1))] if array.ndim else array[None]
            case 2:
                return np.repeat(array, int(rng.integers(2, 40)), axis=0) if array.ndim else array
            case 3:
                return array.T.copy() if rng.random() < 0.5 else array.reshape(-1)
            case 4:
                return np.full_like(array, chosen(VALUES, rng) if array.dtype.kind == "f" else rng.integers(2))
            case 5 if array.size and array.dtype.kind == "f":
                array = array.copy()
                array.flat[int(rng.integers(array.size))] = chosen(VALUES, rng)
                return array
            case _:
                shape = [int(chosen([0, 0, 1, 2, 3], rng)) for _ in range(rng.integers(4))]
                return np.zeros([0, 10**12] if rng.random() < 0.2 else shape, array.dtype)


def spoilt_model(path, rng):
    """A model with other parameters and arrays, and a checksum that fits to them."""
    kind, version, parameters, arrays = store.read(path)
    for _ in range(rng.integers(1, 4)):
        names = sorted(arrays)
        if parameters and rng.random() < 0.6:
            spoil_parameter(parameters, rng)
        elif rng.random() < 0.15:
            del arrays[chosen(names, rng)]
        elif rng.random() < 0.15:
            arrays[chosen(STRANGE_NAMES, rng)] = arrays[chosen(names, rng)]
        elif names:
            name = chosen(names, rng)
            arrays[name] = spoilt_array(arrays[name], rng)
        if not arrays:
            break
    if rng.random() < 0.03:
        kind = chosen(KINDS, rng)
    if rng.random() < 0.1:
        version = int(rng.integers(3))
    description = {"kind": kind, "format": version, "parameters": parameters}
    entry = json.dumps({**description, "checksum": store._checksum(description, arrays)})
    portable = {name: store._portable(name, array) for name, array in arrays.items()}
    return store.to_safetensors(portable, metadata={"unmingle": entry})


HEADERS = [
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 3)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3)}",
    "{'descr': '|O', 'fortran_order': False, 'shape': (3, 3)}",
    "{'descr': '|V999999999', 'fortran_order': False, 'shape': (3, 3)}",
    "{'descr': [('a', '<f8', (9,))], 'fortran_order': True, 'shape': (3, 3)}",
    "{'descr': '<U9', 'fortran_order': False, 'shape': (2, 5)}",
    "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (3, 3)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (True, 3)}",
    "{'descr': '<f8', 'fortran_order': 1, 'shape': 3}",
    "{'descr': '<f8', 'shape': (",
    "((((((((((", "'''", "\t\n  {", "{'descr': '<f8L', 'shape': (3L,)}", "[" * 3000, "9" * 5000,
]  # fmt: skip


def spoilt_arrays(path, rng):
    """A file of NumPy with arrays of another shape or type, or with a header that makes no sense."""
    content = io.BytesIO()
    if path.suffix == ".npy":
        if rng.random() < 0.5:
            np.save(content, spoilt_array(np.load(path), rng))
            return content.getvalue()
        return npy_with(chosen(HEADERS, rng), rng)
    arrays = dict(np.load(path))
    name = chosen(sorted(arrays), rng)
    if rng.random() < 0.5:
        arrays[name] = spoilt_array(arrays[name], rng)
        np.savez_compressed(content, **arrays)
        whole = content.getvalue()
        return with_member(whole, int(rng.integers(4, 30)), int(rng.integers(256))) if rng.random() < 0.4 else whole
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, array in arrays.items():
            whole = io.BytesIO()
            np.save(whole, array)
            archive.writestr(
                f"{member}.npy", npy_with(chosen(HEADERS, rng), rng) if member == name else whole.getvalue()
            )
    return content.getvalue()


def with_member(content, place, value):
    """An archive with another byte in what it says of its members: 6 is for encryption, 8 for the method."""
    changed = bytearray(content)
    for start, offset in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
        where = content.find(start)
        while where >= 0:
            changed[where + place + offset] = value
            where = content.find(start, where + 4)
    return bytes(changed)


def npy_with(header, rng):
    text = f"{header}\n".encode()
    version = chosen([b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x07\x00"], rng)
    length = len(text).to_bytes(2 if version == b"\x01\x00" else 4, "little")
    return b"\x93NUMPY" + version + length + text + rng.bytes(int(rng.integers(200)))


CELLS = [
    "",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "x",
    '"',
    '"a\nb"',
    "\x00",
    "1_0",
    "٣",
    "0x10",
    "1,2",
    ";",
    "\t",
    "9" * 6000,
]


def spoilt_text(text, rng):
    """A table with other cells and lines."""
    lines = text.split("\n")
    for _ in range(rng.integers(1, 4)):
        number = int(rng.integers(len(lines)))
        cells = lines[number].split(",")
        cells[int(rng.integers(len(cells)))] = chosen(CELLS, rng)
        lines[number] = ",".join(cells)
        if rng.random() < 0.3:
            lines[number : number + 1] = [lines[number]] * int(rng.integers(3))
        if not lines:
            return b""
    return "\n".join(lines).encode("utf-8", "surrogatepass")
