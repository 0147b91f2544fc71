"""What can be chosen: where results go, how voice is told from music, and how networks for that are trained."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from ..._fields import check_settings
from ..._rules import Count, Number, OneOf, Rule, maybe
from ..._validation import check_choice

STEMS = ("voice", "music")
"""What a song is taken apart into."""
FORMATS = ("flac", "wav", "mp3", "ogg", "opus")
SHIPPED = ("voice", "phone")
"""Networks that come with unmingle, the best one first."""
NETWORKS = (*SHIPPED, "plain")
"""Networks that can be trained: those that come with unmingle, and that of the paper."""
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


@dataclass(frozen=True)
class TrainingSettings:
    """Which network is trained on songs, and how."""

    network: Annotated[
        str,
        OneOf(*NETWORKS),
        "voice: the best network; phone: a smaller one; plain: the paper's, with 25 components and 20 tied layers, one "
        "frame at a time.",
    ] = NETWORKS[0]
    loss: Annotated[
        str,
        OneOf("source", "unsupervised"),
        "source: learn from the true voice and music; unsupervised, with --network plain: from mixtures alone.",
    ] = "source"
    validate: str | None = None
    """Songs that are left out first, to see how well they are separated: "songs" for a fifth of them, "singers" for
    each singer in turn, or names; None to train on everything at once."""
    steps: Annotated[int | None, maybe(Count(1)), "Training steps; by default as many as the network needs."] = None
    half: Annotated[bool, OneOf(True, False), "Round numbers to 16 bits: half the size, nearly the same answers."] = (
        False
    )
    seed: Annotated[int, Count(), "Random seed: the same seed gives the same results."] = 0

    def __post_init__(self) -> None:
        check_settings(self)
        if self.loss == "unsupervised" and self.network != "plain":
            raise ValueError("The loss unsupervised goes with the network plain; others learn from sources.")
        if self.half and self.network == "plain":
            raise ValueError("half is for the networks voice and phone; a plain one is small as it is.")
