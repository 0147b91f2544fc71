"""Adapt to this song: spectra of the accompaniment, learnt while it plays or from a passage without voice."""

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np

from ..._rules import ArrayOf, Count, Record, Rule
from ..._threads import limit_blas_threads
from ..._types import AnyArray
from ..._validation import check_count
from ...core.solvers.nonnegative import nonnegative_newton
from ._factors import nmf_of
from ._method import Method, Parts
from ._penalties import for_level_one
from ._spectra import LOUDEST, SPECTRA, Spectra
from ._stft import BINS

SIGMA, WINDOW = 0.3, 100
"""Penalties are those of a window of so many frames. Chosen among 0.03, 0.1, 0.3 and 30, 100, 400 on 17 training clips
of MIR-1K: best for the worse of their two singers."""
BATCH = 8
"""Frames of a lesson; chosen there, too, among 4 to 32."""
_NEVER = 1e6
"""An outlier penalty that nothing is worth."""


class Adaptive(Method):
    """Nonnegative spectra that follow the song, learnt by `Spectra`; nothing is trained beforehand.

    A frame x, over the running level, is taken apart by the present spectra U (q of them)::

        min over s, o >= 0 of  1/2 ||x - Us - o||^2 + lam_*/2 ||s||^2 + lam sum(o)

    Us is music, o is voice. After every 8 frames U learns from them. Before the first lesson, 0.13 s, all is music.
    After `learn`, U is that of the passage without voice and stays.
    """

    name: ClassVar = "adapt"
    summary: ClassVar = "learns the accompaniment of this song while it plays, frame by frame"
    streams: ClassVar = True

    def __init__(self, n_components: int = 25) -> None:
        self.n_components = check_count(n_components, "n_components", BINS)
        self._penalties = for_level_one(SIGMA, WINDOW)
        self._taught: AnyArray | None = None
        self.reset()

    def reset(self) -> None:
        """Forget the song, but not what `learn` was told."""
        self._spectra: Spectra | None = None
        self._waiting: list[AnyArray] = []

    def learn(self, magnitudes: AnyArray) -> None:
        """Take the spectra from frames without voice, by NMF; they stay."""
        self._taught = nmf_of(magnitudes, self.n_components, SIGMA, _NEVER).components_
        self._waiting = []

    def parts(self, magnitudes: AnyArray) -> Parts:
        """The parts of each frame, by what the frames before it taught."""
        with limit_blas_threads(magnitudes.size):
            return self._learning(magnitudes) if self._taught is None else self._by(self._taught, magnitudes)

    def _learning(self, magnitudes: AnyArray) -> Parts:
        """Take apart, learn from it, and so on."""
        blocks, done = [], 0
        while done < len(magnitudes):
            block = magnitudes[done : done + BATCH - len(self._waiting)]
            blocks.append(self._by(magnitudes[:0] if self._spectra is None else self._spectra.components, block))
            self._take_in(block)
            done += len(block)
        return Parts(*map(np.concatenate, zip(*blocks, strict=True))) if blocks else Parts(magnitudes, magnitudes)

    def _by(self, components: AnyArray, magnitudes: AnyArray) -> Parts:
        """The parts by these spectra; without any all is music."""
        if not len(components):
            return Parts(np.zeros_like(magnitudes), magnitudes)
        rank_penalty, lam = self._penalties
        penalty = np.full(magnitudes.shape[1], lam, magnitudes.dtype)
        one_by_one = (  # rounded alike, whether frames come one by one or together
            next(nonnegative_newton(frame[None], components, rank_penalty, penalty)).codes for frame in magnitudes
        )
        codes = np.concatenate(list(one_by_one))
        music = codes.astype(np.float64) @ components.astype(np.float64)
        return Parts(np.maximum(magnitudes - music - lam, 0).astype(magnitudes.dtype), music.astype(magnitudes.dtype))

    def _take_in(self, block: AnyArray) -> None:
        """Let frames wait until they are a lesson."""
        self._waiting = [*self._waiting, *block]
        if len(self._waiting) == BATCH:
            lesson, self._waiting = np.stack(self._waiting), []
            if lesson.any():
                self._spectra = copy(self._spectra) or Spectra.none(lesson.shape[1])
                self._spectra.learn(lesson, self.n_components, self._penalties)

    def _to_store(self) -> dict[str, Any]:
        content: dict[str, Any] = {"n_components": self.n_components}
        if self._waiting:
            content["waiting"] = np.stack(self._waiting)
        if self._taught is not None:
            content["taught"] = self._taught
        if self._spectra is not None:
            content["spectra"] = self._spectra._to_store()
        return content

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        method = cls(content["n_components"])
        method._waiting, method._taught = list(content.get("waiting", ())), content.get("taught")
        if len(method._waiting) >= BATCH:
            raise ValueError(f"at most {BATCH - 1} frames wait for the next lesson, not {len(method._waiting)}")
        if "spectra" in content:
            method._spectra = Spectra._from_store(content["spectra"])
            if len(method._spectra.components) > method.n_components:
                raise ValueError(f"there should be at most {method.n_components} spectra")
        return method

    @classmethod
    def _schema(cls, content: Any) -> Rule:
        frames, taught = (ArrayOf(("float32",), count, "m", low=0.0, high=LOUDEST) for count in ("frames", "taught"))
        return Record({"n_components": Count(1, BINS)}, {"waiting": frames, "taught": taught, "spectra": SPECTRA})
