"""The films that are written: background, foreground and mask."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from ...media import FrameWriter, MediaError, open_writer
from ._result import Separation

FILMS = ("background", "foreground", "mask")


class Films:
    """The films that are written: background, foreground and mask, as far as wanted.

    Parameters
    ----------
    paths : mapping of str to Path
        Where to write which of them.
    rate : float, optional
        Frames in a second.
    """

    def __init__(self, paths: Mapping[str, Path], rate: float | None) -> None:
        self._writers: dict[str, FrameWriter] = {}
        self._failed: set[str] = set()
        self.kept: dict[str, Path] = {}
        try:
            for name, path in paths.items():
                self._writers[name] = open_writer(path, rate=rate)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, found: Separation) -> None:
        """Write what was found in a frame."""
        for name, writer in self._writers.items():
            try:
                writer.write(getattr(found, name), found.time)
            except MediaError:
                self._failed.add(name)
                raise

    def close(self) -> list[MediaError]:
        """Finish all films and return why some could not be finished; a film that failed before is not told again."""
        errors = []
        for name, writer in self._writers.items():
            try:
                writer.close()
                if writer.n_written and name not in self._failed:
                    self.kept[name] = writer.path
            except MediaError as error:
                if name not in self._failed:
                    errors.append(error)
        self._writers.clear()
        return errors
