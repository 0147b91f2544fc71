"""Comparison "tolerance": what a user sees of an answer that is solved to 1e-3, 1e-4 or 1e-6."""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmingle import Decomposition, decompose, pursue
from unmingle.apps.demo.judging import find_foreground
from unmingle.metrics import f_measure
from unmingle.synth import low_rank_plus_sparse, surveillance_scene

from ...data import DATA_VARIABLE
from ..shared.progress import say

Array = NDArray[np.float64]

TOLERANCES = (1e-3, 1e-4, 1e-6)
CLIPS = ("abjones_1_01", "abjones_3_02", "abjones_5_01", "amy_1_01", "amy_4_03", "amy_11_02")
"""Training clips of both singers, six songs."""
MAX_ITER = 600


def run(quick: bool) -> dict[str, Any]:
    rows = [*_planted(quick), *_demo(quick)]
    folder = os.environ.get(DATA_VARIABLE)
    if folder:
        rows += _voices(Path(folder), CLIPS[:1] if quick else CLIPS)
    return {"rows": rows, "tolerances": TOLERANCES, "with_songs": bool(folder)}


def _solved(X: Array, tol: float, problem: str) -> Decomposition:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        split = pursue if problem == "(1)" else decompose
        return split(X, tol=tol, max_iter=MAX_ITER, random_state=0)


def _row(what: str, problem: str, values: list[float], parts: list[Decomposition]) -> dict[str, Any]:
    return {
        "what": what,
        "problem": problem,
        "values": values,
        "ranks": [part.rank for part in parts],
        "iterations": [part.n_iter for part in parts],
    }


def _planted(quick: bool) -> Iterator[dict[str, Any]]:
    """Relative error of L: clean data by (1), noisy data by (2)."""
    size = 200 if quick else 500
    for problem, noise in (("(1)", 0.0), ("(2)", 0.05)):
        say(f"tolerance: planted, noise {noise}")
        made = low_rank_plus_sparse(size, size, 10, noise=noise, random_state=0)
        parts = [_solved(made.X, tol, problem) for tol in TOLERANCES]
        truth = np.linalg.norm(made.low_rank)
        errors = [float(np.linalg.norm(part.low_rank - made.low_rank) / truth) for part in parts]
        yield _row(f"error of L, planted, noise {noise:g}", problem, errors, parts)


def _demo(quick: bool) -> Iterator[dict[str, Any]]:
    """F of the masks of the demo."""
    say("tolerance: the demo")
    scene = surveillance_scene(60 if quick else 200, random_state=0)
    X = scene.frames.reshape(len(scene.frames), -1).astype(np.float64)
    parts = [_solved(X, tol, "(2)") for tol in TOLERANCES]
    masks = [find_foreground(X - part.low_rank).reshape(scene.masks.shape) for part in parts]
    yield _row("F of the demo", "(2)", [f_measure(mask, scene.masks).f for mask in masks], parts)


def _voices(folder: Path, clips: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """NSDR of the voice after a Wiener mask, in dB, mean over clips."""
    import soundfile

    for problem in ("(1)", "(2)"):
        found: list[list[float]] = [[] for _ in TOLERANCES]
        last: list[Decomposition] = []
        for clip in clips:
            say(f"tolerance: {clip}, {problem}")
            music, voice = soundfile.read(folder / "audio" / "mir1k" / "train" / f"{clip}.flac")[0].T
            spectrum = _spectrum(music + voice)
            last = [_solved(np.abs(spectrum), tol, problem) for tol in TOLERANCES]
            for values, part in zip(found, last, strict=True):
                values.append(_nsdr(_voice(spectrum, part, len(voice)), voice, music + voice))
        yield _row("NSDR of the voice, dB", problem, [fmean(values) for values in found], last)


def _spectrum(sound: Array) -> NDArray[np.complex128]:
    from scipy.signal import stft

    return stft(sound, nperseg=1024, noverlap=768)[2].T


def _voice(spectrum: NDArray[np.complex128], part: Decomposition, length: int) -> Array:
    """The mixture through the mask |O|^2 / (|L|^2 + |O|^2)."""
    from scipy.signal import istft

    voice, music = np.abs(part.outliers) ** 2, np.abs(part.low_rank) ** 2
    share = np.divide(voice, voice + music, out=np.zeros_like(voice), where=voice + music > 0)
    return istft((share * spectrum).T, nperseg=1024, noverlap=768)[1][:length]


def _nsdr(estimate: Array, voice: Array, mixture: Array) -> float:
    return _sdr(estimate, voice) - _sdr(mixture, voice)


def _sdr(estimate: Array, reference: Array) -> float:
    """Of what is a multiple of the reference over the rest, in dB: BSS-EVAL 2.1 with a gain."""
    image = (estimate @ reference) / (reference @ reference) * reference
    return float(10 * np.log10(np.sum(image**2) / np.sum((estimate - image) ** 2)))
