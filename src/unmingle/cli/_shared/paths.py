"""Where results go: checked before the work begins, in the words of the command line."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import typer

from ...apps.jobs import RequestError, check_outputs, make_folder


def ready_outputs(
    outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None], *, may_be_folders: tuple[str, ...] = ()
) -> None:
    """Check the files of a command, named by their options; see `unmingle.apps.jobs.check_outputs`."""
    try:
        check_outputs(outputs, inputs, may_be_folders=may_be_folders)
    except RequestError as error:
        if error.is_usage:
            raise typer.BadParameter(str(error)) from None
        raise


def ready_folder(folder: Path, option: str = "--out") -> Path:
    """Make the folder, if need be, and see to it that files can be written there."""
    return make_folder(folder, option)


@contextmanager
def named_as_options(inputs: Mapping[str, str]) -> Iterator[None]:
    """Say which files cannot be written by the options of the command, and by its arguments for the inputs.

    Parameters
    ----------
    inputs : mapping of str to str
        What the command calls the inputs, such as "TABLE" for "the source".
    """
    try:
        yield
    except RequestError as error:
        sentence = error.renamed(lambda name: inputs.get(name, f"--{name}"))
        if error.is_usage:
            raise typer.BadParameter(sentence) from None
        raise ValueError(sentence) from error
