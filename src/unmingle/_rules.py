"""What a file may hold: a few kinds of rules for values and arrays, and one check.

A schema is a rule for the whole content of a file, a `Record` that names every value and every array in it. Sizes that
must agree, such as the q and m of all arrays that have to do with components, are given by a name: the first array that
has it tells what it is. Fields are checked in the order of their rules, so arrays come before the numbers that must be
their sizes. NumPy is imported only where arrays are looked at: options of commands have rules, too, and their help is
shown without it.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from ._types import AnyArray

LARGEST = 1e220
"""What numbers are at most, where nothing else is said: no data are so large, and products with others are finite."""
LEAST = sys.float_info.min
"""The least number above 0 that is as precise as others, and can be divided by."""
FLOATS = ("float32", "float64")
_SHOWN = 60
"""Characters of a value that an error shows."""

Sizes = dict[str, Any]
"""What names in shapes stand for, as far as known."""


class MismatchError(ValueError):
    """A field that breaks its rule, with the rule and the field in one sentence."""


class Rule:
    """What a value must be."""

    @property
    def wanted(self) -> str:
        """The rule in a few words."""
        raise NotImplementedError

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value keeps the rule."""
        raise NotImplementedError

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise an error unless a value keeps the rule."""
        if not self.fits(value, sizes):
            raise MismatchError(f"{name} should be {self.wanted}, not {_shown(value)}")


@dataclass(frozen=True)
class Count(Rule):
    """A whole number."""

    low: int = 0
    high: int = 2**53

    @property
    def wanted(self) -> str:
        """The rule in a few words."""
        limits = f"of at least {self.low}" if self.high == 2**53 else f"from {self.low} to {self.high}"
        return f"a whole number {limits}"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value keeps the rule."""
        return type(value) is int and self.low <= value <= self.high


@dataclass(frozen=True)
class Number(Rule):
    """A real number; infinity and NaN where said so; ``above`` and ``below`` leave the lowest and the highest out."""

    low: float = -LARGEST
    high: float = LARGEST
    nan: bool = False
    above: bool = False
    below: bool = False

    @property
    def wanted(self) -> str:
        """The rule in a few words."""
        if self.low <= -LARGEST and self.high >= LARGEST:
            return "a number"
        if self.high >= LARGEST:
            return f"a finite number {'above' if self.above else 'of at least'} {self.low:g}"
        if self.above or self.below:
            lowest = f"{'above' if self.above else 'of at least'} {self.low:g}"
            return f"a number {lowest} and {'below' if self.below else 'at most'} {self.high:g}"
        return f"a number from {self.low:g} to {self.high:g}"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value keeps the rule."""
        if type(value) not in (int, float):
            return False
        inside = self.low <= value <= self.high
        at_end = (self.above and value == self.low) or (self.below and value == self.high)
        return (inside and not at_end) or (self.nan and value != value)


ANY_NUMBER = Number(-inf, inf, nan=True)
POSITIVE = Number(0.0, above=True)


class Flag(Rule):
    """True or false, or 1 or 0 for them."""

    wanted = "true or false"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value keeps the rule."""
        return isinstance(value, int) and value in (0, 1)


class Text(Rule):
    """A string."""

    wanted = "text"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value keeps the rule."""
        return isinstance(value, str)


class Table(Rule):
    """An object of JSON with whatever content, but no arrays."""

    wanted = "a table of names and values"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value keeps the rule."""
        return isinstance(value, dict) and not _holds_arrays(value)


class OneOf(Rule):
    """One of some values, of the same type."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    @property
    def wanted(self) -> str:
        """The rule in a few words."""
        words = ["None" if value is None else repr(value) for value in self.values]
        return f"one of {', '.join(words)}" if len(words) > 2 else " or ".join(words)

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value keeps the rule."""
        return any(type(value) is type(one) and value == one for one in self.values)


class Either(Rule):
    """What one of several rules allows; in words of its own where they are given."""

    def __init__(self, *rules: Rule, wanted: str = "") -> None:
        self.rules, self._wanted = rules, wanted

    @property
    def wanted(self) -> str:
        """The rule in a few words."""
        return self._wanted or " or ".join(rule.wanted for rule in self.rules)

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value keeps the rule."""
        return any(rule.fits(value, sizes) for rule in self.rules)

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise an error unless a value keeps the rule; of a table it says which field is wrong."""
        tables = [rule for rule in self.rules if isinstance(rule, Record)]
        if len(tables) == 1 and isinstance(value, dict):
            tables[0].check(name, value, sizes)
        else:
            super().check(name, value, sizes)


def maybe(rule: Rule) -> Rule:
    """What a rule allows, or nothing."""
    return Either(OneOf(None), rule)


@dataclass(frozen=True)
class Size(Rule):
    """The size that a name in shapes stands for."""

    name: str

    @property
    def wanted(self) -> str:
        """The rule in a few words."""
        return f"the size {self.name} of the arrays"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value keeps the rule."""
        return type(value) is int and value == sizes.get(self.name)


@dataclass(frozen=True)
class Each(Rule):
    """A list whose entries all keep a rule, of a length that does so, too."""

    rule: Rule
    length: Rule = Count()

    @property
    def wanted(self) -> str:
        """The rule in a few words."""
        return f"a list with each entry {self.rule.wanted}"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value keeps the rule."""
        return (
            isinstance(value, list)
            and self.length.fits(len(value), sizes)
            and all(self.rule.fits(entry, sizes) for entry in value)
        )


