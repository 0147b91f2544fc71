"""Comparison "metrics": BSS-EVAL of separated songs beside mir_eval."""

import warnings
from importlib.util import find_spec
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import istft, stft

from unmingle.metrics import bss_eval
from unmingle.synth import Song, song

from ..shared.progress import say

SECONDS, QUICK_SECONDS, ROUNDS, TAPS, METHODS = 10.0, 4.0, 7, 512, 5


def run(quick: bool) -> dict[str, Any]:
    if not find_spec("mir_eval"):
        return {"skipped": "mir_eval is not installed"}
    seconds = QUICK_SECONDS if quick else SECONDS
    turns = [_turn(song(seconds, random_state=seed)) for seed in range(ROUNDS + 1)][1:]  # the first one imports
    found = {key: median(turn[key] for turn in turns) for key in ("filter", "gain", "several", "mir_eval")}
    ratio = median(turn["mir_eval"] / turn["filter"] for turn in turns)
    several = median(METHODS * turn["mir_eval"] / turn["several"] for turn in turns)
    difference = max(turn["difference"] for turn in turns)
    say(f"  {ratio:.1f} times faster than mir_eval, {difference:.1e} dB away")
    return found | {
        "seconds": seconds,
        "rounds": len(turns),
        "ratio": ratio,
        "several_ratio": several,
        "difference": difference,
    }


def _turn(made: Song) -> dict[str, float]:
    """CPU seconds of each, and the largest difference in decibels."""
    import mir_eval

    truth = np.stack([made.voice, made.music]).astype(np.float64)
    methods = np.stack([_masked(made, power) for power in np.linspace(0.3, 2.0, METHODS)])
    times, scores = {}, {}
    calls = {
        "filter": lambda: bss_eval(truth, methods[0], taps=TAPS),
        "gain": lambda: bss_eval(truth, methods[0]),
        "several": lambda: bss_eval(truth, methods, taps=TAPS),
        "mir_eval": lambda: mir_eval.separation.bss_eval_sources(truth, methods[0], compute_permutation=False),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, call in calls.items():
            begin = process_time()
            scores[name] = call()
            times[name] = process_time() - begin
    difference = np.abs(np.array(scores["filter"]) - np.array(scores["mir_eval"][:3])).max()
    return times | {"difference": float(difference)}


def _masked(made: Song, power: float) -> NDArray[np.float64]:
    """Voice and music by an ideal ratio mask of this power of the magnitudes."""
    spectra = [stft(part, made.rate, nperseg=1024, noverlap=768)[2] for part in (made.voice, made.music)]
    voice, music = (np.abs(part) ** power + 1e-9 for part in spectra)
    mask, mixture = voice / (voice + music), spectra[0] + spectra[1]
    parts = [istft(mixture * share, made.rate, nperseg=1024, noverlap=768)[1] for share in (mask, 1 - mask)]
    return np.stack(parts)[:, : made.voice.size]
