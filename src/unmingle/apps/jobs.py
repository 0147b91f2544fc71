"""What all jobs share: requests that are refused before the work begins, and warnings and figures in words."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os.path import realpath
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any


class RequestError(ValueError):
    """A file that cannot be written where it is wanted, or settings that exclude each other, in one sentence.

    Attributes
    ----------
    is_usage : bool
        Whether the request itself is wrong, such as a file that would take the place of another one.
    """

    def __init__(self, template: str, *, is_usage: bool, names: Mapping[str, str], **values: object) -> None:
        super().__init__(template.format(**names, **values))
        self.is_usage = is_usage
        self._template, self._names, self._values = template, names, values

    def renamed(self, rename: Callable[[str], str]) -> str:
        """The sentence with other names for settings, outputs and inputs, such as the options of a command."""
        names = {key: rename(name) for key, name in self._names.items()}
        return self._template.format(**names, **self._values)


def refuse(template: str, *names: str) -> RequestError:
    """A request that contradicts itself; the template has {0}, {1} ... for the names of settings."""
    return RequestError(
        template.replace("{", "{name_"), is_usage=True, names={f"name_{n}": name for n, name in enumerate(names)}
    )


@contextmanager
def sentences_of_warnings() -> Iterator[list[str]]:
    """Collect what the work warns users of, to be said in its result; other warnings are issued as usual."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield found
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            found.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def check_outputs(
    outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None], *, may_be_folders: tuple[str, ...] = ()
) -> None:
    """See to it that every file can be written, and that none takes the place of another one.

    Parameters
    ----------
    outputs, inputs : mappings of name to path
        The files of the work, None where there is none of a name.
    may_be_folders : tuple of str
        Outputs that may be folders.
    """
    taken = {realpath(path): name for name, path in inputs.items() if path is not None}
    for name, path in outputs.items():
        if path is None:
            continue
        if (other := taken.get(realpath(path))) is not None:
            sentence = "{name} {path} is the same as {other}; give it another name."
            raise RequestError(sentence, is_usage=True, names={"name": name, "other": other}, path=path)
        if path.is_dir() and name not in may_be_folders:
            sentence = "{name} {path} is a folder; give the name of a file."
            raise RequestError(sentence, is_usage=True, names={"name": name}, path=path)
        taken[realpath(path)] = name
    for name, path in outputs.items():
        if path is not None:
            _make_writable(path.parent, f"{path} cannot be written: ", name)


def make_folder(folder: Path, name: str) -> Path:
    """Make a folder, if need be, and see to it that files can be written there."""
    _make_writable(folder, "", name)
    return folder


def _make_writable(folder: Path, before: str, name: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        sentence = "{before}{folder} is not a folder that can be written to ({reason}); choose another {name}."
        raise RequestError(
            sentence, is_usage=False, names={"name": name}, before=before, folder=folder, reason=error.strerror
        ) from error


def solver_text(figures: Mapping[str, Any]) -> dict[str, str]:
    """What a solver says of its answer, in words."""
    state = "converged" if figures["converged"] else "not converged"
    return {
        "rank": str(figures["rank"]),
        "penalties": f"rank {figures['rank_penalty']:.4g}, outliers {figures['outlier_penalty']:.4g}",
        "relative gap": f"{figures['gap']:.1e}",
        **({"stationarity": f"{figures['stationarity']:.1e}"} if "stationarity" in figures else {}),
        "iterations": f"{figures['iterations']}, {state}",
    }
