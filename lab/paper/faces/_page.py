"""The pages on faces."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unmingle import report

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
        report.paragraph(
            "Mean cost on faces that were not trained on; less is better. f is the cost of (11), "
            "F adds lam_*/(2n) ||U||² and compares answers with different dictionaries.",
            "lead",
        ),
        report.paragraph(
            f"Rank penalty {settings['rank_penalty']}, outlier penalty {settings['outlier_penalty']}, at most "
            f"{settings['steps']} steps of {settings['batch']} faces, seed {settings['seed']}. "
            "Made by: python -m lab table1"
        ),
    ]
    for name, splits in result["sets"].items():
        for split, entry in splits.items():
            parts += _face_section(name, split, entry, settings["layers"])
    return report.page("Table 1: trained encoders on faces", *parts)


def _face_section(name: str, split: str, entry: dict[str, Any], layers: Sequence[int]) -> list[str]:
    cells, exact = entry["cells"], entry["exact"]
    lines = [report.Series(m, layers, [cells[m][str(depth)]["F"] for depth in layers], "marked") for m in METHODS]
    levels = {"exact, SVD dictionary": exact["svd"]["F"], "exact, dictionary of (4)": exact["(4)"]["F"]}
    x = report.Axis("layers", steps=report.WHOLE)
    how = {"random": "random split", "time": "later faces", "person": "other people"}[split]
    caption = (
        f"{entry['n_train']} faces to train on, {entry['n_test']} to test, {entry['n_features']} pixels, "
        f"{entry['n_components']} components."
    )
    return [
        report.heading(f"{name}, {how}"),
        report.figure(report.curves(lines, x=x, y=report.Axis("F"), levels=levels, long=True), caption),
        *(report.figure(_costs_table(cost, cells, exact, layers), f"Mean cost {cost}.") for cost in "fF"),
    ]


def _costs_table(cost: str, cells: dict[str, Any], exact: dict[str, Any], layers: Sequence[int]) -> str:
    rows = [[str(depth), *(f"{cells[method][str(depth)][cost]:.4f}" for method in METHODS)] for depth in layers]
    rows += [
        [f"exact, {name}", f"{exact[which][cost]:.4f}", *[""] * (len(METHODS) - 1)]
        for which, name in (("svd", "SVD dictionary"), ("(4)", "dictionary of (4)"))
    ]
    return report.table(["layers", *METHODS], rows, chosen=-1)


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
        lines.append(report.Series(name, range(first + window, first + window + len(smooth)), smooth.tolist()))
    x, y = report.Axis("faces seen", steps=report.WHOLE), report.Axis(f"F, mean of the last {window}")
    means = result["mean_F_settled"]
    rows = [[name, f"{value:.4f}", f"{100 * (value / means['exact, first dictionary'] - 1):+.1f} %"]
            for name, value in means.items()]  # fmt: skip
    return report.page(
        "Online learning on faces",
        "<h1>Online learning on faces</h1>",
        report.paragraph(
            f"{settings['set']} faces in the order of time, each encoded before anything is learnt from it, by "
            f"encoders of {settings['layers']} layers. All start from the first {window} faces.",
            "lead",
        ),
        report.figure(report.curves(lines, x=x, y=y, long=True), "Cost F = f + lam_*/(2w) ||U||², less is better."),
        report.paragraph("Made by: python -m lab online"),
        report.heading(f"Mean after the first {settings['settled']} faces"),
        report.table(["method", "F", "against exact"], rows, chosen=list(means).index("online")),
    )
