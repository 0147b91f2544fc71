"""The page of the experiment on networks for voices."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from unmingle.report.pieces import figure, heading, page, paragraph, table

from ..results import Table
from ..voice_networks import ABLATIONS, OURS, RIVALS


def voices_page(result: Mapping[str, Any]) -> str:
    """Both tables as a page.

    Parameters
    ----------
    result : dict
        From `reproduce_voices`.
    """
    settings = result["settings"]
    return page(
        "Networks for voices",
        "<h1>Networks for voices</h1>",
        paragraph(
            f"Small networks learn from {settings['clips']} clips of two singers, less those that judge them. All have "
            f"{settings['steps']} steps of 16 songs of two seconds, which are made anew for each step, the same ones "
            "for all networks of a seed.",
            "lead",
        ),
        paragraph(f"Made by: python -m lab voices --max-steps {settings['steps']}"),
        heading("Against a GRU"),
        figure(table(*rival_rows(result), chosen=-1), _MEANING),
        heading("Part by part"),
        figure(table(*ablation_rows(result, OURS), chosen=-1), _ABLATION),
    )


_MEANING = (
    "NSDR of the voice in dB, BSS-EVAL 2.1 with a gain, mixtures at 0 dB, mean over clips by length: mean over three "
    "seeds, ± their standard deviation. A seed decides which fifth of the songs is left out, the first numbers and the "
    "songs that are made. Known: twenty clips that it has learnt from."
)
_ABLATION = (
    "A fifth of the songs left out, three seeds. Change: against the first row with the same seed. Each network has "
    "about as many numbers as the first one."
)


def rival_rows(result: Mapping[str, Any]) -> Table:
    """Networks by what was left out."""
    left = list(result["networks"][OURS])
    head = ["network", "numbers", *(f"without {name}" if name != "songs" else "songs left out" for name in left)]
    rows = []
    for name in RIVALS:
        cells = result["networks"][name]
        rows.append([name, f"{next(iter(cells['songs'].values()))['weights']:,}"])
        rows[-1] += [_told([cell["left_out"] for cell in cells[one].values()]) for one in left]
        rows[-1].append(_told([cell["known"] for cell in cells["songs"].values()]))
    differences = ["difference", ""]
    for one in left:
        ours, theirs = (result["networks"][name][one] for name in RIVALS)
        differences.append(_told([ours[seed]["left_out"] - theirs[seed]["left_out"] for seed in ours], sign="+"))
    return [*head, "known"], [*rows, [*differences, ""]]


def ablation_rows(result: Mapping[str, Any], first: str) -> Table:
    """Changes of single parts, on songs left out."""
    whole = result["networks"][first]["songs"]
    rows = []
    for name in (first, *ABLATIONS):
        cells = result["networks"][name]["songs"]
        found = [cell["left_out"] for cell in cells.values()]
        changes = [cell["left_out"] - whole[seed]["left_out"] for seed, cell in cells.items()]
        known = [cell["known"] for cell in cells.values()]
        rows.append([name, f"{next(iter(cells.values()))['weights']:,}", _told(found), _told(known)])
        rows[-1].append("" if name == first else _told(changes, sign="+"))
    return ["network", "numbers", "songs left out", "known", "change"], rows


def _told(values: list[float], sign: str = "") -> str:
    spread = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
    return f"{np.mean(values):{sign}.2f}{spread}"
