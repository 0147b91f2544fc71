"""Plots with matplotlib: every function draws into Axes and returns them."""

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["curves", "svg"]

_INK = "#808890"
_COLOURS = ("#c2541b", "#2f6f9f", "#6b8e23", "#8a5fa8", "#b8860b", "#4a4f57")


def curves(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    levels: Mapping[str, float] | None = None,
    x_label: str = "",
    y_label: str = "",
    title: str = "",
    markers: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Lines over a common axis, and horizontal levels to compare them with.

    Parameters
    ----------
    lines : mapping of str to (x, y)
        Points of each line, by its name.
    levels : mapping of str to float, optional
        Heights of dashed lines, by their names.
    x_label, y_label, title : str
        What to write.
    markers : bool
        Whether to mark the points.
    ax : Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = curves({"cost": ([1, 2, 5], [3.0, 2.0, 1.5])}, levels={"least": 1.0}, x_label="layers")
    >>> [line.get_label() for line in ax.get_lines()]
    ['cost', 'least']
    """
    if ax is None:
        ax = Figure(figsize=(8.4, 3.6), layout="constrained").add_subplot()
    for (name, (x, y)), colour in zip(lines.items(), _COLOURS * len(lines), strict=False):
        ax.plot(x, y, color=colour, label=name, marker="o" if markers else None, markersize=4, linewidth=1.6)
    for (name, height), style in zip((levels or {}).items(), ("--", ":", "-.") * 9, strict=False):
        ax.axhline(height, color=_INK, linestyle=style, linewidth=1.2, label=name)
    ax.set(xlabel=x_label, ylabel=y_label, title=title)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(_INK)
    ax.tick_params(colors=_INK)
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
        text.set_color(_INK)
    ax.legend(frameon=False, labelcolor=_INK, fontsize=9, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return ax


def svg(ax: Axes) -> str:
    """The figure of some Axes as an SVG element, without a background, to stand in a page.

    Parameters
    ----------
    ax : Axes
        Any of the figure.
    """
    buffer = StringIO()
    with mpl.rc_context({"svg.hashsalt": "unmingle", "svg.fonttype": "none"}):
        figure: Any = ax.get_figure()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
