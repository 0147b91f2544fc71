"""Options of a command from the dataclasses of settings that it passes on.

A command says what it takes by type::

    def run(film: Film, outputs: Outputs, settings: Settings, quiet: Quiet = False) -> None: ...

and `with_options` gives it one option for each field of `Outputs` and `Settings`. What an option may be, its default
and its help are those of the field::

    n_components: Annotated[int, Count(1, 32), "Most components of the background."] = 5

An option that needs a name, a parser or a check of its own is ``given`` as typer has it. Its help, too, is that of the
field, unless it brings another one.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from ..._fields import limits_of, rules_of
from ..._rules import Either, OneOf, Rule


def with_options(
    run: Callable[..., None], *, given: Mapping[str, Any] | None = None, without: Iterable[str] = ()
) -> Callable[..., None]:
    """The command with each parameter that is a dataclass replaced by options, one for each of its fields.

    Parameters
    ----------
    run : callable
        The command. Parameters that are dataclasses are given to it whole.
    given : mapping, optional
        Annotations of options that are not made from their field: a name of their own, a parser, a check. Those without
        help have the sentence of their field.
    without : iterable of str
        Fields that are no option.
    """
    signature = inspect.signature(run, eval_str=True)
    groups: dict[str, Any] = {
        name: one.annotation for name, one in signature.parameters.items() if is_dataclass(one.annotation)
    }
    parameters: list[inspect.Parameter] = []
    fields_of: dict[str, list[str]] = {}
    for name, parameter in signature.parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        options = [one for one in fields(groups[name]) if one.init and one.name not in without]
        fields_of[name] = [one.name for one in options]
        parameters += [_option(groups[name], one, (given or {}).get(one.name)) for one in options]

    @wraps(run)
    def command(**values: Any) -> None:
        for name, cls in groups.items():
            own = {one: values.pop(one) for one in fields_of[name]}
            try:
                values[name] = cls(**own)
            except ValueError as error:
                raise typer.BadParameter(str(error)) from None
        run(**values)

    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _option(cls: type, one: "Field[Any]", given: Any) -> inspect.Parameter:
    default = one.default if one.default is not MISSING else None
    annotation = _annotation(cls, one.name) if given is None else _with_help(given, _sentence(cls, one.name))
    return inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _sentence(cls: type, name: str) -> str | None:
    """What a field says of itself: the help of its option."""
    hint = get_type_hints(cls, include_extras=True)[name]
    return next((one for one in getattr(hint, "__metadata__", ()) if isinstance(one, str)), None)


def _with_help(given: Any, sentence: str | None) -> Any:
    """The annotation of an option, with a sentence for its help if it has none."""
    kind, option = get_args(given)
    if option.help is not None:
        return given
    option = copy(option)
    option.help = sentence
    return Annotated[kind, option]


def _annotation(cls: type, name: str) -> Any:
    """The type of an option, with its limits and its help."""
    hint = get_type_hints(cls, include_extras=True)[name]
    help_text = _sentence(cls, name)
    plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    rule = rules_of(cls).get(name)
    low, high = (None, None) if rule is None else limits_of(rule)
    options: dict[str, Any] = {"help": help_text}
    if plain in (int, float, int | None, float | None):
        options |= {"min": low, "max": high}
    words = _words(rule)
    if words and plain in (str, str | None):
        return Annotated[plain, typer.Option(help=help_text, metavar="|".join(words), callback=_one_of(words))]
    return Annotated[plain, typer.Option(**options)]


def _words(rule: Rule | None) -> list[str]:
    """The words that a rule allows."""
    parts = rule.rules if isinstance(rule, Either) else (rule,)
    return [word for part in parts if isinstance(part, OneOf) for word in part.values if isinstance(word, str)]


def _one_of(words: list[str]) -> Callable[[str | None], str | None]:
    def check(word: str | None) -> str | None:
        if word is not None and word not in words:
            raise typer.BadParameter(f"{word!r} is not one of {', '.join(map(repr, words))}.")
        return word

    return check
