"""Damaged files, models with huge numbers and odd tables: python tests/helpers/fuzz.py --count 5000 --minutes 60.

Each of them may be refused in one sentence, or be as good as any. Other errors, answers that are not finite, work
without end and memory without bounds are findings: what led to one is kept in a folder; the seed and its number make it
again.
"""

import argparse
import contextlib
import io
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from fuzz_files import SOUNDS, TRAININGS, frames, rows, sound, spoilt, write_models, write_seeds
from loaded_models import use_loaded as use_with_huge_numbers
from loaded_models import with_huge_numbers
from odd_tables import ESTIMATORS, odd_table, use_decompose, use_estimator

import unmingle
from unmingle import store
from unmingle.apps import audio
from unmingle.apps.video import Stream
from unmingle.cli._app import app
from unmingle.core.encoder.sequence import SequenceEncoder
from unmingle.media import Planes, open_frames, read_image

LONGEST = 60.0
"""Seconds for a file, most of which a kernel for numbers of another type may take to compile."""
MOST_MEMORY = 1 << 30
"""Bytes beyond those of the program itself."""
MOST_FEATURES = 10_000
ROUNDS_PER_TABLE = 16
"""Rounds of one damaged file and one model with huge numbers, for each odd table: those take longer."""
TABLES, PICTURES = (".csv", ".npy", ".npz"), (".gif", ".jpg", ".png", ".tif")


class Finding(Exception):
    """Something that no file should lead to."""


