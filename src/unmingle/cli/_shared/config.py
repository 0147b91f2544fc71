"""Files of settings: what the options of a command are where the command line does not say."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import typer

NO_SETTINGS = frozenset({"as_json", "config", "quiet"})
"""Options that a file cannot hold."""
KINDS: dict[Any, tuple[str, tuple[type, ...]]] = {
    bool: ("true or false", (bool,)),
    int: ("a whole number", (int,)),
    float: ("a number", (int, float)),
    Any: ("a number or a word", (int, float, str)),
}
"""What options take, by their types; all others take words."""


class ConfigError(ValueError):
    """A file of settings that cannot be used, with the reason in one sentence."""


def take_settings(ctx: typer.Context, path: Path, command: Callable[..., None]) -> None:
    """Make the settings in a TOML file the defaults of the command that is being read.

    Parameters
    ----------
    ctx : typer.Context
        The command; its option for the file must be eager, so that all others are read later.
    path : Path
        The file. Its keys are the names of options, with hyphens or underscores.
    command : callable
        The function of the command, whose annotations tell what its options take.

    Raises
    ------
    ConfigError
        The file is missing or no TOML, or holds an unknown key or a value that the option does not take.
    """
    types = get_type_hints(command)
    known = {
        str(option.name): option
        for option in ctx.command.params
        if option.param_type_name == "option" and option.name in types.keys() - NO_SETTINGS
    }
    settings: dict[str, Any] = {}
    for key, value in _read(path).items():
        name = key.replace("-", "_")
        if name not in known:
            names = ", ".join(known).replace("_", "-")
            raise ConfigError(f"{path}: unknown setting {key!r}; expected one of {names}.")
        if name in settings:
            raise ConfigError(f"{path}: the setting {key!r} is given twice, with a hyphen and with an underscore.")
        settings[name] = _checked(f"{path}: {key}", value, types[name])
        try:
            known[name].process_value(ctx, settings[name])
        except typer.BadParameter as error:
            raise ConfigError(f"{path}: {key} cannot be {value!r}: {error.message}") from None
    ctx.default_map = {**(ctx.default_map or {}), **settings}


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ConfigError(f"{path} does not exist.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}.") from None


def _checked(name: str, value: Any, hint: Any) -> Any:
    """Return the value as an option of this type takes it, or say what it takes."""
    kind = next((part for part in get_args(hint) if part is not NoneType), hint)
    wanted, types = KINDS.get(kind, ("a word", (str,)))
    if not isinstance(value, types) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(f"{name} must be {wanted}; got {value!r}.")
    return str(value) if kind is Any else value
