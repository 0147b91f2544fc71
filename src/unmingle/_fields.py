"""Frozen dataclasses whose fields carry their rules: checked when made, stored, and read back by the same words.

Named tuples may have rules at their fields, too. A field is annotated with its type and its rule::

    @dataclass(frozen=True)
    class Camera:
        moves: Annotated[int, Count()] = 0
        place: Annotated[Float64Array, ArrayOf(("float64",), 3, 3)] | None = None
        light: Light = Light()              # a dataclass with rules of its own
        sums: Annotated[Sums, Record(...)]  # a named tuple, with the rules of its fields

`record_of` makes the rule of a whole file from it, `to_store` and `from_store` turn a value into what a file holds and
back, `check_settings` raises the sentence that users read, and `bounds_of` tells an option of a command its limits.
"""

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from ._rules import Count, Number, Record, Rule, is_array, maybe

Value = TypeVar("Value")


@cache
def rules_of(cls: Any) -> dict[str, Rule]:
    """The rule of each field of a dataclass, by its name; fields without a rule are not part of a file."""
    hints = get_type_hints(cls, include_extras=True)
    found = {name: _rule_in(hints[name]) for name in _names_of(cls)}
    return {name: rule for name, rule in found.items() if rule is not None}


def _names_of(cls: Any) -> list[str]:
    return [one.name for one in fields(cls)] if is_dataclass(cls) else list(cls._fields)


def _has_rules(kind: Any) -> bool:
    """Whether a type is a dataclass or a named tuple with rules at its fields."""
    known = isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields"))
    return known and bool(rules_of(kind))


def _rule_in(hint: Any) -> Rule | None:
    """The rule in an annotation: of the field itself, of one of the kinds that it may be, or of a dataclass."""
    if get_origin(hint) is Annotated:
        return next((extra for extra in hint.__metadata__ if isinstance(extra, Rule)), None)
    if get_origin(hint) in (Union, UnionType):
        known = [_rule_in(one) for one in get_args(hint) if one is not NoneType]
        rules = [rule for rule in known if rule is not None]
        return maybe(rules[0]) if len(rules) == 1 and NoneType in get_args(hint) else None
    return record_of(hint) if _has_rules(hint) else None


@cache
def record_of(cls: Any) -> Record:
    """What a file holds of a dataclass. A field that may be None is left out where it is None."""
    may_lack = _may_lack(cls)
    rules = rules_of(cls)
    return Record(
        {name: rule for name, rule in rules.items() if name not in may_lack},
        {name: rule for name, rule in rules.items() if name in may_lack},
    )


def _may_lack(cls: Any) -> set[str]:
    """Fields that are None where nobody gives them."""
    if not is_dataclass(cls):
        return {name for name, default in cls._field_defaults.items() if default is None}
    return {one.name for one in fields(cls) if one.default is None}


def to_store(value: Any) -> dict[str, Any]:
    """A dataclass as what a file holds: JSON values, arrays and tables of them."""
    kind: Any = type(value)
    content = {name: _stored(getattr(value, name)) for name in rules_of(kind)}
    optional = _may_lack(kind)
    return {name: part for name, part in content.items() if part is not None or name not in optional}


def _stored(part: Any) -> Any:
    if _has_rules(type(part)):
        return to_store(part)
    if isinstance(part, tuple) and hasattr(part, "_asdict"):
        return dict(part._asdict())
    if hasattr(part, "dtype") and not is_array(part):  # a number of NumPy
        return part.item()
    return list(part) if isinstance(part, tuple) else part


def from_store(cls: type[Value], content: dict[str, Any], **further: Any) -> Value:
    """The dataclass that was stored; ``further`` are fields that no file holds. Its content was checked before."""
    hints = get_type_hints(cls)
    return cls(**{name: _restored(hints[name], part) for name, part in content.items()}, **further)


def _restored(hint: Any, part: Any) -> Any:
    kinds = [hint, *get_args(hint)]
    for kind in kinds:
        if isinstance(part, dict) and _has_rules(kind):
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
    kind = "" if is_array(value) else getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, bool) or kind == "b":  # a flag of NumPy is no bool of Python
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
