"""Every command and the one call in Python that does the same: the same files, the same figures."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sensor_tables import readings

import unmingle
from unmingle import apps
from unmingle.apps import alignment, audio, tables, video
from unmingle.cli._app import COMMANDS
from unmingle.media import SoundWriter
from unmingle.synth import displaced_faces, song, surveillance_scene


def make_table(name="may.csv"):
    readings().to_csv(name, index=False)


def make_model(model):
    make_table()
    make_table("april.csv")
    apps.fit("april.csv", apps.FitOutputs(out=model))


def make_images():
    faces = displaced_faces(12, random_state=0).images[:, ::2, ::2]
    unmingle.RobustPCA(3, random_state=0).fit(faces.reshape(12, -1)).save("faces.safetensors")
    Path("new").mkdir()
    for number in range(3):
        Image.fromarray(np.rint(255 * faces[number]).astype(np.uint8)).save(f"new/{number}.png")


def make_film():
    np.save("street.npy", np.uint8(255 * surveillance_scene(60, 48, 64, random_state=0).frames))


def make_song():
    with SoundWriter("song.wav", 8000, 1) as file:
        file.write(song(4.0, rate=8000, random_state=0).mixture.astype(np.float32))


def make_displaced():
    Path("faces").mkdir()
    for number, face in enumerate(displaced_faces(8, random_state=0).images):
        Image.fromarray(np.rint(255 * face).astype(np.uint8)).save(f"faces/{number}.png")


def printed_film(result):
    """What the command prints of a film; how long that took differs each time."""
    return {
        "complete": not result.errors,
        "card": result.summary(),
        "warnings": result.warnings,
        "events": result.event_list,
        "written": {name: str(path) for name, path in result.written.items()},
    }


@dataclass(frozen=True)
class Pair:
    """A command line, and the call that does the same; results of both go to the folder `out`."""

    command: list
    call: object
    make: object = make_table
    not_in_summary: tuple = field(default=())
    """What the command adds to the summary: the files that it was given."""
    printed: object = lambda result: result.summary()
    """What the command prints of the result."""


FILM = video.Outputs(mask="out/mask.npz", background="out/background.mp4", events="out/events.csv")
PAIRS = {
    "video": Pair(
        ["video", "street.npy", "--components", "3", *(f"--{name}={path}" for name, path in FILM.wanted().items())],
        lambda: video.separate("street.npy", FILM, video.Settings(components=3)),
        make_film,
        ("source",),
        printed_film,
    ),
    "audio": Pair(
        ["audio", "song.wav", "-o", "out", "--method", "nmf", "--format", "wav"],
        lambda: audio.separate("song.wav", audio.Outputs("out", format="wav"), audio.Settings("nmf")),
        make_song,
    ),
    "align": Pair(
        ["align", "faces", "-o", "out", "--components", "4", "--motion", "euclidean"],
        lambda: alignment.separate(
            "faces", alignment.Outputs("out"), alignment.Settings(motion="euclidean", n_components=4)
        ),
        make_displaced,
    ),
    "decompose": Pair(
        ["decompose", "may.csv", "-o", "out", "--report", "--parts"],
        lambda: tables.separate("may.csv", tables.Outputs("out", report=True, parts=True)),
        not_in_summary=("table",),
    ),
    "decompose, other settings": Pair(
        ["decompose", "may.csv", "-o", "out", "--components", "2", "--scale", "none", "--no-fill", "--aside", "f"],
        lambda: tables.separate(
            "may.csv",
            tables.Outputs("out"),
            tables.Settings(n_components=2, scale=None, fill=False, reading=tables.Reading(skip=["f"])),
        ),
        not_in_summary=("table",),
    ),
    "fit": Pair(
        ["fit", "may.csv", "-o", "out/model.safetensors"],
        lambda: apps.fit("may.csv", apps.FitOutputs(out="out/model.safetensors")),
        not_in_summary=("data", "model"),
    ),
    "apply": Pair(
        ["apply", "model.safetensors", "may.csv", "-o", "out", "--report", "--no-replace"],
        lambda: apps.apply(
            "model.safetensors", "may.csv", apps.ApplyOutputs("out", report=True), apps.ApplySettings(replace=False)
        ),
        lambda: make_model("model.safetensors"),
        ("model", "data"),
    ),
    "apply to images": Pair(
        ["apply", "faces.safetensors", "new", "-o", "out"],
        lambda: apps.apply("faces.safetensors", "new", apps.ApplyOutputs("out")),
        make_images,
        ("model", "data"),
    ),
    "info": Pair(
        ["info", "model.safetensors"],
        lambda: apps.describe("model.safetensors"),
        lambda: make_model("model.safetensors"),
        ("file",),
    ),
}
NOT_HERE = {"demo", "train", "export"}
"""Their calls, `run_demo`, `learn.train` and `export.to_onnx`, give no result of an app; other tests hold them."""
TIMES = ("seconds", "frames_per_second")


def contents(folder):
    return {str(path): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def emptied(folder):
    for path in sorted(Path(folder).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def test_every_command_has_its_call():
    assert {pair.command[0] for pair in PAIRS.values()} | NOT_HERE == set(COMMANDS)


@pytest.mark.parametrize("name", PAIRS)
def test_the_command_and_the_call_do_the_same(run, name):
    pair = PAIRS[name]
    pair.make()
    ended = run(*pair.command, "--json")
    assert ended.code == 0, ended.err
    printed = json.loads(ended.out)
    written = contents("out")
    emptied("out")
    result = pair.call()
    assert contents("out") == written
    summary = json.loads(json.dumps(pair.printed(result), default=str))
    summary = {key: value for key, value in summary.items() if key != "written" or "written" in printed}
    for figures in (printed.get("card", {}), summary.get("card", {})):
        for name in TIMES:
            figures.pop(name, None)
    assert {key: value for key, value in printed.items() if key not in pair.not_in_summary} == summary
    assert all(Path(path).exists() for path in getattr(result, "written", {}).values())
    shown = run(*pair.command)
    assert shown.code == 0
    told = {name: words for name, words in result.summary_text().items() if name not in ("time", "processing speed")}
    for words in told.values():
        assert words[:40] in shown.out


def test_a_frame_and_an_array_do_as_well(tmp_path):
    frame = readings()
    frame.to_csv(tmp_path / "x.csv", index=False)
    of_file = tables.separate(tmp_path / "x.csv")
    of_frame, of_array = tables.separate(frame, tables.Outputs(tmp_path)), tables.separate(frame.to_numpy())
    for result in (of_frame, of_array):
        assert np.array_equal(result.cleaned.values, of_file.cleaned.values)
    assert tables.read_table(of_frame.written["cleaned"]).columns == list(frame.columns)
    assert of_frame.frame.columns.tolist() == list(frame.columns)
    assert of_array.written == {}
    with pytest.raises(tables.TableError, match="The array has shape"):
        tables.separate(np.zeros((2, 3, 4)))
    with pytest.raises(ValueError, match="need a place to be written to"):
        tables.separate(frame, tables.Outputs(report=True))


def test_requests_are_refused_in_the_words_of_python(tmp_path):
    readings().to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ValueError, match=r"out \(cleaned\) .*x.csv is the same as the source"):
        tables.separate(tmp_path / "x.csv", tables.Outputs(tmp_path / "x.csv"))
    with pytest.raises(ValueError, match="checkpoint and forgetting are for arrays"):
        apps.fit(tmp_path / "x.csv", settings=apps.FitSettings(forgetting=0.9))
    with pytest.raises(ValueError, match="scheduler and workers exclude each other"):
        apps.fit(tmp_path / "x.csv", settings=apps.FitSettings(scheduler="tcp://x", workers=2))
    with pytest.raises(ValueError, match="n_components must be"):
        tables.Settings(n_components=0)
