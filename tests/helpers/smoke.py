"""A bit of everything that users do, for an installation without test packages; each line says what works."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import dask.array as da
import numpy as np
import onnxruntime
import pandas as pd
import zarr

import unmingle
from unmingle.apps import video
from unmingle.apps.tables import read_table, write_table
from unmingle.media import StemWriter, open_frames, open_writer, read_sound
from unmingle.metrics import si_sdr
from unmingle.synth import low_rank_plus_sparse, song, surveillance_scene

MADE = low_rank_plus_sparse(600, 30, 2, noise=0.05, random_state=0)


def finds_the_low_rank_part(found):
    return np.linalg.norm(found - MADE.low_rank) < 0.1 * np.linalg.norm(MADE.low_rank)


def models():
    assert finds_the_low_rank_part(unmingle.decompose(MADE.X).low_rank)
    model = unmingle.RobustPCA(2).fit(MADE.X)
    model.save("model.safetensors")
    assert np.array_equal(unmingle.load("model.safetensors").transform(MADE.X), model.transform(MADE.X))


def streams():
    model = unmingle.OnlineRobustPCA(2)
    for block in np.array_split(MADE.X, 6):
        model.partial_fit(block)
    assert finds_the_low_rank_part(model.decompose(MADE.X).low_rank)


def encoders():
    model = unmingle.LearnedRobustPCA(2, n_layers=3, training=unmingle.learn.Training(max_steps=60)).fit(MADE.X)
    assert finds_the_low_rank_part(model.decompose(MADE.X).low_rank)
    unmingle.export.to_onnx(model.encoder_, "encoder.onnx")
    session = onnxruntime.InferenceSession("encoder.onnx")
    codes = session.run(["codes"], {"samples": MADE.X})[0]
    assert np.allclose(codes, model.encoder_.encode(MADE.X)[0])


def clusters():
    zarr.save_array("X.zarr", MADE.X)
    model = unmingle.distributed.fit(unmingle.RobustPCA(2), da.from_zarr("X.zarr").rechunk((100, 30)))
    assert finds_the_low_rank_part(model.decompose(MADE.X).low_rank)


def tables():
    frame = pd.DataFrame(MADE.X).add_prefix("sensor ")
    frame.to_csv("x.csv", index=False, sep=";", decimal=",")
    frame.to_excel("x.xlsx", index=False)
    frame.to_parquet("x.parquet")
    for name in ("x.csv", "x.xlsx", "x.parquet"):
        table = read_table(name)
        assert np.allclose(table.values, MADE.X)
        write_table(table, Path(f"again.{name}"), table.values, changed=np.abs(MADE.X) > 1)
        assert np.allclose(read_table(f"again.{name}").values, MADE.X)


def films():
    scene = surveillance_scene(60, 48, 64, random_state=0)
    with open_writer("street.mp4") as writer:
        for frame in scene.frames:
            writer.write(np.rint(255 * frame).astype(np.uint8))
    with open_frames("street.mp4") as frames:
        found = [one.mask for one in video.separated_frames(frames)]
    assert np.mean(np.array(found)[20:] == scene.masks[20:]) > 0.95


def sounds():
    made = song(5.0, random_state=0)
    for suffix in (".wav", ".flac", ".mp3", ".ogg"):
        paths = {name: f"song.{name}{suffix}" for name in ("voice", "music")}
        with StemWriter(paths, made.rate, 1) as writer:
            writer.write({"voice": made.voice, "music": made.music})
        voice, rate = read_sound(paths["voice"])
        assert rate == made.rate
        assert voice.shape == (made.voice.size, 1)
        assert si_sdr(made.voice, voice[:, 0]) > 10


def commands():
    command = Path(sys.executable).with_name("unmingle")
    for arguments in (["demo", "--frames", "20"], ["video", "street.mp4", "--mask", "mask"]):
        subprocess.run([command, *arguments, "--quiet"], check=True)
    told = subprocess.run([command, "decompose", "--help"], check=True, capture_output=True, text=True)
    assert "Clean a table" in told.stdout, told.stdout
    failed = subprocess.run([command, "decompose", "nowhere.csv"], check=False, capture_output=True, text=True)
    assert failed.stderr == "Error: nowhere.csv does not exist.\n", failed.stderr


if __name__ == "__main__":
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        for part in (models, streams, encoders, clusters, tables, films, sounds, commands):
            part()
            print(f"{part.__name__} work")
        os.chdir("/")