def command(*arguments):
    """Run the command line: it must end well, or with one sentence."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            app([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
    said = [line for line in err.getvalue().splitlines() if not line.startswith(("Warning: ", "Note: "))]
    failed = code == 1 and len(said) == 1 and said[0].startswith("Error: ") and "unexpected error" not in said[0]
    if code != 0 and not failed:
        raise Finding(f"{' '.join(map(str, arguments[:1]))}: exit code {code}\n{err.getvalue()}")


def use_model(path, folder):
    """Load a model and do with it what it is for."""
    with contextlib.suppress(store.StoreError):
        store.peek(path)
    command("info", path)
    try:
        model = unmingle.load(path)
    except store.StoreError:
        return
    with contextlib.suppress(ValueError):  # one sentence, of what cannot be done with this model
        use_loaded(model)
    if isinstance(model, audio.Stream):
        return
    if not isinstance(model, Stream):
        command("export", path, folder / "model.onnx")
    else:
        film = folder / "own.npy"
        np.save(film, frames(3))
        command("video", film, "--model", path, "--quiet")


def use_loaded(model):
    if isinstance(model, audio.Stream):
        for _ in range(3):
            model.push(sound(0.2, model.channels))
        return
    if isinstance(model, Stream):
        form = model.state.format
        shape, dtype = ((24, 32), np.uint8) if form is None else (form.shape, form.dtype)
        frame = np.full(shape, 0.5 if dtype == np.float32 else 90, dtype)
        if form is not None and form.kind == "planes":
            frame = Planes(np.full(form.entries, 90, dtype), form.height, form.width)
        for _ in range(3):
            model.push(frame)
        assert model.card_
        return
    if isinstance(model, unmingle.Aligner):
        model.transform(np.random.default_rng(0).random((2, 20, 22)))
        return
    if isinstance(model, audio.VoiceModel):
        model.parts(np.abs(np.resize(rows(12), (12, 513))))
        return
    if isinstance(model, SequenceEncoder):
        model.separate(np.zeros((3, min(model.n_features, MOST_FEATURES))))
        return
    m = model.components.shape[1] if isinstance(model, unmingle.Encoder) else model.n_features_in_
    if m > MOST_FEATURES:
        return
    X = np.resize(rows(12), (12, m))
    if isinstance(model, unmingle.Encoder):
        codes, outliers = model.encode(X)
        model.gap(X, codes, outliers)
        model.encode(X, backend="numpy")
        return
    model.transform(X)
    model.score_samples(X)
    model.inverse_transform(model.decompose(X).codes)
    if model.cells_ is not None:
        model.decompose(X, debias=True).flags()
    if isinstance(model, unmingle.OnlineRobustPCA):
        for _ in range(4):
            model.partial_fit(X)


def use_huge(path):
    """Load a model with huge numbers and do all that can be done with it: finite answers, or one sentence."""
    try:
        model = unmingle.load(path)
    except store.StoreError:
        return
    use_with_huge_numbers(model)


def use_table(path):
    """Do all that can be done with an odd table, whose seed is the name of a file."""
    table = odd_table(int(path.stem))[1]
    for name in ESTIMATORS:
        use_estimator(name, table)
    use_decompose(table)


def use(path, folder):
    """Read a file in all the ways in which its kind is read."""
    if path.suffix == ".huge":
        use_huge(path)
    elif path.suffix == ".table":
        use_table(path)
    elif path.suffix == ".safetensors":
        use_model(path, folder)
    elif path.suffix in SOUNDS:
        command("audio", path, "-o", folder / "stems", "--method", "nmf", "--quiet")
    elif path.suffix == ".training":
        with contextlib.suppress(ValueError):
            TRAININGS[path.stem.rpartition("-")[2]](path)(callback=lambda progress: progress.done >= 20)
    else:
        with contextlib.suppress(ValueError), open_frames(path) as opened:
            for _, _ in zip(range(50), opened, strict=False):
                pass
    if path.suffix in TABLES:
        command("decompose", path, "--max-iter", 20, "--out", folder / "parts", "--quiet")
        command("fit", path, "--out", folder / "fitted.safetensors", "--quiet")
    elif path.suffix in PICTURES:
        with contextlib.suppress(ValueError):
            read_image(path)
        film = folder / "own.npy"
        np.save(film, frames(3))
        command("video", film, "--region", path, "--max-frames", 2, "--quiet")
    elif path.suffix not in (".safetensors", ".training", *SOUNDS):
        command("video", path, "--quiet")


def work(wire: Connection, seeds: Path) -> None:
    """Try all files whose names come; answer what they led to."""
    import resource

    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    for path in sorted(seeds.iterdir()):
        copy = folder / path.name
        shutil.copy(path, copy)
        use(copy, folder)  # compiles what good files need
    limit = _memory() + (6 << 30)
    resource.setrlimit(resource.RLIMIT_AS, (max(limit, 12 << 30), max(limit, 12 << 30)))
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)  # where libraries in C tell what they think of a file
    wire.send("ready")
    try:
        while (path := wire.recv()) is not None:
            before, told = _memory(), ""
            try:
                use(path, folder)
            except BaseException:
                told = traceback.format_exc()
            grown = _memory() - before
            wire.send(told or (f"{grown >> 20} MB more memory" if grown > MOST_MEMORY else ""))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _memory():
    """The most that the process has held so far, in bytes."""
    import resource  # which not every system has

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


class Worker:
    """A process that tries files, and is replaced by another when it dies or takes too long."""

    def __init__(self, seeds):
        self.seeds = seeds
        self.start()

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.wire, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, self.seeds), daemon=True)
        self.process.start()
        theirs.close()
        if not self.wire.poll(600) or self.wire.recv() != "ready":
            sys.exit("Good files are not read.")

    def led_to(self, path):
        """What a file led to; nothing if all is well."""
        self.wire.send(path)
        try:
            if self.wire.poll(LONGEST):
                return self.wire.recv()
            told = f"no end after {LONGEST:g} seconds"
        except EOFError:
            self.process.join()
            told = f"the process died with {self.process.exitcode}"
        self.process.kill()
        self.process.join()
        self.start()
        return told


def cases(paths, models, folder, seed, first, count):
    """Write one file after the other, of a name that tells what is tried with it."""
    for number in range(first, first + count):
        rng = np.random.default_rng([seed, number])
        path = paths[int(rng.integers(len(paths)))]
        yield folder / f"{seed}-{number}-{path.name}", spoilt(path, paths, rng)
        model = models[int(rng.integers(len(models)))]
        yield folder / f"{seed}-{number}-{model.stem}.huge", with_huge_numbers(model, rng)
        if number % ROUNDS_PER_TABLE == 0:
            yield folder / f"{seed * 100_000 + number}.table", b""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=5000, help="damaged files, and as many huge models, at most")
    parser.add_argument("--minutes", type=float, default=15.0, help="minutes at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument("--kept", type=Path, default=Path("fuzz-findings"), help="folder for findings")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        good, models, tried_files = Path(place) / "good", Path(place) / "models", Path(place) / "tried"
        for folder in (good, models, tried_files):
            folder.mkdir()
        paths, findings, tried = write_seeds(good), 0, Counter()
        write_models(models)
        worker, begun = Worker(good), time.monotonic()
        written = cases(paths, sorted(models.iterdir()), tried_files, asked.seed, asked.first, asked.count)
        for file, content in written:
            if time.monotonic() - begun > 60.0 * asked.minutes:
                break
            file.write_bytes(content)
            told = worker.led_to(file)
            file.unlink(missing_ok=True)
            tried[file.suffix if file.suffix in (".huge", ".table") else ""] += 1
            if told:
                findings += 1
                asked.kept.mkdir(exist_ok=True)
                (asked.kept / file.name).write_bytes(content)
                (asked.kept / f"{file.name}.txt").write_text(told)
                print(f"{file.name}: {told.strip().splitlines()[-1]}", flush=True)
        spent = time.monotonic() - begun
        worker.wire.send(None)
        worker.process.join()
    print(
        f"{tried['']} damaged files, {tried['.huge']} models with huge numbers, {tried['.table']} odd tables in "
        f"{spent / 60:.0f} minutes, {findings} findings; seed {asked.seed}."
    )
    sys.exit(findings > 0)


if __name__ == "__main__":
    main()
