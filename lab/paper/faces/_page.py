"""The pages on faces."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unmingle.report.pieces import figure, heading, page, paragraph, table
from unmingle.report.plots import WHOLE, Axis, Series, curves

from ._cells import METHODS


def table1_page(result: dict[str, Any]) -> str:
    """The table as a page, with a figure for each set.

    Parameters
    ----------
    result : dict
        From `table1`.
    """
    settings = result["settings"]
    parts = [
        "<h1>Table 1: trained encoders on faces</h1>",
        paragraph(
            "Mean cost on faces that were not trained on; less is better. f is the cost of (11), "
            "F adds lam_*/(2n) ||U||² and compares answers with different dictionaries.",
            "lead",
        ),
        paragraph(
            f"Rank penalty {settings['rank_penalty']}, outlier penalty {settings['outlier_penalty']}, at most "
            f"{settings['steps']} steps of {settings['batch']} faces, seed {settings['seed']}. "
            "Made by: python -m lab table1"
        ),
    ]
    for name, splits in result["sets"].items():
        for split, entry in splits.items():
            parts += _face_section(name, split, entry, settings["layers"])
    return page("Table 1: trained encoders on faces", *parts)


def _face_section(name: str, split: str, entry: dict[str, Any], layers: Sequence[int]) -> list[str]:
    cells, exact = entry["cells"], entry["exact"]
    lines = [Series(m, layers, [cells[m][str(depth)]["F"] for depth in layers], "marked") for m in METHODS]
    levels = {"exact, SVD dictionary": exact["svd"]["F"], "exact, dictionary of (4)": exact["(4)"]["F"]}
    x = Axis("layers", steps=WHOLE)
    how = {"random": "random split", "time": "later faces", "person": "other people"}[split]
    caption = (
        f"{entry['n_train']} faces to train on, {entry['n_test']} to test, {entry['n_features']} pixels, "
        f"{entry['n_components']} components."
    )
    return [
        heading(f"{name}, {how}"),
        figure(curves(lines, x=x, y=Axis("F"), levels=levels, long=True), caption),
        *(figure(_costs_table(cost, cells, exact, layers), f"Mean cost {cost}.") for cost in "fF"),
    ]


def _costs_table(cost: str, cells: dict[str, Any], exact: dict[str, Any], layers: Sequence[int]) -> str:
    rows = [[str(depth), *(f"{cells[method][str(depth)][cost]:.4f}" for method in METHODS)] for depth in layers]
    rows += [
        [f"exact, {name}", f"{exact[which][cost]:.4f}", *[""] * (len(METHODS) - 1)]
        for which, name in (("svd", "SVD dictionary"), ("(4)", "dictionary of (4)"))
    ]
    return table(["layers", *METHODS], rows, chosen=-1)


def online_page(result: dict[str, Any]) -> str:
    """The curves as a page.

    Parameters
    ----------
    result : dict
        From `online_faces`.
    """
    settings, first = result["settings"], result["first"]
    window = settings["window"]
    lines = []
    for name, values in result["F"].items():
        smooth = np.convolve(values, np.full(window, 1 / window), "valid")
        lines.append(Series(name, range(first + window, first + window + len(smooth)), smooth.tolist()))
    x, y = Axis("faces seen", steps=WHOLE), Axis(f"F, mean of the last {window}")
    means = result["mean_F_settled"]
    rows = [[name, f"{value:.4f}", f"{100 * (value / means['exact, first dictionary'] - 1):+.1f} %"]
            for name, value in means.items()]  # fmt: skip
    return page(
        "Online learning on faces",
        "<h1>Online learning on faces</h1>",
        paragraph(
            f"{settings['set']} faces in the order of time, each encoded before anything is learnt from it, by "
            f"encoders of {settings['layers']} layers. All start from the first {window} faces.",
            "lead",
        ),
        figure(curves(lines, x=x, y=y, long=True), "Cost F = f + lam_*/(2w) ||U||², less is better."),
        paragraph("Made by: python -m lab online"),
        heading(f"Mean after the first {settings['settled']} faces"),
        table(["method", "F", "against exact"], rows, chosen=list(means).index("online")),
    )
