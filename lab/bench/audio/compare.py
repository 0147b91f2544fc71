"""Comparison "audio": what separating a song costs, as a share of its length."""

import os
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmingle import Encoder
from unmingle.apps import audio
from unmingle.apps.audio.exact import ExactProximal, ExactPursuit
from unmingle.apps.audio.networks import Encoded, load_shipped
from unmingle.apps.audio.nonnegative import Adaptive, RepeatedSpectra
from unmingle.apps.audio.settings import SHIPPED
from unmingle.synth import song

from ..shared.progress import say

RATE, HOP, SECONDS, QUICK_SECONDS = 16000, 256, 180.0, 8.0
FOLDER = Path("audio", "mir1k", "train")


def run(quick: bool) -> dict[str, Any]:
    """CPU seconds for each second of sound, on one thread."""
    sound, name = _sound(QUICK_SECONDS if quick else SECONDS)
    seconds = len(sound) / RATE
    warm = sound[: 4 * RATE]
    found: dict[str, Any] = {"seconds": seconds, "sound": name, "rows": {}}
    for label, make in _methods().items():
        audio.split(warm, RATE, method=make())
        found["rows"][label] = _measured(label, make, sound, seconds)
    return found


def _methods() -> dict[str, Any]:
    return {
        **{f"{name}, a network of unmingle": lambda name=name: load_shipped(name) for name in SHIPPED},
        "encoder, 20 layers, 25 components": lambda: Encoded(_encoder()),
        "adapt": Adaptive,
        "nmf": RepeatedSpectra,
        "pcp to 1e-3": ExactPursuit,
        "proximal to 1e-3": ExactProximal,
    }


def _measured(label: str, make: Any, sound: NDArray[np.float32], seconds: float) -> dict[str, Any]:
    begin = process_time()
    audio.split(sound, RATE, method=make())
    batched = (process_time() - begin) / seconds
    row: dict[str, Any] = {"batched": batched}
    if make().streams:
        times = _hops(audio.Stream(RATE, method=make()), sound)
        row |= {"stream": float(times.sum()) / seconds, "p99": float(np.percentile(times, 99)) * RATE / HOP}
    say(f"  {label}: {', '.join(f'{key} {value:.4f}' for key, value in row.items())}")
    return row


def _hops(stream: audio.Stream, sound: NDArray[np.float32]) -> NDArray[np.float64]:
    """CPU seconds of each hop."""
    stream.push(sound[: 10 * HOP])
    stream.reset()
    times = np.empty(len(sound) // HOP)
    for i in range(len(times)):
        begin = process_time()
        stream.push(sound[i * HOP : (i + 1) * HOP])
        times[i] = process_time() - begin
    return times


def _encoder() -> Encoder:
    components = 0.2 * np.random.default_rng(0).random((25, 513), dtype=np.float32)
    return Encoder.from_components(
        components, rank_penalty=0.1, outlier_penalty=0.3, n_layers=20,
        nonnegative_codes=True, nonnegative_outliers=True,
    )  # fmt: skip


def _sound(seconds: float) -> tuple[NDArray[np.float32], str]:
    """Training clips of MIR-1K one after the other, or a made song where they are not."""
    folder = Path(os.environ.get("UNMINGLE_DATA", "")) / FOLDER
    clips = sorted(folder.glob("*.flac")) if os.environ.get("UNMINGLE_DATA") else []
    if not clips:
        return song(seconds, RATE, random_state=0).mixture, "a made song"
    from unmingle.media import read_sound

    parts: list[NDArray[np.float32]] = []
    for clip in clips:
        parts.append(read_sound(clip).samples.sum(axis=1))
        if sum(map(len, parts)) >= seconds * RATE:
            break
    return np.concatenate(parts)[: round(seconds * RATE)], "training clips of MIR-1K, one after the other"
