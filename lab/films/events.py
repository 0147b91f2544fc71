"""Events of the labelled films against the objects of their truth: `python -m lab film-events --data FOLDER`.

An object is a region of the truth of at least a 1000th of the picture, followed by overlap, and seen for at least ten
frames. It is found in time if one event overlaps half of its time, and in place if one event's box covers it in half of
its frames. Events outside of the region that was labelled do not count.
"""

from pathlib import Path

from ..paper.video import labelled_films, read_labelled
from .truth import event_score, found_events

BARS = ("pedestrians", "highway", "boats")


def run(folder: Path) -> None:
    """Print a row for each film in the folder, and the shares over those for which the bars were set."""
    total = [0, 0, 0, 0]
    print(f"{'film':12s} objects  in time  in place  events")
    for name, path in labelled_films(folder).items():
        film = read_labelled(path)
        score = event_score(film.truth, found_events(film))
        total = [a + b * (name in BARS) for a, b in zip(total, score, strict=True)]
        print(f"{name:12s} {score.objects:7d} {score.in_time:8d} {score.in_place:9d} {score.events:7d}", flush=True)
    objects, in_time, in_place, events = total
    if objects:
        print(f"{', '.join(BARS)}: {in_time / objects:.0%} of {objects} objects found in time (at least 80 %),")
        print(f"{in_place / objects:.0%} in place, {events / objects:.2f} events for each (at most 1.5)")
