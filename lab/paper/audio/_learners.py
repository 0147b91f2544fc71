"""Rows that have learnt: from mixtures, from sources, or before they came here."""

from collections.abc import Callable, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from unmingle import load
from unmingle.apps.audio import Method
from unmingle.apps.audio.networks import Encoded, load_shipped, path_of_shipped
from unmingle.apps.audio.settings import SHIPPED
from unmingle.apps.audio.training.plain import (
    PLAIN,
    known_frames,
    mixture_frames,
    supervised_encoder,
    unsupervised_encoder,
    untrained_encoder,
)
from unmingle.apps.audio.training.stems import StemPair
from unmingle.core.encoder.encoder import Encoder

from ..voice_networks import GRU, OURS, RIVALS, trained
from ._clips import Clip
from ._rows import OURS_AND_GRU, SUPERVISED, UNSUPERVISED, UNTRAINED

CHOSEN = (
    "Penalties were chosen on the training clips: learnt from one of the two singers, judged by 11 clips of the other, "
    "by the unsupervised encoder on the worse of the two. 8 and 0.2 give 4.3 dB, the best of 15 pairs from 5 to 30 "
    "and from 0.1 to 0.8. 13 and 0.4, with a higher mean, have 3.6 dB there. Training on sources starts from 20 and "
    "0.8, the best of five pairs by the mean of three: each singer, or a fifth of the songs, left out."
)
"""How these numbers were found; Wiener mask, high-pass of 100 Hz."""
WITHOUT_TORCH = (
    "Rows that are trained here are left out: training needs PyTorch, pip install torch. "
    "The same command adds them later."
)


class Learners:
    """Methods by the names of their rows; each learns when it is first asked for.

    Parameters
    ----------
    clips : sequence of Clip
        To learn from.
    out : path
        Folder for the encoders.
    max_steps : int
        Training steps of each.
    """

    def __init__(self, clips: Sequence[Clip], out: Path, max_steps: int) -> None:
        self._clips, self._out, self._steps = clips, out, max_steps
        self._makers: dict[str, Callable[[], Method]] = {
            UNTRAINED: lambda: Encoded(self._untrained),
            UNSUPERVISED: lambda: Encoded(self._kept(UNSUPERVISED, self._unsupervised)),
            SUPERVISED: lambda: Encoded(self._kept(SUPERVISED, self._supervised)),
            **{row: self._rival(name) for row, name in zip(OURS_AND_GRU, (OURS, GRU), strict=True)},
            **{name: self._shipped(name) for name in SHIPPED},
        }

    def __contains__(self, row: str) -> bool:
        return row in self._makers

    def __getitem__(self, row: str) -> Method:
        return self._makers[row]()

    def origin(self, row: str) -> str:
        """What a row depends on, in short."""
        if row in SHIPPED:
            return sha256(path_of_shipped(row).read_bytes()).hexdigest()[:16]
        told = [
            row,
            PLAIN.n_components,
            PLAIN.n_layers,
            PLAIN.frames,
            PLAIN.rank_penalty,
            PLAIN.source_penalties,
            PLAIN.outlier_penalty,
            [one.described() for one in self._clips],
        ]
        if row != UNTRAINED:
            told += [self._steps, PLAIN.step_size, PLAIN.source_penalties, repr(RIVALS)]
        return sha256(repr(told).encode()).hexdigest()[:16]

    @cached_property
    def _pairs(self) -> list[StemPair]:
        return [clip.pair() for clip in self._clips]

    @cached_property
    def _untrained(self) -> Encoder:
        return self._kept(UNTRAINED, lambda: untrained_encoder(self._frames))

    @cached_property
    def _frames(self) -> NDArray[Any]:
        return mixture_frames(pair.voice + pair.music for pair in self._pairs)

    def _unsupervised(self) -> Encoder:
        return unsupervised_encoder(self._untrained, self._frames, self._steps)

    def _supervised(self) -> Encoder:
        start = untrained_encoder(self._frames, *PLAIN.source_penalties)
        return supervised_encoder(start, known_frames(self._pairs), self._steps)

    def _kept(self, row: str, make: Callable[[], Encoder]) -> Encoder:
        """The encoder that an earlier call has left, or a new one."""
        path = self._out / f"audio_{row.split()[0]}_{self.origin(row)[:8]}.safetensors"
        if not path.exists():
            make().save(path)
        found: Encoder = load(path)
        return found

    def _rival(self, name: str) -> Callable[[], Method]:
        return lambda: trained(RIVALS[name], self._pairs, self._steps, 0)

    def _shipped(self, name: str) -> Callable[[], Method]:
        return lambda: load_shipped(name)
