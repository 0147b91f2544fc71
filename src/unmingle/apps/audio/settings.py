"""What can be chosen when songs are separated: where results go, and how voice is told from music."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from ..._fields import check_settings
from ..._rules import Number, OneOf, Rule
from ..._validation import check_choice

STEMS = ("voice", "music")
"""What a song is taken apart into."""
FORMATS = ("flac", "wav", "mp3", "ogg", "opus")
SHIPPED = ("voice", "phone")
"""Networks that come with unmingle, the best one first."""
NAMES = (*SHIPPED, "pcp", "proximal", "nmf", "adapt")
"""Methods that need nothing but their name, the default first."""


class _SomeStems(Rule):
    """Which stems to write."""

    wanted = "'voice', 'music' or both"

    def fits(self, value: Any, sizes: Any) -> bool:
        """Whether each is known and named once."""
        some = isinstance(value, tuple) and 0 < len(value) == len(set(value))
        return some and set(value) <= set(STEMS)


HERTZ = Number(0.0)
"""Frequencies below which there is no voice."""


@dataclass(frozen=True)
class Outputs:
    """Where the stems go; without a folder they stay in memory."""

    folder: Path | str | None = None
    """Folder for the stems."""
    format: Annotated[
        str,
        OneOf(*FORMATS),
        "Format of the stems; flac and wav are lossless, wav is never scaled; opus takes 48000 Hz, but not 44100.",
    ] = "flac"
    stems: Annotated[tuple[str, ...], _SomeStems(), "What to write."] = STEMS
    report: Annotated[bool, OneOf(True, False), "Write a page for each song, with sounds and spectrograms."] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "stems", tuple(self.stems))
        check_settings(self)
        if self.report and self.folder is None:
            raise ValueError("A report needs a folder to be written to; give one.")


@dataclass(frozen=True)
class Settings:
    """How voice is told from music."""

    method: Any = None
    """A name in `NAMES`, a `Method` with settings of its own, or a model such as an `unmingle.Encoder`; None for
    "voice", and for "adapt" where ``no_voice`` is given."""
    high_pass: float | str | None = "auto"
    """Hertz below which everything is music; "auto" for what suits the method, None for no limit."""
    no_voice: tuple[float, float] | None = None
    """Start and end, in seconds, of a passage without voice that the method "adapt" learns the music from."""

    def __post_init__(self) -> None:
        if isinstance(self.method, str):
            check_choice(self.method, "method", NAMES)
