"""Jobs of net.py: the commands, from files to files."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import numpy as np
from helpers.net_jobs import bytes_of, job, temporary_folder
from helpers.net_matrices import made
from helpers.net_media import coloured_film

import unmingle
from unmingle import synth


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


@job("typer", "rich", "pandas", "pyarrow", "openpyxl")
def tables_of_other_formats_cleaned_by_the_command():
    import pandas as pd

    frame = pd.DataFrame(made(90, 6, missing=0.03) + 20, columns=list("abcdef")).round(3)
    frame["count"], frame["site"] = np.arange(90) % 5, ["north", "south", "west"] * 30
    found = {}
    with temporary_folder() as folder:
        paths = [Path(folder) / f"table.{suffix}" for suffix in ("parquet", "xlsx", "tsv")]
        frame.to_parquet(paths[0])
        frame.to_excel(paths[1], index=False)
        frame.to_csv(paths[2], index=False, sep="\t")
        for path in paths:
            out = Path(folder) / path.suffix[1:]
            said = json.loads(command("decompose", path, "--out", out, "--components", 3, "--json"))
            found[f"{out.name}_listed"] = [[cell["value"], cell["expected"]] for cell in said["strongest_outliers"]]
        read = {".parquet": pd.read_parquet, ".xlsx": pd.read_excel, ".tsv": lambda path: pd.read_csv(path, sep="\t")}
        for path in (path for out in ("parquet", "xlsx", "tsv") for path in (Path(folder) / out).glob("*.cleaned.*")):
            found[path.suffix[1:]] = read[path.suffix](path).drop(columns="site").to_numpy(float)
    return found


@job("typer", "rich", "pandas", "torch")
def encoder_trained_by_the_command():
    with temporary_folder() as folder:
        np.save(Path(folder) / "rows.npy", made(200, 20))
        model = Path(folder) / "model.safetensors"
        command("train", Path(folder) / "rows.npy", "--out", model, "--max-steps", 30, "--layers", 2, "--quiet")
        encoder = unmingle.load(model).encoder_
    return {"components": encoder.components} | encoder.layers._asdict()


@job("typer", "rich", "PIL")
def faces_aligned_by_the_command():
    from PIL import Image

    from unmingle import media

    with temporary_folder() as folder:
        faces, out = Path(folder) / "faces", Path(folder) / "out"
        faces.mkdir()
        for number, image in enumerate(np.rint(255 * synth.displaced_faces(12, random_state=0).images)):
            Image.fromarray(image.astype(np.uint8)).save(faces / f"face{number:02}.png")
        command("align", faces, "--out", out, "--height", 48, "--width", 40, "--quiet")
        pictures = {
            part: np.stack([media.read_image(path) for path in sorted((out / part).iterdir())])
            for part in ("aligned", "low_rank", "outliers")
        }
        return pictures | {"table_bytes": bytes_of(out / "transformations.csv")}
