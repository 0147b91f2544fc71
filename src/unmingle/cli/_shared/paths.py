"""Where results go: checked before the work begins."""

from collections.abc import Mapping
from os.path import realpath
from pathlib import Path
from tempfile import TemporaryFile

import typer


def ready_outputs(
    outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None], *, may_be_folders: tuple[str, ...] = ()
) -> None:
    """See to it that every file can be written, and that none takes the place of another one of the command.

    Parameters
    ----------
    outputs, inputs : mappings of option to path
        The files of the command, None where an option was not given.
    may_be_folders : tuple of str
        Options whose output may be a folder.
    """
    taken = {realpath(path): option for option, path in inputs.items() if path is not None}
    for option, path in outputs.items():
        if path is None:
            continue
        if (other := taken.get(realpath(path))) is not None:
            raise typer.BadParameter(f"{option} {path} is the same as {other}; give it another name.")
        if path.is_dir() and option not in may_be_folders:
            raise typer.BadParameter(f"{option} {path} is a folder; give the name of a file.")
        taken[realpath(path)] = option
    for option, path in outputs.items():
        if path is not None:
            _make_writable(path.parent, f"{path} cannot be written: ", option)


def ready_folder(folder: Path, option: str = "--out") -> Path:
    """Make the folder, if need be, and see to it that files can be written there."""
    _make_writable(folder, "", option)
    return folder


def _make_writable(folder: Path, before: str, option: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = f"{folder} is not a folder that can be written to ({error.strerror}); choose another {option}."
        raise ValueError(before + reason) from error
