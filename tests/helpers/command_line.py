"""How a command ended."""

from typing import NamedTuple


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def failed(ended, *words):
    """Tell whether the command failed with one sentence that holds the words."""
    assert ended.code == 1, ended
    assert ended.out == ""
    assert ended.err.count("\n") == 1, ended.err
    assert ended.err.startswith("Error: ")
    assert "Traceback" not in ended.err
    for word in words:
        assert word in ended.err
    return True
