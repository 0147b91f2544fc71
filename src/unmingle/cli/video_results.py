"""What `unmingle video` leaves behind: films, events, a report and a model."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from ..apps.video import Stream
from ..store import StoreError, write_atomically
from .events import write_events
from .video_report import write_page
from .watching import FILMS, Watched


@dataclass(frozen=True)
class Targets:
    """Where results go, as far as wanted."""

    background: Path | None = None
    foreground: Path | None = None
    mask: Path | None = None
    events: Path | None = None
    report: Path | None = None
    model: Path | None = None

    def wanted(self) -> dict[str, Path]:
        """The results that are wanted."""
        return {name: path for name, path in asdict(self).items() if path is not None}

    def films(self) -> dict[str, Path]:
        """The films among them."""
        return {name: path for name, path in self.wanted().items() if name in FILMS}

    def check(self) -> None:
        """Make sure, before the work begins, that all files can be written; films check that themselves."""
        for name, path in self.wanted().items():
            if name not in FILMS:
                _check_place(path)


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise StoreError(f"{path} cannot be written: it is a folder; give it another name.")
    if not path.parent.is_dir():
        raise StoreError(f"{path} cannot be written: the folder {path.parent} does not exist; create it first.")
    try:
        with TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}.") from error


def write_results(targets: Targets, name: str, stream: Stream, watched: Watched, keep_model: bool) -> dict[str, Path]:
    """Write all but the films; a failure of one does not keep the others from being written.

    Every failure is kept. Returns what was written.
    """
    ways: dict[str, Callable[[Path], None]] = {
        "events": lambda path: write_events(path, watched.finder.rows()),
        "report": lambda path: _write_text(path, write_page(name, stream, watched)),
    }
    if keep_model:
        ways["model"] = stream.save
    written = {}
    for result, path in targets.wanted().items():
        if result not in ways:
            continue
        try:
            ways[result](path)
            written[result] = path
        except (StoreError, OSError) as error:
            watched.failures.append(error)
    return written


def _write_text(path: Path, text: str) -> None:
    with write_atomically(path) as aside:
        aside.write_text(text, encoding="utf-8")


def kept_sentence(sentence: str, kept: Mapping[str, Any]) -> str:
    """Add to a sentence where to find what was done before."""
    places = ", ".join(str(path) for path in kept.values())
    return f"{sentence.rstrip('. ')}; what was found up to there is kept in {places}." if places else sentence
