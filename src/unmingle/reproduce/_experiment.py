"""What an experiment offers to whoever starts it by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..iterate import Callback

Table = tuple[list[str], list[list[str]]]
"""Head and rows."""


@dataclass(frozen=True)
class Experiment:
    """An experiment by its name; what it needs is imported when it is run."""

    name: str
    help: str
    """What it is about, in a few words."""
    home: str
    """The module of this package with its functions `run` and `tables`."""

    def run(
        self, folder: Path, out: Path, *, max_steps: int, n_jobs: int = 1, callback: "Callback | None" = None
    ) -> dict[str, Any]:
        """Run it on the data in a folder; return its figures, which are also in ``out``, with a page.

        Parameters
        ----------
        folder : path
            With the data.
        out : path
            Where files go: the figures, ``<name>.json``, and the page, ``<name>.html``.
        max_steps : int
            Training steps of each encoder.
        n_jobs : int
            Processes, for experiments of many parts.
        callback : callable, optional
            Called with an `unmingle.iterate.Progress` now and then; its answer does not count.
        """
        return self._functions.run(folder, out, max_steps=max_steps, n_jobs=n_jobs, callback=callback)

    def tables(self, figures: Mapping[str, Any]) -> list[Table]:
        """The figures in short."""
        return self._functions.tables(figures)

    @property
    def _functions(self) -> Any:
        return import_module(f"{__package__}.{self.home}")
