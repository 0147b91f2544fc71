"""The page of the video experiment."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmingle.report import pieces
from unmingle.report.pictures import film_strip, image, picture_rows, png, titled_sheet
from unmingle.report.plots import WHOLE, Axis, Series, curves

from ._findings import Strip, VideoFindings
from ._hall import Hall
from ._rivals import MEDIAN, OURS, REFERENCE
from ._worst import WorstFrame, by_category, category_of

Array = NDArray[Any]

IN_STRIPS = (OURS, REFERENCE, "KNN" + MEDIAN, "GSOC" + MEDIAN)
IN_PLOT = (OURS, "unmingle, 10 % of the pixels", REFERENCE, "KNN" + MEDIAN, "GSOC" + MEDIAN)
AROUND = ((410, 560), (1050, 1130))
"""Frames of Lobby that are plotted."""


def video_page(findings: VideoFindings) -> str:
    """Figure, tables and plots as a page.

    Parameters
    ----------
    findings : VideoFindings
        From `reproduce_video`.
    """
    figures = findings.figures
    parts = [
        "<h1>Video</h1>",
        pieces.paragraph(
            "The figure of the paper on video, how near five layers come to the exact answer, masks compared with "
            "those of OpenCV, and lamps that are switched.",
            "lead",
        ),
        pieces.paragraph("Made by: python -m lab video"),
    ]
    parts += [pieces.paragraph(text) for text in _left_out(figures)]
    if findings.hall is not None:
        parts += _hall_section(findings.hall)
    parts += _mask_section(figures["masks"], findings.strips)
    parts += _worst_section(findings.worst)
    if figures["lobby"] is not None:
        parts += _lobby_section(figures["lobby"])
    return pieces.page("Video", *parts)


def hall_png(hall: Hall) -> bytes:
    """The figure of the paper as a PNG file.

    Parameters
    ----------
    hall : Hall
        From `reproduce_video`.
    """
    return png(titled_sheet(hall_columns(hall)))


def hall_columns(hall: Hall) -> dict[str, Sequence[Array]]:
    """The pictures of the figure by the names of their columns: for each method Us + o, Us, and o around grey."""
    columns: dict[str, Array] = {"frame": hall.frames}
    for name, (background, outliers) in hall.parts.items():
        columns[f"{name}: Us + o"] = background + outliers
        columns[f"{name}: Us"] = background
        columns[f"{name}: o"] = 0.5 + outliers
    return {name: list(np.clip(pictures, 0.0, 1.0)) for name, pictures in columns.items()}


def _left_out(figures: Mapping[str, Any]) -> list[str]:
    missing = f"Left out, since the data hold no {', '.join(figures['missing'])}." if figures["missing"] else ""
    return [text for text in (missing, figures["remark"]) if text]


def _hall_section(hall: Hall) -> list[str]:
    found, settings = hall.figures, hall.figures["settings"]
    start = settings["n_train"]
    frames = range(start, start + settings["n_test"])
    lines = [
        Series(name, frames, [100 * error for error in row["frames"]])
        for name, row in found["errors"].items()
        if "untied" not in name
    ]
    x, y = Axis("frame", steps=WHOLE), Axis("error of o, %")
    rows = [
        [name, f"{100 * row['mean']:.2f} %", f"{100 * row['largest']:.2f} %", f"{row['mean_f']:.4f}"]
        for name, row in found["errors"].items()
    ]
    rows.append(["exact", "", "", f"{found['exact']['mean_f']:.4f}"])
    return [
        pieces.heading("Hall of a business building"),
        pieces.figure(
            film_strip(hall_columns(hall), settings["shown"]),
            _hall_caption(found, settings),
        ),
        pieces.figure(
            pieces.table(["five layers", "error of o, mean", "largest", "mean f"], rows, chosen=1),
            f"||o - o*|| / ||o*||, o* exact, over the last {settings['n_test']} frames; training on the first {start}, "
            f"{settings['steps']} steps. Warm: started from the codes of the frame before, in the stream of all "
            "frames.",
        ),
        pieces.figure(curves(lines, x=x, y=y, long=True), "Error of o, frame by frame."),
    ]


def _hall_caption(found: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    shown, pursuit = ", ".join(map(str, settings["shown"])), found["pursuit"]
    return (
        f"Frames {shown} at {settings['width']}x{settings['height']} pixels. ALM: principal component pursuit (1) of "
        f"all frames at once, lam = {pursuit['outlier_penalty']:g}, rank {pursuit['rank']}. Algorithm 1: the exact "
        f"robust projection (5), lam_* = {settings['rank_penalty']}, lam = {settings['outlier_penalty']}, onto the "
        f"{settings['components']} components of the first {settings['n_train']} frames. Five layers: "
        f"{settings['in_figure']}. In the columns o, grey is zero, dark is darker than the background, bright is "
        "brighter."
    )


def _mask_section(masks: Mapping[str, Any], strips: Mapping[str, Strip]) -> list[str]:
    rows, films = masks["rows"], masks["films"]
    table = [[name, *(film_f(row, film) for film in films), *_overall(row)] for name, row in rows.items()]
    detail = [
        [name, *(f"{row['films'][film][kind]:.3f}" if film in row["films"] else "–"
                 for film in films for kind in ("precision", "recall"))]
        for name, row in rows.items()
    ]  # fmt: skip
    points = [
        Series(name, [rows[name]["frames_per_second"]], [rows[name]["mean_f"]], "dots")
        for name in IN_PLOT
        if name in rows and rows[name]["mean_f"] is not None
    ]
    x = Axis("frames a second, one thread", reaches=(0.0,))
    y = Axis("mean F", reaches=(0.0, 1.0))
    head = ["method", *films, "mean F", f"of {REFERENCE}", "frames/s", f"times {REFERENCE}"]
    seeds = ", ".join(map(str, masks["seeds"]))
    return [
        pieces.heading("Masks"),
        pieces.figure(
            pieces.table(head, table),
            f"F of the masks, from frame {masks['first_scored']} on, hits and errors summed over a film; shadows are "
            f"background. Made scenes: means over the seeds {seeds}. OpenCV's methods at their defaults, alone and "
            "with a median over 5x5 pixels; GSOC sees the grey frames as colours. Frames a second: 320x240, one "
            "thread, medians over blocks of frames in turns.",
        ),
        pieces.figure(
            pieces.table(*by_category(rows, films)),
            "By category of CDnet 2014, with the number of films: means of F, and of precision and recall.",
        ),
        pieces.figure(curves(points, x=x, y=y, long=True), "F against speed."),
        pieces.figure(
            _strips(strips), "The frame with most foreground of each film, its true mask, and what was found."
        ),
        pieces.figure(
            pieces.table(["method", *(f"{film}, {kind}" for film in films for kind in ("Pr", "Re"))], detail),
            "Precision and recall.",
        ),
    ]


def _worst_section(worst: Mapping[str, WorstFrame]) -> list[str]:
    if not worst:
        return []
    columns: dict[str, list[str]] = {"frame": [], "background": [], "mask": []}
    labels = []
    for name, one in worst.items():
        labels.append(f"{name} ({category_of(name)}), frame {one.number}")
        for column, picture in (
            ("frame", one.frame / 255.0), ("background", one.background / 255.0), ("mask", one.judged)
        ):  # fmt: skip
            columns[column].append(image(picture, f"{name}, {column} {one.number}"))
    rows = [
        [name, str(one.number), *(f"{count:,}" for count in (one.counts.false_positives, one.counts.false_negatives))]
        for name, one in worst.items()
    ]
    return [
        pieces.heading("Where it is worst"),
        pieces.figure(
            picture_rows(columns, labels),
            "The frame of each film with most wrong pixels, at the defaults, in colour where the film has "
            "colours. White is right, orange a false alarm, blue a miss; dark grey is not scored.",
        ),
        pieces.figure(pieces.table(["film", "frame", "false alarms, pixels", "misses, pixels"], rows), ""),
    ]


def film_f(row: Mapping[str, Any], film: str) -> str:
    """F of a method on a film, if it was on it."""
    return or_dash(row["films"].get(film, {}).get("f"), ".3f")


def or_dash(value: float | None, form: str) -> str:
    """A number in some form, a dash for None."""
    return "–" if value is None else format(value, form)


def _overall(row: Mapping[str, Any]) -> list[str]:
    forms = {"mean_f": ".3f", "times_reference": ".2f", "frames_per_second": ".0f", "speed": ".2f"}
    return [or_dash(row[name], form) for name, form in forms.items()]


def _strips(strips: Mapping[str, Strip]) -> str:
    columns: dict[str, list[Array]] = {"frame": [], "truth": []}
    for strip in strips.values():
        columns["frame"].append(strip.frame / 255.0)
        columns["truth"].append(np.asarray(strip.truth, dtype=np.float64) / max(1, int(strip.truth.max())))
        for name in IN_STRIPS:
            if name in strip.masks:
                columns.setdefault(name, []).append(strip.masks[name].astype(np.float64))
    return film_strip(columns, list(range(len(strips))))


def _lobby_section(lobby: Mapping[str, Any]) -> list[str]:
    methods = lobby["methods"]
    rows = [
        [f"frame {switch}", str(next(iter(methods.values()))[number]["of"]),
         *(cell for found in methods.values() for cell in _settled(found[number]))]
        for number, switch in enumerate(lobby["switches"])
    ]  # fmt: skip
    pictures = []
    for begin, end in AROUND:
        lines = [
            Series(name, range(begin, end), [100 * value for value in share[begin:end]])
            for name, share in lobby["shares"].items()
            if len(share) >= end
        ]
        if lines:
            x, y = Axis("frame", steps=WHOLE), Axis("pixels in the mask, %", reaches=(0.0,))
            plot = curves(lines, x=x, y=y, levels={"5 %": 5.0}, long=True)
            pictures.append(pieces.figure(plot, f"Frames {begin} to {end}."))
    head = ["switch", "until the next", *(f"{name}{what}" for name in methods for what in ("", ", peak"))]
    return [
        pieces.heading("Lamps in a lobby"),
        pieces.figure(
            pieces.table(head, rows, chosen=-1),
            f"Frames from a switch until the mask is below {100 * lobby['full']:.0f} % of the pixels and stays so "
            "until the next one, and its largest share; “not” where it still is above.",
        ),
        *pictures,
    ]


def _settled(found: Mapping[str, Any]) -> tuple[str, str]:
    return (str(found["frames"]) if found["settled"] else "not", f"{100 * found['peak']:.1f} %")