class Row(Rule):
    """A list with a rule for every place."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    @property
    def wanted(self) -> str:
        """The rule in a few words."""
        return f"a list of {', '.join(rule.wanted for rule in self.rules)}"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value keeps the rule."""
        same = isinstance(value, list) and len(value) == len(self.rules)
        return same and all(rule.fits(entry, sizes) for rule, entry in zip(self.rules, value, strict=True))


@dataclass(frozen=True)
class Record(Rule):
    """A table with just these fields: values, arrays and tables; some of them may be missing."""

    rules: Mapping[str, Rule]
    optional: Mapping[str, Rule] = field(default_factory=dict)
    wanted: str = field(default="a table of named values", init=False)

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value keeps the rule."""
        try:
            self.check("", value, sizes)
        except MismatchError:
            return False
        return True

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise an error unless a value keeps the rule."""
        if not isinstance(value, dict):
            raise MismatchError(f"{name} should be {self.wanted}, not {_shown(value)}")
        expected = {**self.rules, **{key: rule for key, rule in self.optional.items() if key in value}}
        _check_names(name, value, expected)
        for key, rule in expected.items():
            rule.check(f"{name}.{key}" if name else key, value[key], sizes)


class ArrayOf(Rule):
    """An array of one of some types and of a shape, with all entries from low to high; NaN where said so.

    The shape has numbers, names of sizes, and tuples of both, any of which will do. Arrays that are ``alike`` something
    have one type.
    """

    def __init__(
        self,
        dtypes: tuple[str, ...],
        *shape: Any,
        low: float = -LARGEST,
        high: float = LARGEST,
        nan: bool = False,
        alike: str = "",
    ) -> None:
        self.dtypes, self.shape, self.low, self.high, self.nan, self.alike = dtypes, shape, low, high, nan, alike

    @property
    def wanted(self) -> str:
        """The rule in a few words."""
        shape = ", ".join(map(str, self.shape))
        values = f", from {self.low:g} to {self.high:g}{' or NaN' if self.nan else ''}" if self._floats else ""
        return f"an array of {' or '.join(self.dtypes)} of shape ({shape}){values}"

    @property
    def _floats(self) -> bool:
        return self.dtypes[0].startswith("float")

    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value keeps the rule."""
        if not is_array(value):
            return False
        dtype = value.dtype.name
        known = value.ndim == len(self.shape) and dtype in self.dtypes
        if not known or (self.alike and sizes.setdefault(f"type of {self.alike}", dtype) != dtype):
            return False
        if not all(_same(size, wanted, sizes) for size, wanted in zip(value.shape, self.shape, strict=True)):
            return False
        return value.dtype.kind != "f" or self._within(value)

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise an error unless a value keeps the rule."""
        if not self.fits(value, sizes):
            known = [f"{name} = {sizes[name]}" for name in _names(self.shape) if name in sizes]
            alike = sizes.get(f"type of {self.alike}")
            here = ", ".join([*known, *([f"type {alike}"] if alike else [])])
            raise MismatchError(
                f"array {name!r} should be {self.wanted}{here and f' (here {here})'}; got {_shown(value)}"
            )

    def _within(self, value: Any) -> bool:
        import numpy as np

        if not value.size:
            return True

        smallest, largest = (np.nanmin, np.nanmax) if self.nan else (np.min, np.max)
        if self.nan and np.isnan(value).all():
            return True
        return float(smallest(value)) >= self.low and float(largest(value)) <= self.high


def is_array(value: Any) -> TypeGuard["AnyArray"]:
    """Whether a value is an array; NumPy is imported only here, so that rules can be listed without it."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def check(content: Any, schema: Rule) -> None:
    """Raise an error with one sentence for the first field that breaks its rule, is missing or surplus."""
    schema.check("", content, {})


def _check_names(place: str, present: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    for names, fault in ((expected.keys() - present.keys(), "is missing"), (present.keys() - expected.keys(), "is")):
        if names:
            name = f"{place}.{min(names)}" if place else min(names)
            raise MismatchError(f"{_shown(name)} {fault}{'' if fault.endswith('missing') else ' not part of it'}")


def _same(size: int, wanted: Any, sizes: Sizes) -> bool:
    if isinstance(wanted, tuple):
        return any(_same(size, one, sizes) for one in wanted)
    return size == (sizes.setdefault(wanted, size) if isinstance(wanted, str) else wanted)


def _names(shape: tuple[Any, ...]) -> list[str]:
    names = [one for size in shape for one in (size if isinstance(size, tuple) else (size,)) if isinstance(one, str)]
    return list(dict.fromkeys(names))


def _holds_arrays(value: Any) -> bool:

    inside = value.values() if isinstance(value, dict) else ()
    return is_array(value) or any(map(_holds_arrays, inside))


def _shown(value: Any) -> str:
    if is_array(value):
        return f"{value.dtype} of shape {value.shape}" if value.size != 1 else f"{value.dtype} {value}"
    text = repr(value) if not _holds_arrays(value) else f"a table of {list(value)!r}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
