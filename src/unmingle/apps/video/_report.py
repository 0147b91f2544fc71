"""The page that shows what was found in a film."""

from collections.abc import Sequence
from html import escape
from typing import Any

from ... import __version__
from ...report import pieces
from ...report.numbers_in_words import clock, counted, share
from ...report.pictures import photo, picture_rows
from ...report.plots import Axis, Series, curves
from ._highlights import VIEWS, Highlights, Moment
from ._result import Result, event_table, settings_in_words, summary_text, whole
from ._stream import Stream
from .events import Event

MOST_EVENTS = 200
"""A table that can still be read; the file of events has them all."""
SECONDS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
"""From one mark of time to the next."""


def report_page(result: Result) -> str:
    """The whole page.

    Parameters
    ----------
    result : Result
        What came of the film, with highlights: `separate` keeps them where a report is wanted.
    """
    if result.highlights is None:
        raise ValueError("There are no pictures for a report; separate the film with Outputs(report=...).")
    name, summary, rows = result.name, result.summary(), result.finder.rows()
    return pieces.page(
        f"{name}: background and foreground",
        *_opening(name, summary, rows, result),
        *_strip(result.highlights, result.events),
        *_timeline(result.highlights, summary, rows),
        *_events(rows),
        *_summary(summary),
        *_settings(result.stream),
        f"<footer>Made by unmingle {__version__}. Times count from the first frame.</footer>",
    )


def _opening(name: str, summary: dict[str, Any], rows: Sequence[dict[str, Any]], result: Result) -> list[str]:
    frames = counted(summary["frames"], "frame")
    size = f"{frames} of {summary['width']} × {summary['height']} pixels in {clock(summary['duration'], 1)}"
    busy = sum(end - start for start, end in busy_spans(rows))
    figures = {
        "event" if len(rows) == 1 else "events": str(len(rows)),
        "time with foreground": clock(busy),
        f"of the {whole(summary)} at most": share(summary["largest_share"]),
        "frames processed a second": f"{summary['frames_per_second'] or 0:.0f}",
    }
    if summary["rank"] is not None:
        figures["rank of the background"] = str(summary["rank"])
    end = [pieces.paragraph(f"The film ends early: {result.error}")] if result.error is not None else []
    end += [pieces.paragraph("The film was interrupted.")] if result.interrupted else []
    return [
        f"<h1>{escape(name)}</h1>",
        pieces.paragraph(f"{size}, separated into what stays and what moves.", "lead"),
        *end,
        pieces.key_figures(figures),
    ]


def busy_spans(rows: Sequence[dict[str, Any]]) -> list[tuple[float, float]]:
    """The times with an event or more, from start to end of each, without those within others."""
    spans: list[tuple[float, float]] = []
    for start, end in sorted((row["start"], row["end"]) for row in rows):
        if spans and start <= spans[-1][1]:
            start, end = spans[-1][0], max(end, spans.pop()[1])
        spans.append((start, end))
    return spans


def _strip(highlights: Highlights, events: Sequence[Event]) -> list[str]:
    moments = highlights.select(events)
    labels = [clock(moment.time, 1) for moment in moments]
    columns = {view: [_picture(moment, view) for moment in moments] for view in VIEWS}
    caption = (
        "Some of the moments with most foreground, from all parts of the film. The time is to the left of each. "
        "Boxes bear the numbers of their events."
    )
    return [pieces.heading("Moments with much foreground"), pieces.figure(picture_rows(columns, labels), caption)]


def _picture(moment: Moment, view: str) -> str:
    return photo(moment.pictures[view], f"{view} at {clock(moment.time, 1)}")


def _timeline(highlights: Highlights, summary: dict[str, Any], rows: Sequence[dict[str, Any]]) -> list[str]:
    times, shares = highlights.curve()
    bands = busy_spans(rows)
    label = f"share of the {whole(summary)} that is foreground"
    plot = curves(
        [Series("", times, shares, "area")],
        x=Axis(reaches=(0.0,), steps=SECONDS, words=lambda time, step: clock(time, 0 if step >= 1 else 1)),
        y=Axis(label, reaches=(0.0, 1e-4), words=lambda value, _: f"{100 * value:g} %"),
        bands=bands,
        long=True,
    )
    caption = "The largest share around each moment, over the time of the film. Events are shaded."
    return [pieces.heading("Foreground over time"), pieces.figure(plot, caption)]


def _events(rows: Sequence[dict[str, Any]]) -> list[str]:
    if not rows:
        return [pieces.heading("Events"), pieces.paragraph("None: nothing was in front of the background for long.")]
    shown = rows[:MOST_EVENTS]
    table = pieces.table(*event_table(shown), chosen=-1)
    more = [pieces.paragraph(f"These are the first {len(shown)} of {len(rows):,} events.")] if rows != shown else []
    return [pieces.heading("Events"), table, *more]


def _summary(summary: dict[str, Any]) -> list[str]:
    return [pieces.heading("Quality"), pieces.facts(summary_text(summary))]


def _settings(stream: Stream) -> list[str]:
    return [pieces.heading("Settings"), pieces.facts(settings_in_words(stream))]
