"""Frozen dataclasses whose fields carry their rules: checked when made, stored, and read back by the same words.

A field is annotated with its type and its rule::

    @dataclass(frozen=True)
    class Camera:
        moves: Annotated[int, Count()] = 0
        place: Annotated[Float64Array, ArrayOf(("float64",), 3, 3)] | None = None
        light: Light = Light()              # a dataclass with rules of its own
        sums: Annotated[Sums, Record(...)]  # a named tuple, with the rules of its fields

`record_of` makes the rule of a whole file from it, `to_store` and `from_store` turn a value into what a file holds and
back, `check_settings` raises the sentence that users read, and `bounds_of` tells an option of a command its limits.
"""

from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from ._rules import Count, Number, Record, Rule, maybe

Value = TypeVar("Value")


@cache
def rules_of(cls: Any) -> dict[str, Rule]:
    """The rule of each field of a dataclass, by its name; fields without a rule are not part of a file."""
    hints = get_type_hints(cls, include_extras=True)
    found = {one.name: _rule_in(hints[one.name]) for one in fields(cls)}
    return {name: rule for name, rule in found.items() if rule is not None}


def _rule_in(hint: Any) -> Rule | None:
    """The rule in an annotation: of the field itself, of one of the kinds that it may be, or of a dataclass."""
    if get_origin(hint) is Annotated:
        return next((extra for extra in hint.__metadata__ if isinstance(extra, Rule)), None)
    if get_origin(hint) in (Union, UnionType):
        known = [_rule_in(one) for one in get_args(hint) if one is not NoneType]
        rules = [rule for rule in known if rule is not None]
        return maybe(rules[0]) if len(rules) == 1 and NoneType in get_args(hint) else None
    return record_of(hint) if is_dataclass(hint) and isinstance(hint, type) and rules_of(hint) else None


@cache
def record_of(cls: Any) -> Record:
    """What a file holds of a dataclass. A field that may be None is left out where it is None."""
    may_lack = {one.name for one in fields(cls) if _may_lack(one)}
    rules = rules_of(cls)
    return Record(
        {name: rule for name, rule in rules.items() if name not in may_lack},
        {name: rule for name, rule in rules.items() if name in may_lack},
    )


def _may_lack(one: "Field[Any]") -> bool:
    return one.default is None


def to_store(value: Any) -> dict[str, Any]:
    """A dataclass as what a file holds: JSON values, arrays and tables of them."""
    kind: Any = type(value)
    content = {name: _stored(getattr(value, name)) for name in rules_of(kind)}
    optional = {one.name for one in fields(value) if _may_lack(one)}
    return {name: part for name, part in content.items() if part is not None or name not in optional}


def _stored(part: Any) -> Any:
    if is_dataclass(part) and not isinstance(part, type):
        return to_store(part)
    if isinstance(part, tuple) and hasattr(part, "_asdict"):
        return dict(part._asdict())
    if isinstance(part, np.generic):
        return part.item()
    return list(part) if isinstance(part, tuple) else part


def from_store(cls: type[Value], content: dict[str, Any], **further: Any) -> Value:
    """The dataclass that was stored; ``further`` are fields that no file holds. Its content was checked before."""
    hints = get_type_hints(cls)
    return cls(**{name: _restored(hints[name], part) for name, part in content.items()}, **further)


def _restored(hint: Any, part: Any) -> Any:
    kinds = [hint, *get_args(hint)]
    for kind in kinds:
        if isinstance(part, dict) and is_dataclass(kind) and isinstance(kind, type):
            return from_store(kind, part)
        if isinstance(part, dict) and isinstance(kind, type) and issubclass(kind, tuple):
            return kind(**part)
        if isinstance(part, list) and tuple in (kind, get_origin(kind)):
            return tuple(part)
    if bool in kinds and isinstance(part, int):
        return bool(part)
    return float(part) if float in kinds and type(part) is int else part


def check_settings(value: Any) -> None:
    """Raise a sentence for the first field of a dataclass that breaks its rule; numbers of NumPy become plain ones.

    To be called from ``__post_init__``. A field that is a dataclass itself was checked when it was made.
    """
    kind: Any = type(value)
    for name, rule in rules_of(kind).items():
        given = getattr(value, name)
        if not is_dataclass(given):
            object.__setattr__(value, name, checked(given, name, rule))


def checked(value: Any, name: str, rule: Rule) -> Any:
    """The value of a parameter as a plain number, text or array, or one sentence that says what is wrong with it."""
    plain = _plain(value, rule)
    if not rule.fits(plain, {}):
        raise ValueError(f"{name} must be {rule.wanted}, got {value!r}.")
    return plain


def _plain(value: Any, rule: Rule) -> Any:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    return value


def bounds_of(cls: Any, name: str) -> tuple[float | None, float | None]:
    """The least and the largest that a number in a field may be; None where there is no such limit."""
    return limits_of(rules_of(cls)[name])


def limits_of(rule: Rule) -> tuple[float | None, float | None]:
    """The least and the largest number that a rule allows, None where there is no such limit."""
    for one in (rule, *getattr(rule, "rules", ())):
        if isinstance(one, Count | Number):
            least, most = type(one)().low, type(one)().high
            bounded = isinstance(one, Count) or one.low > least
            return (one.low if bounded else None), (None if one.high == most else one.high)
    return None, None


def default_of(cls: Any, name: str) -> Any:
    """What a field is where nobody gives it."""
    found = next(one for one in fields(cls) if one.name == name)
    return found.default_factory() if found.default_factory is not MISSING else found.default
