"""Put trained networks into the package, each with its card: what it learnt from, how well it does, what it costs.

python -m lab model-cards --networks FOLDER --table paper-results/audio.json

FOLDER holds voice.safetensors and phone.safetensors from `unmingle train audio`. Figures are taken from the table of
`python -m lab audio` and from lab/results/latest.json (`python -m lab bench audio`). Where the table is not there yet,
networks are put in without scores, so that it can be made.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

import unmingle
from unmingle.apps.audio.networks import path_of_shipped
from unmingle.apps.audio.settings import SHIPPED

MASK = "Wiener"
"""Networks need no high-pass: as `unmingle audio` uses them."""
DATA = (
    "MIR-1K: 175 clips, 24 minutes, of Chinese pop songs sung by two amateurs, abjones and amy; 90 minutes of "
    "accompaniment by examples/make_accompaniment.py (--minutes 90 --seed 0); 13.5 minutes of guitar music by Sectoid, "
    "from the Debian package fretsonfire-songs-sectoid, song.ogg and guitar.ogg added up"
)
LICENCE = (
    "MIR-1K states no licence; its authors publish it for research. Whether a model trained on it may be sold, nobody "
    "has said: ask them, or train a network on songs of your own. FluidR3, the sound font behind the made "
    "accompaniment, and Sectoid's songs are under the MIT licence. The numbers of this network are under BSD-3, as "
    "unmingle is, as far as they are ours to give."
)


def card_of(name: str, before: dict[str, Any], table: Path | None, costs: Path) -> dict[str, Any]:
    """Everything that a stranger wants to know of a network."""
    kept = {key: value for key, value in before.items() if key not in ("loss", "loss_name", "data", "licence")}
    command = f"unmingle train audio --data MIR-1K/train --music made --music sectoid --network {name} --half"
    row = next(row for label, row in json.loads(costs.read_text())["audio"]["rows"].items() if label.startswith(name))
    return {
        "network": name,
        "what": "tells a singing voice from its accompaniment, one frame of 16 ms after the other",
        "data": DATA,
        "licence": LICENCE,
        **{key: value for key, value in kept.items() if key not in ("network", "scores", "cost")},
        "command": f"{command} --out {name}.safetensors",
        "latency": "64 ms; 32 ms with low_latency",
        "scores": scores_of(name, table),
        "cost": {
            "batched": f"{row['batched']:.4f} CPU seconds for each second of sound",
            "stream": f"{row['stream']:.4f}, in blocks of 16 ms",
            "command": "python -m lab bench audio",
        },
    }


def scores_of(name: str, table: Path | None) -> dict[str, Any]:
    """Decibels that voices of the test clips gain, and their spread over the singers."""
    if table is None:
        return {}
    voice = json.loads(table.read_text())["rows"][name]["masks"][MASK]["voice"]
    singers = {singer: found["nsdr"] for singer, found in voice["singers"].items()}
    values = np.array(list(singers.values()))
    return {
        "what": "GNSDR of the voice, dB, 54 clips of nine other singers of MIR-1K mixed at 0 dB, BSS-EVAL 2.1 gain",
        "mean": round(voice["overall"]["mean"]["nsdr"], 2),
        "deviation_over_singers": round(float(values.std(ddof=1)), 2),
        "singers": {singer: round(value, 2) for singer, value in singers.items()},
        "command": "python -m lab audio",
    }


def run(*, networks: Path, table: Path | None) -> None:
    """Give both networks in a folder their cards, and store them in the package."""
    costs = Path(__file__).parent / "results" / "latest.json"
    for name in SHIPPED:
        model = unmingle.load(networks / f"{name}.safetensors")
        model.card_ = card_of(name, model.card_, table, costs)
        model.save(path_of_shipped(name), half=True)
        print(f"{path_of_shipped(name)}: {path_of_shipped(name).stat().st_size:,} bytes")
