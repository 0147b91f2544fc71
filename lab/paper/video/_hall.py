"""Figure of the paper on video: exact separation, and encoders of five layers, on "Hall of a business building"."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmingle.core.decomposition.decompose_matrix import decompose, pursue
from unmingle.core.decomposition.result import Decomposition
from unmingle.core.encoder.answers import exact_answer
from unmingle.core.encoder.encoder import Encoder

from ._data import Advance

Array = NDArray[np.floating[Any]]
Floats = NDArray[np.float32]

RANK_PENALTY, OUTLIER_PENALTY = 0.1, 1e-3
COMPONENTS, LAYERS = 5, 5
N_TRAIN, N_TEST = 60, 40
SHOWN = (62, 72, 82, 92)
"""Frames of the figure."""
STEPS = 1000
BATCH = N_TRAIN

TRAINED: dict[str, dict[str, Any]] = {
    "trained, unsupervised": {"loss": "unsupervised"},
    "trained, imitation": {"loss": "imitation"},
    "trained, unsupervised, untied": {"loss": "unsupervised", "tied": False},
    "trained, imitation, untied": {"loss": "imitation", "tied": False},
}
IN_FIGURE = "trained, imitation"
"""As in the paper: trained to give the answers of the exact algorithm."""


class HallParts(NamedTuple):
    """Frames taken apart."""

    background: Floats
    """(n, height, width)."""
    outliers: Floats
    """(n, height, width)."""


class Hall(NamedTuple):
    """What was found."""

    frames: Floats
    """(n, height, width): the test frames that are shown."""
    parts: dict[str, HallParts]
    """By method, of the same frames."""
    figures: dict[str, Any]


def half_size(frames: NDArray[np.uint8]) -> Floats:
    """Means of 2 x 2 pixels, in [0, 1]."""
    n, height, width = frames.shape
    cut = frames[:, : height // 2 * 2, : width // 2 * 2]
    return (cut.reshape(n, height // 2, 2, width // 2, 2).mean(axis=(2, 4)) / 255.0).astype(np.float32)


def errors(outliers: Array, exact: Array) -> Array:
    """||o - o*|| / ||o*|| of each sample."""
    return np.linalg.norm(outliers - exact, axis=1) / np.linalg.norm(exact, axis=1)


def follow(encoder: Encoder, frames: Floats, codes: Floats | None = None) -> tuple[Floats, Floats]:
    """Codes and outliers of frames one after the other, each started from the codes of the one before.

    Parameters
    ----------
    encoder : Encoder
        Trained or not.
    frames : array of shape (n, m)
        In the order of time.
    codes : array of shape (1, q), optional
        Where the first frame starts from.
    """
    answers = []
    for frame in frames:
        answers.append(encoder.encode(frame[None], init=codes))
        codes = answers[-1][0]
    return np.concatenate([codes for codes, _ in answers]), np.concatenate([outliers for _, outliers in answers])


def learn_dictionary(frames: Floats) -> Floats:
    """U' of (4) for some frames, in rows."""
    part = decompose(
        frames.astype(np.float64), n_components=COMPONENTS, rank_penalty=RANK_PENALTY, outlier_penalty=OUTLIER_PENALTY,
        max_iter=1000, random_state=0,
    )  # fmt: skip
    return part.components.astype(np.float32)


def pursuit(frames: Floats) -> Decomposition:
    """(1) for all frames at once, in the balance of the penalties: lam / lam_*."""
    return pursue(
        frames.astype(np.float64), outlier_penalty=OUTLIER_PENALTY / RANK_PENALTY, max_iter=1000,
        random_state=0,
    )  # fmt: skip


