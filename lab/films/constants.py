"""The constants of the video stream that matter, each chosen on all films but one and scored on that one.

`python -m lab video-constants --data FOLDER [--grey]` scores every film with truth at every value of every
constant, the others as they are. For each film the values that are best on the other films are taken together, and
the film is scored with them. The result stands beside the plain score.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from ..paper.video import labelled_films, ours, race, read_labelled


class Constant(NamedTuple):
    """A constant of the stream: the module, the group in it, and the name in the group."""

    module: str
    group: str
    name: str
    others: tuple[float, ...]
    """Values beside the one in use."""


_ROOM = "unmingle.apps.video."
CONSTANTS = (
    Constant("_background", "NOISE", "least", (2.5 / 255, 4.5 / 255)),
    Constant("_background", "NOISE", "least_colour", (2.0 / 255, 4.0 / 255)),
    Constant("_background", "NOISE", "rate", (0.05, 0.2)),
    Constant("_background", "NOISE", "slow_rate", (0.001, 0.01)),
    Constant("_background", "NOISE", "fall", (0.2, 1.0)),
    Constant("_detect", "MASK", "weak", (0.6, 0.8)),
    Constant("_detect", "MASK", "likeness", (0.7, 0.9)),
    Constant("_detect", "MASK", "texture", ((2.5 / 255) ** 2, (7.0 / 255) ** 2)),
    Constant("_light", "LIGHT", "jump", (0.02, 0.05)),
    Constant("_light", "LIGHT", "alike", (0.1, 0.4)),
)

Table = dict[Constant, dict[float, dict[str, float]]]
"""F by constant, value and film."""


@contextmanager
def changed(values: Mapping[Constant, float]) -> Iterator[None]:
    """The stream with other constants."""
    detect = import_module(_ROOM + "_detect")
    before = {one: in_use(one) for one in values}
    try:
        for one, value in values.items():
            _set(one, value)
        detect.mask_thresholds.cache_clear()
        yield
    finally:
        for one, value in before.items():
            _set(one, value)
        detect.mask_thresholds.cache_clear()


def _set(one: Constant, value: float) -> None:
    """Set a constant in its group, which is one object for all modules and frozen for everybody else."""
    object.__setattr__(getattr(import_module(_ROOM + one.module), one.group), one.name, value)


def in_use(one: Constant) -> float:
    """The value that the stream has now."""
    return float(getattr(getattr(import_module(_ROOM + one.module), one.group), one.name))


def score(film: Any, colour: bool, values: Mapping[Constant, float]) -> float:
    """F of a film with some constants changed."""
    with changed(values):
        return race(film, [ours(view="colour" if colour else "grey")])["unmingle"].counts.f_measure.f


def tables(folder: Path, colour: bool) -> tuple[dict[str, float], Table]:
    """F of every film, plain and with each other value of each constant."""
    plain: dict[str, float] = {}
    table: Table = {one: {value: {} for value in one.others} for one in CONSTANTS}
    for name, path in labelled_films(folder).items():
        film = read_labelled(path)
        plain[name] = score(film, colour, {})
        for one, values in table.items():
            for value, found in values.items():
                found[name] = score(film, colour, {one: value})
        print(f"{name}: {plain[name]:.3f}", flush=True)
    return plain, table


def chosen_without(
    film: str, plain: Mapping[str, float], table: Mapping[Constant, Mapping[float, Mapping[str, float]]]
) -> dict[Constant, float]:
    """The values that are best on all other films, as far as they are better than those in use."""
    chosen = {}
    for one, values in table.items():
        rest = [name for name in plain if name != film]
        means = {value: fmean(found[name] for name in rest) for value, found in values.items()}
        best = max(means, key=lambda value: means[value])
        if means[best] > fmean(plain[name] for name in rest):
            chosen[one] = best
    return chosen


def run(folder: Path, *, grey: bool) -> None:
    """Print the mean F at every value, and for each film the score with the values that the other films choose."""
    plain, table = tables(folder, not grey)
    for one, values in table.items():
        cells = {in_use(one): fmean(plain.values())} | {value: fmean(f.values()) for value, f in values.items()}
        print(
            f"{f'{one.group}.{one.name}':20s}",
            ", ".join(f"{value:.4g}: {mean:.4f}" for value, mean in sorted(cells.items())),
        )
    left_out = {}
    for name, path in labelled_films(folder).items():
        chosen = chosen_without(name, plain, table)
        left_out[name] = score(read_labelled(path), not grey, chosen)
        taken = ", ".join(f"{one.name} {value:.4g}" for one, value in chosen.items())
        print(f"{name:12s} plain {plain[name]:.3f}, chosen on the others {left_out[name]:.3f}: {taken}", flush=True)
    print(f"mean: plain {fmean(plain.values()):.4f}, leave-one-out {fmean(left_out.values()):.4f}")
