"""Options made from the fields of dataclasses: their limits, words, defaults and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, get_args

import pytest
import typer
from typer.testing import CliRunner

from unmingle._fields import check_settings
from unmingle._rules import Count, Number, OneOf, maybe
from unmingle.cli._shared.declare import with_options


@dataclass(frozen=True)
class Outputs:
    mask: Annotated[Path | None, "Write the mask."] = None


@dataclass(frozen=True)
class Settings:
    n_components: Annotated[int, Count(1, 32), "Most components of the background."] = 5
    motion: Annotated[str | None, maybe(OneOf("shift", "turn")), "How the camera may move."] = None
    forgetting: Annotated[float, Number(0.0, 1.0, above=True), "Weight that the past keeps."] = 0.99
    shadows: Annotated[bool, "Whether shadows count."] = False
    random_state: int = 0

    def __post_init__(self) -> None:
        check_settings(self)


@pytest.fixture
def run():
    seen = {}

    def command(film: str, outputs: Outputs, settings: Settings, quiet: bool = False) -> None:
        seen.update(film=film, outputs=outputs, settings=settings, quiet=quiet)

    app = typer.Typer(rich_markup_mode=None)
    app.command()(with_options(command, without=["random_state"]))

    def call(*arguments):
        seen.clear()
        return CliRunner().invoke(app, arguments), dict(seen)

    return call


def test_defaults_are_those_of_the_fields(run):
    ended, seen = run("a.mp4")
    assert ended.exit_code == 0, ended.output
    assert seen == {"film": "a.mp4", "outputs": Outputs(), "settings": Settings(), "quiet": False}


def test_options_reach_the_fields(run):
    _, seen = run("a.mp4", "--mask", "m.mp4", "--n-components", "3", "--motion", "turn", "--shadows", "--quiet")
    assert seen["outputs"] == Outputs(Path("m.mp4"))
    assert seen["settings"] == Settings(3, "turn", 0.99, True)
    assert seen["quiet"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--n-components", "33"], "--n-components"),
        (["--motion", "jump"], "'jump' is not one of 'shift', 'turn'."),
        (["--forgetting", "0"], "forgetting must be a number above 0 and at most 1, got 0.0."),
    ],
)
def test_what_is_not_allowed_is_said_before_the_command_runs(run, arguments, told):
    ended, seen = run("a.mp4", *arguments)
    assert ended.exit_code == 2
    assert told in " ".join(ended.output.split())
    assert not seen


def test_help_is_that_of_the_fields(run):
    text = run("--help")[0].output
    assert "Most components of the background." in text
    assert "random-state" not in text


def test_given_options_have_the_help_of_their_fields_unless_they_bring_their_own():
    given = {
        "n_components": Annotated[int, typer.Option("--components")],
        "shadows": Annotated[bool, typer.Option("--keep-shadows", help="Keep shadows.")],
        "random_state": Annotated[int, typer.Option("--seed")],
    }

    def command(settings: Settings) -> None: ...

    annotations = with_options(command, given=given).__annotations__
    helps = {name: get_args(annotations[name])[1].help for name in given}
    assert helps == {
        "n_components": "Most components of the background.", "shadows": "Keep shadows.", "random_state": None
    }  # fmt: skip
    assert get_args(given["n_components"])[1].help is None