def hall(film: NDArray[np.uint8], *, max_steps: int = STEPS, seed: int = 0, advance: Advance | None = None) -> Hall:
    """Take the test frames apart by principal component pursuit, exactly, and by encoders.

    Parameters
    ----------
    film : array of shape (n, height, width)
        Bytes; at least 100 frames.
    max_steps : int
        Training steps of each encoder.
    seed : int
        Of training.
    advance : callable, optional
        Called with the number of steps done since the last call.
    """
    frames = half_size(film)[-N_TRAIN - N_TEST :]
    X = frames.reshape(len(frames), -1)
    train, test = X[:N_TRAIN], X[N_TRAIN:]
    untrained = Encoder.from_components(
        learn_dictionary(train), rank_penalty=RANK_PENALTY, outlier_penalty=OUTLIER_PENALTY, n_layers=LAYERS
    )
    exact = exact_answer(untrained, test)
    answers = _untrained_answers(untrained, train, test)
    for name, how in TRAINED.items():
        answers[name] = train_layers(untrained, train, how, max_steps, seed, advance).encode(test)
    rows = {name: _figures(untrained, test, answer, exact) for name, answer in answers.items()}
    shown = [frame - N_TRAIN for frame in SHOWN]
    batch = pursuit(X)
    parts = {
        "ALM": _pictures(batch.low_rank[N_TRAIN:], batch.outliers[N_TRAIN:], shown, frames),
        "Algorithm 1": _pictures(exact[0] @ untrained.components, exact[1], shown, frames),
        "five layers": _pictures(answers[IN_FIGURE][0] @ untrained.components, answers[IN_FIGURE][1], shown, frames),
    }
    figures = {
        "settings": {"rank_penalty": RANK_PENALTY, "outlier_penalty": OUTLIER_PENALTY, "components": COMPONENTS,
                     "layers": LAYERS, "n_train": N_TRAIN, "n_test": N_TEST, "steps": max_steps, "seed": seed,
                     "height": frames.shape[1], "width": frames.shape[2], "in_figure": IN_FIGURE,
                     "shown": list(SHOWN)},
        "exact": {"mean_f": float(untrained.cost(test, *exact).mean()),
                  "largest_gap": float(untrained.gap(test, *exact).max()),
                  "share_not_zero": float(np.mean(exact[1] != 0))},
        "pursuit": {"outlier_penalty": batch.outlier_penalty, "rank": batch.rank, "gap": batch.gap,
                    "iterations": batch.n_iter},
        "errors": rows,
    }  # fmt: skip
    return Hall(frames[list(SHOWN)], parts, figures)


def _untrained_answers(encoder: Encoder, train: Floats, test: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Cold, warm in the stream of all frames, and warm from a training frame that was encoded cold."""
    streamed = follow(encoder, train)[0][-1:]
    return {
        "untrained, cold": encoder.encode(test),
        "untrained, warm": follow(encoder, test, streamed),
        "untrained, warm from one cold frame": follow(encoder, test, encoder.encode(train[-1:])[0]),
    }


def train_layers(
    untrained: Encoder, train: Floats, how: dict[str, Any], max_steps: int, seed: int, advance: Advance | None = None
) -> Encoder:
    """Train the layers of Algorithm 1 on some frames, in one of the ways of `TRAINED`."""
    from unmingle import learn

    start = Encoder.from_components(
        untrained.components, rank_penalty=RANK_PENALTY, outlier_penalty=OUTLIER_PENALTY, n_layers=LAYERS,
        tied=how.get("tied", True),
    )  # fmt: skip
    done = 0

    def tell(progress: Any) -> None:
        nonlocal done
        if advance is not None:
            advance(progress.done - done)
        done = progress.done

    training = learn.train(
        start, train, loss=how["loss"], max_steps=max_steps, batch_size=BATCH, random_state=seed, callback=tell
    )
    if advance is not None:
        advance(max_steps - done)
    return training.encoder


def _figures(
    problem: Encoder, test: Floats, answer: tuple[Floats, Floats], exact: tuple[Floats, Floats]
) -> dict[str, Any]:
    error = errors(answer[1], exact[1])
    return {
        "mean": float(error.mean()),
        "largest": float(error.max()),
        "mean_f": float(problem.cost(test, *answer).mean()),
        "frames": [float(value) for value in error],
    }


def _pictures(background: Array, outliers: Array, shown: Sequence[int], frames: Floats) -> HallParts:
    size = (len(shown), *frames.shape[1:])
    return HallParts(*(part[list(shown)].reshape(size).astype(np.float32) for part in (background, outliers)))
