"""Units of data."""

from dataclasses import dataclass
from math import frexp
from typing import TypeVar, overload

import numpy as np

from ..._types import Array

AnyFloats = TypeVar("AnyFloats", bound=Array)
"""float32 or float64: what goes in comes out."""
_DOUBLE = np.dtype(np.float64)
_RANGES = {np.dtype(kind): (float(np.finfo(kind).tiny), float(np.finfo(kind).max)) for kind in ("f4", "f8")}
"""The least and the largest number that is as precise as others."""


@dataclass(frozen=True)
class Units:
    """Units of data, whose root is a power of two: changing them loses no digit.

    In X = S U' + O samples, outliers and penalties are measured in ``root ** 2``, the factors S and U in ``root``, and
    costs in ``root ** 4``.

    Examples
    --------
    >>> units = Units.of(np.array([[3e200, -5e200]]))
    >>> np.round(units.to_units(np.array([5e200])), 3)
    array([1.633])
    >>> units.from_units(units.to_units(5e200))
    5e+200
    """

    root: float = 1.0

    @classmethod
    def of(cls, X: Array) -> "Units":
        """Units in which the largest entry is about one."""
        largest = float(np.max(np.abs(X), where=~np.isnan(X), initial=0.0))
        return cls(2.0 ** (frexp(largest)[1] // 2) if largest > 0 else 1.0)

    @overload
    def to_units(self, X: float) -> float: ...
    @overload
    def to_units(self, X: AnyFloats, out: Array | None = None) -> AnyFloats: ...
    @overload
    def to_units(self, X: None) -> None: ...
    def to_units(self, X: float | Array | None, out: Array | None = None) -> float | Array | None:
        """Samples, outliers or a penalty in these units; None, a penalty that was not given, stays None."""
        return None if X is None else _times_square(X, 1 / self.root, out)

    @overload
    def from_units(self, X: float) -> float: ...
    @overload
    def from_units(self, X: AnyFloats, out: Array | None = None) -> AnyFloats: ...
    def from_units(self, X: float | Array, out: Array | None = None) -> float | Array:
        """Samples, outliers or a penalty in the units of the data."""
        return _times_square(X, self.root, out)

    def factors_to_units(self, factors: Array) -> Array:
        """Codes or components in these units."""
        return factors / factors.dtype.type(self.root)

    def factors_from_units(self, factors: Array) -> Array:
        """Codes or components in the units of the data."""
        return factors * factors.dtype.type(self.root)

    def cost_from_units(self, cost: float) -> float:
        """The value of (2), (4) or (5) in the units of the data."""
        return self.from_units(self.from_units(cost))


def _times_square(X: float | Array, factor: float, out: Array | None) -> float | Array:
    """X times the square of a factor, in two steps where that square alone is beyond the range of numbers."""
    dtype, square = getattr(X, "dtype", _DOUBLE), factor * factor
    least, largest = _RANGES[dtype]
    for step in (square,) if least <= square <= largest else (factor, factor):
        number = step if dtype is _DOUBLE else dtype.type(step)
        X = X * number if out is None else np.multiply(X, number, out=out)
    return X
