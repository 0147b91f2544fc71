"""Write one file of every kind as format 1 had it, and what the models in them answered; see README.md."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from unmingle import Encoder, LearnedRobustPCA, OnlineRobustPCA, RobustPCA, store
from unmingle.apps.video import Stream
from unmingle.learn import train

M, Q = 6, 2


def rows(rng, n):
    """Rows of low rank with noise, outliers and holes."""
    background = rng.standard_normal((n, Q)) @ np.random.default_rng(1).standard_normal((Q, M))
    foreground = np.where(rng.random((n, M)) < 0.05, 9.0, 0.0)
    X = background + foreground + 0.05 * rng.standard_normal((n, M))
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, np.stack([background, foreground], axis=1)


def film(rng, n):
    """A still picture with noise, through which a bright block moves."""
    frames = np.clip(rng.integers(50, 200, (12, 16)) + rng.normal(0, 3, (n, 12, 16)), 0, 255).astype(np.uint8)
    for number in range(n):
        frames[number, 4:7, number % 12 : number % 12 + 4] = 255
    return frames


def main(folder):
    """Write the files to a folder."""
    assert store.FORMAT_VERSION == 1
    rng = np.random.default_rng(0)
    X, y = rows(rng, 40)
    frames = film(rng, 40)
    frame = pd.DataFrame(X, columns=[f"sensor {k}" for k in range(M)])
    encoder = Encoder.from_components(
        np.random.default_rng(1).standard_normal((Q, M)), rank_penalty=0.3, outlier_penalty=0.2, n_layers=3
    )
    models = {
        "RobustPCA": RobustPCA(Q, outlier_penalty=np.full(M, 0.2), random_state=0).fit(frame),
        "OnlineRobustPCA": OnlineRobustPCA(Q, start_size=20, random_state=0).partial_fit(X[:30]),
        "LearnedRobustPCA": LearnedRobustPCA(
            Q, n_layers=2, loss="source", max_steps=20, window=16, window_step=8, random_state=0
        ).partial_fit(X[:30], y[:30]),
        "Encoder": encoder,
    }
    kept = {"X": X, "y": y, "frames": frames}
    for name, model in models.items():
        model.save(folder / f"{name}.safetensors")
        given = frame if name == "RobustPCA" else X
        kept[name] = model.encode(X)[0] if name == "Encoder" else model.transform(given)
    for name in ("OnlineRobustPCA", "LearnedRobustPCA"):
        kept[f"{name}, gone on"] = models[name].partial_fit(X[30:], y[30:]).components_
    network = Encoder.from_components(
        np.full((1, frames[0].size), 0.5, np.float32), rank_penalty=0.1, outlier_penalty=0.1, n_layers=2
    )
    for name, count, options in (
        ("VideoStream", 30, {"memory": 100.0, "start": 25, "region": np.arange(16) < np.full((12, 1), 14)}),
        ("VideoStream starting", 5, {"start": 25, "encoder": network}),
    ):
        stream = Stream(**options)
        for pixels in frames[:count]:
            stream.push(pixels)
        stream.save(folder / f"{name}.safetensors")
        kept[name] = np.stack([stream.push(pixels).mask for pixels in frames[count:]])
    whole = np.nan_to_num(X)
    settings = {"steps": 20, "batch_size": 16, "random_state": 0}
    train(encoder, whole, callback=lambda look: look.step == 5, checkpoint=folder / "Training.safetensors", **settings)
    kept["Training"] = np.array([look.cost for look in train(encoder, whole, **settings).history])
    np.savez_compressed(folder / "answers.npz", **kept)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
