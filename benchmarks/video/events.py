"""Events of the labelled films against the objects of their truth: ``python -m benchmarks.video.events --data DIR``.

An object is a region of the truth of at least a 1000th of the picture, followed by overlap, and seen for at least ten
frames. It is found in time if one event overlaps half of its time, and in place if one event's box covers it in half of
its frames. Events outside of the region that was labelled do not count.
"""

import argparse

from unmingle.reproduce.video import event_score, found_events, labelled_films, read_labelled

BARS = ("pedestrians", "highway", "boats")


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--data", required=True)
    given = reader.parse_args()
    total = [0, 0, 0, 0]
    print(f"{'film':12s} objects  in time  in place  events")
    for name, path in labelled_films(given.data).items():
        film = read_labelled(path)
        score = event_score(film.truth, found_events(film))
        total = [a + b * (name in BARS) for a, b in zip(total, score, strict=True)]
        print(f"{name:12s} {score.objects:7d} {score.in_time:8d} {score.in_place:9d} {score.events:7d}", flush=True)
    objects, in_time, in_place, events = total
    if objects:
        print(f"{', '.join(BARS)}: {in_time / objects:.0%} of {objects} objects found in time (at least 80 %),")
        print(f"{in_place / objects:.0%} in place, {events / objects:.2f} events for each (at most 1.5)")


if __name__ == "__main__":
    main()
