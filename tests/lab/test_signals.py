"""`python -m lab house` counts what it says, on a tree small enough to count by hand."""

import pytest

from lab.house import run, signals

MODULE = '''"""Told anew.

Second line.
"""

from typing import Any

__all__ = ["Thing", "make"]

MOST, _LEAST = 3, 1
"""Of so
many."""
limit: Any = None  # put aside


class Thing:
    """A thing."""

    def __init__(self, a, /, b, *, c):
        """Start."""
        self._a = a._replace(b=b)

    def reach(self, other: Any):
        return (
            other._a,
            super()._b,
            self._a,
        )


def make():
    return Thing(1, 2, c=3)._a
'''


@pytest.fixture
def package(tmp_path):
    package = tmp_path / "src" / "package"
    package.mkdir(parents=True)
    (package / "things.py").write_text(MODULE)
    (package / "_hidden.py").write_text('"""Hidden."""\n\n__all__ = ["one", "two"]\nASIDE_OF = MODULE = 1\n')
    (package / "__init__.py").write_text('from . import _hidden\n\n__all__ = ["things"]\n_hidden._told()\n')
    return package


def test_signals_of_a_small_tree(package):
    assert signals(package) == {
        "lines of code": 17 + 2 + 3,
        "files": 3,
        "public names": 3,
        "most arguments of a function": 4,
        "constants loose at the top of modules": 4,
        "uses of Any": 3,
        "reaches into others' private fields": 2,
        '"so many"': 1,
        '"anew"': 1,
        '"aside"': 2,
        "these words together": 4,
    }


def test_what_lies_beside_the_package_is_counted_too(package, capsys):
    tests = package.parents[1] / "tests"
    tests.mkdir()
    (tests / "test_things.py").write_text("import things\n\n\n# nothing yet\n")
    run(src=package)
    rows = dict(line.rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert rows == {**{what: str(count) for what, count in signals(package).items()}, "lines of code in tests": "1"}


def test_a_folder_without_source_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="contains no Python files"):
        run(src=tmp_path)
