"""How well a mask agrees with the true one."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._types import AnyArray, BoolArray

Labels = Literal["binary", "cdnet"]


@dataclass(frozen=True)
class CDnetLabels:
    """What the grey values of the true masks of changedetection.net mean."""

    still: tuple[int, ...] = (0, 50)
    """Background, and hard shadow."""
    not_scored: tuple[int, ...] = (85, 170)
    """Outside the region of interest, and unknown."""
    moving: tuple[int, ...] = (255,)
    """Foreground."""


CDNET = CDnetLabels()


class FMeasure(NamedTuple):
    """Precision, recall and their harmonic mean, each in [0, 1]."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class MaskCounts:
    """How often a mask was right and wrong; counts of frames add up to those of the film.

    Examples
    --------
    >>> frames = [([1, 1, 0], [1, 0, 0]), ([0, 0, 1], [0, 1, 1])]
    >>> film = sum((MaskCounts.of(mask, truth) for mask, truth in frames), MaskCounts())
    >>> film
    MaskCounts(true_positives=2, false_positives=1, false_negatives=1, true_negatives=2)
    >>> round(film.f_measure.f, 3), round(film.share_wrong, 3)
    (0.667, 0.333)
    """

    true_positives: int = 0
    false_positives: int = 0
    false_negatives: int = 0
    true_negatives: int = 0

    @classmethod
    def of(cls, mask: ArrayLike, truth: ArrayLike, *, labels: Labels = "binary") -> "MaskCounts":
        """Count the entries of a mask; the parameters are those of `f_measure`."""
        mask, truth = np.asarray(mask, dtype=bool), np.asarray(truth)
        check_same_shape("mask", mask.shape, truth.shape)
        moving, still = _split_labels(truth, labels)
        hits, false_alarms = int(np.count_nonzero(mask & moving)), int(np.count_nonzero(mask & still))
        return cls(
            true_positives=hits,
            false_positives=false_alarms,
            false_negatives=int(np.count_nonzero(moving)) - hits,
            true_negatives=int(np.count_nonzero(still)) - false_alarms,
        )

    def __add__(self, other: "MaskCounts") -> "MaskCounts":
        if not isinstance(other, MaskCounts):
            return NotImplemented
        return MaskCounts(
            self.true_positives + other.true_positives,
            self.false_positives + other.false_positives,
            self.false_negatives + other.false_negatives,
            self.true_negatives + other.true_negatives,
        )

    @property
    def f_measure(self) -> FMeasure:
        """Precision, recall and F of the counts."""
        hits = self.true_positives
        claimed, true = hits + self.false_positives, hits + self.false_negatives
        undefined = float(claimed == true == 0)
        return FMeasure(
            precision=hits / claimed if claimed else undefined,
            recall=hits / true if true else undefined,
            f=2 * hits / (claimed + true) if claimed + true else undefined,
        )

    @property
    def share_wrong(self) -> float:
        """Share of the scored entries that are wrong, 0 if none was scored; CDnet's PWC is 100 times this."""
        wrong = self.false_positives + self.false_negatives
        scored = wrong + self.true_positives + self.true_negatives
        return wrong / scored if scored else 0.0


def f_measure(mask: ArrayLike, truth: ArrayLike, *, labels: Labels = "binary") -> FMeasure:
    """Compare a mask with the true one, counted over all entries.

    precision = hits / claimed,  recall = hits / true,  f = 2 hits / (claimed + true).

    The sums run over all entries that are scored, thus over all frames of a film. The F of mean precision and mean
    recall, or a mean of the F of single frames, is something else. `MaskCounts` adds up frame by frame.

    A ratio without a denominator is 1 if both masks are empty (nothing to find, nothing claimed) and 0 otherwise.

    Parameters
    ----------
    mask : array_like of bool
        What was claimed; non-zero means True.
    truth : array_like of the same shape
        What is so.
    labels : {"binary", "cdnet"}, default="binary"
        How to read `truth`. "binary": non-zero means True. "cdnet": the labels of changedetection.net, where 255
        (moving) is True, 0 (still) and 50 (hard shadow) are False, and 85 (outside the region of interest) and 170
        (unknown) are not scored.

    Returns
    -------
    FMeasure
        `(precision, recall, f)`.

    Examples
    --------
    >>> f_measure([1, 1, 0, 0], [1, 0, 1, 0])
    FMeasure(precision=0.5, recall=0.5, f=0.5)
    >>> f_measure([1, 1, 1, 1, 0], [255, 50, 85, 170, 255], labels="cdnet")
    FMeasure(precision=0.5, recall=0.5, f=0.5)
    """
    return MaskCounts.of(mask, truth, labels=labels).f_measure


def _split_labels(truth: AnyArray, labels: Labels) -> tuple[BoolArray, BoolArray]:
    """Return which entries of the truth are scored as True, and which as False."""
    if labels == "binary":
        moving = truth.astype(bool)
        return moving, ~moving
    if labels != "cdnet":
        raise ValueError(f'labels must be "binary" or "cdnet"; got {labels!r}.')
    moving, still, not_scored = (_is_one_of(truth, values) for values in (CDNET.moving, CDNET.still, CDNET.not_scored))
    strange = ~(moving | still | not_scored)
    if strange.any():
        found = ", ".join(str(value) for value in np.unique(truth[strange])[:5])
        raise ValueError(f"truth must hold the labels 0, 50, 85, 170 and 255 of CDnet only; got also {found}.")
    return moving, still


def _is_one_of(values: AnyArray, labels: tuple[int, ...]) -> BoolArray:
    return np.logical_or.reduce([values == label for label in labels])


def check_same_shape(name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Raise an error unless a mask or a matrix has the shape of the true one."""
    if shape != expected:
        raise ValueError(f"{name} must have the shape of truth, {expected}; got {shape}.")
