"""What users may choose about an alignment, with bounds; light to import, since commands make their options of it."""

from dataclasses import dataclass
from typing import Annotated, Any

from .._fields import checked, rules_of
from .._rules import POSITIVE, Count, Each, Either, OneOf, maybe
from .families import FAMILIES

MOST_STARTS = 9
"""A search begins from at most this number of places along each axis."""
_PENALTY = Either(OneOf("auto"), POSITIVE)


@dataclass(frozen=True)
class AlignmentSettings:
    """What users may choose: the parameters of `align`, and how new images are searched for."""

    motion: Annotated[str, OneOf(*FAMILIES), "How the images may differ in position."] = "translation"
    shape: Annotated[tuple[int, int] | None, maybe(Each(Either(OneOf(-1), Count(1)), Count(2, 2)))] = None
    n_components: Annotated[int, Count(1), "Largest rank allowed."] = 8
    rank_penalty: Annotated[float | str, _PENALTY, "Weight of the rank."] = "auto"
    outlier_penalty: Annotated[float | str, _PENALTY, "Weight of the outliers."] = "auto"
    n_starts: Annotated[
        int, Count(1, MOST_STARTS), "Starting places of new images along each axis; 3 or 5 for large shifts."
    ] = 1

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name, rule in rules_of(kind).items():
            if name != "shape":  # which is checked where the size of the images is known
                object.__setattr__(self, name, checked(getattr(self, name), name, rule))
