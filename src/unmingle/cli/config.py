"""Files of settings: what the options of a command are where the command line does not say."""

import tomllib
from pathlib import Path
from typing import Any

import typer

NO_SETTINGS = frozenset({"as_json", "config", "help", "quiet"})
"""Options that a file cannot hold."""
WORDS = ("a word", (str,))
NUMBER = ("a number", (int, float))
KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "boolean": ("true or false", (bool,)),
    "integer": ("a whole number", (int,)),
    "integer range": ("a whole number", (int,)),
    "float": NUMBER,
    "float range": NUMBER,
    "penalty": ('a number or "auto"', (int, float, str)),
}
"""What the options take, by the name of their type; all others take words."""


class ConfigError(ValueError):
    """A file of settings that cannot be used, with the reason in one sentence."""


def take_settings(ctx: typer.Context, path: Path | None) -> Path | None:
    """Make the settings in a TOML file the defaults of the command that is being read.

    Parameters
    ----------
    ctx : typer.Context
        The command; its option for the file must be eager, so that all others are read later.
    path : Path, optional
        The file. Its keys are the names of options, with hyphens or underscores.

    Returns
    -------
    Path or None
        The path.

    Raises
    ------
    ConfigError
        The file is missing or no TOML, or holds an unknown key or a value that the option does not take.
    """
    if path is None:
        return None
    known = {
        option.name: option
        for option in ctx.command.params
        if option.name not in NO_SETTINGS and option.param_type_name == "option"
    }
    settings: dict[str, Any] = {}
    for key, value in _read(path).items():
        name = key.replace("-", "_")
        if name not in known:
            names = ", ".join(str(option).replace("_", "-") for option in known)
            raise ConfigError(f"{path}: there is no setting {key!r}; expected some of {names}.")
        if name in settings:
            raise ConfigError(f"{path}: the setting {key!r} is there twice, with a hyphen and with an underscore.")
        _check(path, key, value, known[name], ctx)
        settings[name] = value
    ctx.default_map = {**(ctx.default_map or {}), **settings}
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ConfigError(f"{path} does not exist.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}.") from None


def _check(path: Path, key: str, value: Any, option: Any, ctx: typer.Context) -> None:
    """See to it that the option takes the value."""
    wanted, types = KINDS.get(option.type.name, WORDS)
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise ConfigError(f"{path}: {key} must be {wanted}; got {value!r}.")
    try:
        option.type.convert(value, option, ctx)
    except typer.BadParameter as error:
        raise ConfigError(f"{path}: {key} cannot be {value!r}: {error.message}") from None
