"""Names of a package that are imported when they are first used, so that importing it costs nothing."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its full name.
    homes : mapping
        For each name the module it lives in, below the package; "" for a name that is a module itself.

    Examples
    --------
    In the ``__init__.py`` of a package::

        __getattr__, __dir__ = lazy_names(__name__, {"Stream": "stream", "Settings": "settings"})
    """

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        return getattr(import_module(f"{package}.{home}"), name) if home else import_module(f"{package}.{name}")

    def __dir__() -> list[str]:
        return sorted(homes)

    return __getattr__, __dir__
