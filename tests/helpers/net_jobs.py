"""The jobs of net.py: each is named after what is done, and returns arrays and numbers by name.

The names of jobs and arrays stay when what they call gets other names. Arrays that end in "_bytes" are whole files.
"""

import importlib.util
import io
import json
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import numpy as np

import unmingle
from unmingle import synth

JOBS, PACKAGES = {}, {}


def job(*packages):
    """A job, and the optional packages that it takes."""

    def register(function):
        JOBS[function.__name__], PACKAGES[function.__name__] = function, packages
        return function

    return register


def missing_packages(name):
    return [package for package in PACKAGES[name] if importlib.util.find_spec(package) is None]


def results_of(name):
    """The arrays that a job results in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {key: np.asarray(value) for key, value in JOBS[name]().items()}


def bytes_of(path):
    return np.frombuffer(path.read_bytes(), np.uint8)


def temporary_folder():
    return tempfile.TemporaryDirectory(prefix="net-", ignore_cleanup_errors=True)


# Matrices


def made(n=160, m=40, dtype=np.float64, missing=0.0, seed=0, rank=3):
    return synth.low_rank_plus_sparse(
        n, m, rank, outlier_fraction=0.05, outlier_scale=5, noise=0.1, missing=missing, dtype=dtype, random_state=seed
    ).X


def positive(n=150, m=30, seed=0):
    blocks = synth.nonnegative_stream(n, m, 3, noise=0.02, outlier_scale=3, block_size=n, random_state=seed)
    return next(iter(blocks)).X


def parts_of(part):
    numbers = ("low_rank", "outliers", "codes", "components", "objective", "gap", "n_iter", "converged")
    found = {name: getattr(part, name) for name in numbers}
    return found | {"rank_penalty": part.rank_penalty, "outlier_penalty": part.outlier_penalty}


@job()
def wide_matrix():
    return parts_of(unmingle.decompose(made(60, 300), random_state=0))


@job()
def tall_matrix():
    return parts_of(unmingle.decompose(made(600, 24), random_state=0))


@job()
def square_matrix():
    return parts_of(unmingle.decompose(made(150, 150), rank_penalty=4.0, outlier_penalty=0.3))


@job()
def float32_matrix_with_gaps():
    return parts_of(unmingle.decompose(made(200, 50, np.float32, missing=0.1), random_state=0))


@job()
def matrix_with_at_most_three_components():
    return parts_of(unmingle.decompose(made(300, 60), n_components=3, solver="alternating", random_state=0))


@job()
def matrix_by_pursuit():
    exact = parts_of(unmingle.decompose(made(100, 60), solver="pcp", random_state=0))
    within = parts_of(unmingle.decompose(made(100, 60), solver="pcp", eps=6.0, random_state=0))
    return exact | {f"within_{name}": value for name, value in within.items()}


@job()
def table_with_flagged_cells():
    X = synth.sensor_readings(200, 16, random_state=3).values
    part = unmingle.decompose(X, scale="columns", debias=True, random_state=0)
    tests = {"flags": part.flags(), "significance": part.significance, "column_scale": part.column_scale}
    return parts_of(part) | tests | {"residual": part.residual}


@job()
def penalties_chosen():
    shapes = {"tall": (2000, 8), "wide": (8, 500), "square": (90, 90), "table": (400, 24)}
    found = {}
    for name, (n, m) in shapes.items():
        X = made(n, m, missing=0.1 * (name == "table"), rank=2)
        part = unmingle.decompose(X, max_iter=3, random_state=0)
        found[name] = [part.rank_penalty, part.outlier_penalty, *unmingle.penalty_max(X)]
    return found


# Models of tables


def about_rows(model, X):
    """What a fitted model says of new rows."""
    part = model.decompose(X)
    scores = {"scores": model.score_samples(X), "outlying": model.predict(X), "codes": model.transform(X)}
    return {"components": model.components_, "low_rank": part.low_rank, "outliers": part.outliers} | scores


@job()
def table_model():
    model = unmingle.RobustPCA(random_state=0).fit(made(300, 30, missing=0.05))
    new = made(40, 30, missing=0.05, seed=1)
    found = {"gaps": model.decompose(new).sample_gap, "score": model.score(new), "objective": model.objective_}
    return about_rows(model, new) | found


@job()
def table_model_without_shrinkage():
    model = unmingle.RobustPCA(3, scale="columns", debias=True, random_state=0).fit(made(300, 30))
    part = model.decompose(made(40, 30, seed=1), debias=True)
    return {"components": model.components_, "low_rank": part.low_rank, "flags": part.flags()}


@job()
def nonnegative_model():
    model = unmingle.RobustNMF(4, random_state=0).fit(positive())
    return about_rows(model, positive(30, seed=1)) | {"objective": model.objective_, "n_iter": model.n_iter_}


@job()
def stream_of_rows():
    X = made(500, 30, missing=0.03)
    model = unmingle.OnlineRobustPCA(4, random_state=0)
    for block in np.split(X, 5):
        model.partial_fit(block)
    return about_rows(model, X[:50])


@job()
def stream_of_rows_by_recursion():
    X = made(400, 30)
    model = unmingle.OnlineRobustPCA(4, forgetting=0.99, dictionary_step="recursive", random_state=0).fit(X)
    return about_rows(model, X[:50])


@job()
def stream_of_nonnegative_rows():
    model = unmingle.OnlineRobustNMF(4, random_state=0)
    for block in np.split(positive(450), 3):
        model.partial_fit(block)
    return about_rows(model, positive(30, seed=1))


@job("dask")
def chunks_of_rows():
    import dask
    import dask.array as da

    with dask.config.set(scheduler="synchronous"):
        X = da.from_array(made(600, 30, missing=0.02), chunks=(150, 30))
        model = unmingle.distributed.fit(unmingle.RobustPCA(random_state=0), X, max_passes=4)
    return about_rows(model, made(40, 30, seed=1))


# Encoders and their training


def encoder_of(X, n_layers=4, **kind):
    U = unmingle.decompose(X, n_components=3, solver="alternating", random_state=0).components
    return unmingle.Encoder.from_components(U, rank_penalty=0.5, outlier_penalty=0.2, n_layers=n_layers, **kind)


@job()
def codes_by_an_encoder():
    X = made(200, 30, missing=0.05)
    encoder = encoder_of(X)
    found = {}
    for backend in ("numba", "numpy"):
        codes, outliers = encoder.encode(X, backend=backend)
        found |= {f"{backend}_codes": codes, f"{backend}_outliers": outliers}
    found["gap"], found["cost"] = encoder.gap(X, codes, outliers), encoder.cost(X, codes, outliers)
    found["warm_codes"] = encoder.encode(X, init=codes)[0]
    found["float32_codes"] = encoder_of(X.astype(np.float32)).encode(X.astype(np.float32))[0]
    return found


@job("torch")
def learned_model():
    X = made(300, 30, missing=0.03)
    model = unmingle.LearnedRobustPCA(3, n_layers=3, max_steps=40, random_state=0).fit(X)
    return about_rows(model, X[:50]) | dict(model.encoder_.layers._asdict())


@job("torch")
def learned_model_of_a_stream():
    X = made(400, 30)
    model = unmingle.LearnedRobustPCA(3, n_layers=2, update_dictionary=True, window=100, random_state=0)
    for block in np.split(X, 4):
        model.partial_fit(block)
    return about_rows(model, X[:50])


@job("torch")
def learned_model_with_targets():
    mixture = synth.low_rank_plus_sparse(300, 24, 3, outlier_scale=5, noise=0.1, random_state=0)
    truth = np.stack([mixture.low_rank, mixture.outliers], axis=1)
    model = unmingle.LearnedRobustPCA(3, n_layers=2, loss="source", max_steps=30, random_state=0)
    return about_rows(model.fit(mixture.X, truth), mixture.X[:50])


def masked_batch(number, frames=12, width=6, m=9):
    """Samples that are mostly foreground in their lower half and mostly background in the other."""
    from unmingle import learn

    V, A = np.random.default_rng((7, number)).random((2, frames, width, m)).astype(np.float32)
    A[..., m // 2 :] *= 0.1
    V[..., : m // 2] *= 0.1
    X, squares = V + A, [np.square(part).sum((0, 2)) for part in (V, A)]
    return learn.MaskBatch(np.sqrt(X), X**2, X * V, squares[0], squares[0] + squares[1])


def sequence_encoder(m=9):
    from unmingle.encoder import SequenceEncoder

    X = np.abs(np.random.default_rng(0).standard_normal((30, m)))
    return SequenceEncoder.from_samples(X, n_components=5, n_layers=2, seed=0).astype(np.float32)


@job("torch")
def network_of_masks():
    from unmingle import learn

    network = learn.SequenceNetwork(sequence_encoder())
    looks = learn.train_masks(network, masked_batch, setup={}, max_steps=40, step_size=0.01)
    numbers = {f"number_{k}": value.detach().numpy() for k, value in enumerate(network.parameters())}
    return numbers | {"losses": [look.loss for look in looks]}


@job("onnx", "onnxruntime")
def encoders_as_onnx():
    from unmingle import export

    X = made(100, 30, np.float32, missing=0.05)
    steps = np.abs(np.random.default_rng(1).standard_normal((20, 9))).astype(np.float32)
    with temporary_folder() as folder:
        rows, sequence = Path(folder) / "rows.onnx", Path(folder) / "sequence.onnx"
        export.to_onnx(encoder_of(X), rows)
        export.to_onnx(sequence_encoder(), sequence)
        codes, low_rank, outliers = export.run(rows, X)
        found = export.run_sequence(sequence, steps)._asdict()
    return found | {"codes": codes, "low_rank": low_rank, "outliers": outliers}


# Films


def coloured_film(n=70, height=48, width=64):
    scene = synth.surveillance_scene(n, height, width, light="changing", random_state=0)
    tint = np.where(scene.masks[..., None], (0.6, 1.0, 1.2), (1.0, 0.85, 0.7))
    return np.rint(255 * np.clip(scene.frames[..., None] * tint, 0, 1)).astype(np.uint8)


def seen_in(found):
    """What came of all frames of a film."""
    boxes = [[one.index, *box] for one in found for box in one.boxes]
    return {
        "masks": np.stack([one.mask for one in found]),
        "backgrounds": np.stack([one.background for one in found]),
        "boxes": np.array(boxes).reshape(-1, 6),
        "scores": [one.score for one in found],
        "states": [["starting", "watching", "adapting", "moving", "frozen"].index(one.state) for one in found],
    }


@job()
def coloured_film_frame_by_frame():
    from unmingle.apps import video

    stream = video.Stream()
    found = seen_in([stream.push(frame) for frame in coloured_film()])
    last = coloured_film()[40]
    return found | {"once_more": stream.inspect(last).background, "frozen": stream.freeze().push(last).mask}


@job()
def grey_film_of_a_shaking_camera():
    from unmingle.apps import video

    frames = synth.shaking_scene(60, 60, 80, random_state=0).frames
    stream = video.Stream(stabilise="translation")
    return seen_in([stream.push(frame) for frame in np.rint(255 * frames).astype(np.uint8)])


@job()
def film_with_known_foreground():
    from unmingle.apps import video

    scene = synth.surveillance_scene(50, 48, 64, random_state=1)
    stream = video.Stream(encoder="exact", n_components=3, min_area=10, shadows=True, random_state=0)
    frames = zip(scene.frames.astype(np.float32), scene.masks, strict=True)
    return seen_in([stream.push(frame, known_foreground=mask) for frame, mask in frames])


@job()
def film_saved_and_gone_on_with():
    from unmingle.apps import video

    frames, stream = coloured_film(), video.Stream(start_size=20)
    for frame in frames[:45]:
        stream.push(frame)
    with temporary_folder() as folder:
        stream.save(Path(folder) / "stream.safetensors")
        stream = unmingle.load(Path(folder) / "stream.safetensors")
    return seen_in([stream.push(frame) for frame in frames[45:]])


@job()
def film_with_a_light_switch_and_a_jump_of_the_camera():
    from unmingle.apps import video

    frames = coloured_film(130)
    frames[50:] = np.rint(0.6 * frames[50:])
    frames[85:] = np.roll(frames[85:], 20, axis=2)
    stream = video.Stream(patience=30, smoothing=5, random_state=0)
    found = seen_in([stream.push(frame) for frame in frames])
    return found | {"jumps": stream.card_["scene_jumps"], "moves": stream.card_["camera_moves"]}


@job()
def region_of_a_film():
    from unmingle.apps import video

    region = np.zeros((48, 64), dtype=bool)
    region[10:40, 5:50] = True
    stream = video.Stream(region=region, pixel_share=0.3, n_layers=3, start_size=25, random_state=0)
    return seen_in([stream.push(frame) for frame in coloured_film()[..., 0]])


def film_of_visits():
    """Noise, and a square that crosses it twice."""
    frames = np.clip(120 + 3 * np.random.default_rng(0).standard_normal((90, 48, 64)), 0, 255)
    for number in [*range(40, 52), *range(70, 84)]:
        left = 5 + 4 * (number % 10)
        frames[number, 10:22, left : left + 10] = 250
    return frames.astype(np.uint8)


@job()
def events_of_a_film():
    from unmingle.apps import video

    with temporary_folder() as folder:
        files = {name: Path(folder) / f"{name}.csv" for name in ("events", "boxes")}
        pictures = {name: Path(folder) / f"{name}.npz" for name in ("mask", "background", "foreground")}
        outputs = video.Outputs(**files, **pictures)
        watched = video.watch(film_of_visits(), outputs=outputs, event_gap=0.2)
        tables = {f"{name}_bytes": bytes_of(path) for name, path in files.items()}
        films = {name: np.load(path)["frames"] for name, path in pictures.items()}
    rows = [[e.start, e.end, e.first_frame, e.last_frame, e.peak_share, e.left, e.top] for e in watched.events]
    return {"rows": rows} | tables | films


# Sound


def stems_of(stems):
    return {"voice": stems.voice, "music": stems.music}


def song_by(method, seconds, **options):
    from unmingle.apps import audio

    song = synth.song(4.0, random_state=0)
    sound = song.mixture[: round(seconds * song.rate)]
    return stems_of(audio.separate(sound, song.rate, method=method, **options))


@job()
def song_by_the_shipped_network():
    return song_by("voice", 4.0)


@job()
def song_by_nonnegative_factors():
    return song_by("nmf", 3.0)


@job()
def song_by_pursuit():
    return song_by("pcp", 1.5)


@job()
def song_that_adapts():
    return song_by("adapt", 3.0, no_voice=(0.0, 1.0))


def live(method, rate=16000, channels=1, **options):
    """A stream that gets blocks of odd sizes, and a passage of music first where it learns from one."""
    from unmingle.apps import audio

    song = synth.song(4.0, rate, random_state=1)
    sound = song.mixture.astype(np.float32)
    sound = sound if channels == 1 else np.stack([sound, 0.7 * np.roll(sound, 9)], axis=1)
    stream = audio.Stream(rate, method=method, channels=channels, **options)
    if method == "adapt":
        stream.learn_music(song.music.astype(np.float32)[:rate])
    blocks = np.split(sound, np.cumsum([1024, 1, 3000, 700, 5000, 12345]))
    found = [*(stream.push(block) for block in blocks), stream.flush()]
    return {name: np.concatenate([getattr(one, name) for one in found]) for name in ("voice", "music")}


@job()
def live_sound_by_the_shipped_network():
    return live("voice", 22050, channels=2) | {f"quick_{k}": v for k, v in live("voice", low_latency=True).items()}


@job()
def live_sound_that_adapts():
    return live("adapt")


# Images that are not aligned


def aligned(done):
    return {name: getattr(done, name) for name in ("matrices", "images", "low_rank", "outliers", "cost", "ok")}


@job()
def faces_aligned():
    faces = synth.displaced_faces(16, turn=6.0, random_state=0).images
    return aligned(unmingle.align(faces, "euclidean", shape=(48, 40), n_components=4))


@job()
def new_faces_aligned():
    model = unmingle.Aligner(shape=(48, 40), n_components=4).fit(synth.displaced_faces(20, random_state=0).images)
    new = synth.displaced_faces(10, covered=0.4, random_state=1).images
    return aligned(model.align(new)) | {"pixels": model.transform(new)}


# Commands


def command(*words):
    """Run the command line, and return what it prints."""
    from unmingle.cli import main

    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "argv", ["unmingle", *map(str, words)]):
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"unmingle {words[0]} failed: {err.getvalue()}") from None
    return out.getvalue()


def write_readings(path, hours=slice(None)):
    """The table of the demo, or some of it: readings by the hour, with faults and gaps."""
    table = synth.sensor_readings(random_state=0)
    lines = [",".join(["time", *table.columns])]
    for hour, row in list(enumerate(table.values))[hours]:
        cells = ["" if np.isnan(value) else f"{value:.2f}" for value in row]
        lines.append(",".join([f"2026-03-{2 + hour // 24:02} {hour % 24:02}:00", *cells]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def numbers_in(data):
    """The numbers of a table as it was written, NaN elsewhere."""
    rows = [line.split(",") for line in data.decode().splitlines()[1:]]
    return np.array([[float(cell) if cell.strip("+-").replace(".", "").isdigit() else np.nan for cell in row]
                     for row in rows])  # fmt: skip


def tables_in(folder):
    """All tables of a folder, to the byte and in numbers."""
    found = {}
    for path in sorted(folder.glob("*.csv")):
        name = path.stem.replace(".", "_")
        found |= {f"{name}_bytes": bytes_of(path), name: numbers_in(path.read_bytes())}
    return found


@job("typer", "rich", "pandas")
def table_cleaned_by_the_command():
    with temporary_folder() as folder:
        readings, out = write_readings(Path(folder) / "readings.csv"), Path(folder) / "out"
        said = json.loads(command("decompose", readings, "--out", out, "--parts", "--json"))
        listed = [[cell["value"], cell["expected"], cell["deviation"]] for cell in said["strongest_outliers"]]
        return tables_in(out) | {"listed": listed, "rank": said["rank"], "gap": said["gap"]}


@job("typer", "rich", "pandas")
def table_model_fitted_and_applied_by_commands():
    with temporary_folder() as folder:
        first = write_readings(Path(folder) / "first.csv", slice(220))
        second = write_readings(Path(folder) / "second.csv", slice(220, None))
        model, out = Path(folder) / "model.safetensors", Path(folder) / "out"
        command("fit", first, "--out", model, "--components", 3, "--quiet")
        command("apply", model, second, "--out", out, "--quiet")
        return tables_in(out) | {"components": unmingle.load(model).components_}


@job("typer", "rich", "pandas")
def european_table_cleaned_by_the_command():
    values = made(80, 6, missing=0.03) + 20
    lines = ["Tag;Ort;" + ";".join(f"Fühler {k}" for k in range(6)) + ";Zähler"]
    for day, row in enumerate(values):
        cells = ["n/a" if np.isnan(value) else f"{100 * value:,.2f}".translate({44: ".", 46: ","}) for value in row]
        lines.append(";".join([f"{1 + day % 28:02}.{1 + day // 28:02}.2026", "NS"[day % 2], *cells, str(day % 7)]))
    with temporary_folder() as folder:
        path = Path(folder) / "werte.csv"
        path.write_bytes(("\r\n".join(lines) + "\r\n").encode("latin-1"))
        said = json.loads(command("decompose", path, "--out", Path(folder) / "out", "--json"))
        files = sorted((Path(folder) / "out").glob("*.csv"))
        return {f"{path.stem}_bytes": bytes_of(path) for path in files} | {name: said[name] for name in ("rank", "gap")}


@job("typer", "rich", "soundfile")
def song_separated_by_the_command():
    import soundfile

    song = synth.song(4.0, random_state=0)
    with temporary_folder() as folder:
        path = Path(folder) / "song.wav"
        soundfile.write(path, np.stack([song.mixture, 0.5 * song.mixture], axis=1), song.rate, "PCM_24")
        command("audio", path, "--out", folder, "--quiet")
        stems = sorted(Path(folder).glob("song.*.flac"))
        return {path.name.split(".")[1]: soundfile.read(path)[0] for path in stems}


@job("typer", "rich", "av")
def film_separated_by_the_command():
    from unmingle import media

    with temporary_folder() as folder:
        path, mask, events = (Path(folder) / name for name in ("film.mp4", "mask.npz", "events.csv"))
        with media.open_writer(path, rate=15) as writer:
            for frame in coloured_film(60):
                writer.write(frame)
        command("video", path, "--mask", mask, "--events", events, "--quiet")
        return {"mask": np.load(mask)["frames"] > 0, "events_bytes": bytes_of(events)}
