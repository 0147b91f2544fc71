"""Checks of what comes from outside, and the sentences that say what is wrong with it."""

from importlib import import_module
from types import ModuleType


def require(module: str, extra: str) -> ModuleType:
    """Import a module that needs an optional package.

    Parameters
    ----------
    module : str
        Full name of the module: the optional package itself, or one of unmingle's modules that imports it.
    extra : str
        The extra of unmingle that installs the package.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    ImportError
        The package is not installed; the message names the command that installs it.

    Examples
    --------
    >>> require("json", extra="cli").dumps([1])
    '[1]'
    >>> require("no_such_package", extra="cli")
    Traceback (most recent call last):
    ImportError: no_such_package is not installed; install it with: pip install 'unmingle[cli]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or module).partition(".")[0]
        if package == "unmingle":
            raise
        message = f"{package} is not installed; install it with: pip install 'unmingle[{extra}]'"
        raise ImportError(message, name=package) from error
