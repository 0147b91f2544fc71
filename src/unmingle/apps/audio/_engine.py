"""The way of a block of sound through analysis, mask and synthesis, whatever method makes the mask."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ..._rules import ArrayOf, Count
from ..._types import Array
from .masks import PASSAGES, Masker, PassageMasks, RunningMasks, extend_mask
from .method import Method
from .methods import high_pass_of
from .stft import LOUDEST_BIN, Frames, Spectra, Transform, magnitudes_of, over_level

_TOGETHER = 64
"""Frames of a passage that are made sound together."""


def samples_of(count: str) -> ArrayOf:
    """The rule of samples in a file."""
    return ArrayOf(("float32",), count, "channels", low=-LOUDEST_BIN, high=LOUDEST_BIN)


class Stems(NamedTuple):
    """Voice and music; they add up to the sound that was given."""

    voice: Array
    music: Array


@dataclass(frozen=True, eq=False)
class EngineState:
    """Where a sound is on its way: nothing in it is ever written to."""

    held: Annotated[Array, samples_of("held")]
    """The samples from the first frame on that has no mask yet: the one delay line of the sound. A passage that waits
    is held as samples, for its spectra would take four times the room."""
    tail: Annotated[Array, samples_of("tail")]
    """What the frames so far leave to samples that are not complete."""
    early: Annotated[int, Count()]
    """Samples of the synthesis still to come that lie before the first one of the sound."""
    waiting: int = 0
    """Frames of the held samples that were analysed already, and wait for their masks; none if the method streams."""
    masks: Any = None
    """What the masks remember."""


@dataclass(frozen=True, eq=False)
class Engine:
    """Separates samples (n, channels) that come block by block; stems follow as soon as they are known.

    All channels get the same mask, from the root of their mean power in each bin. Bins above 8 kHz follow those below.
    The voice is what the mask lets through; the music is the rest, so that both add up to the input. The engine itself
    never changes: where a sound is on its way is an `EngineState`, which `step` takes and gives.
    """

    transform: Transform
    masker: Masker
    voiceless: int
    """Bins, the lowest, without voice."""

    @classmethod
    def of(
        cls, method: Method, rate: float, channels: int, dtype: DTypeLike, high_pass: float | str | None,
        *, low_latency: bool = False,
    ) -> "Engine":  # fmt: skip
        """An engine with the masks that suit the method."""
        frames, hertz = Frames.of(rate, low_latency=low_latency), high_pass_of(method, high_pass)
        masker: Masker = RunningMasks(method) if method.streams else PassageMasks(method, PASSAGES)
        voiceless = 0 if hertz is None else int(np.searchsorted(frames.frequencies(), hertz))
        return cls(Transform.of(frames, channels, dtype), masker, voiceless)

    def start(self) -> EngineState:
        """Before the first sample."""
        frames, silence = self.transform.frames, self.transform.silence
        late = frames.span - frames.hop
        return EngineState(self.transform.silence_before(), silence(late), late, masks=self.masker.start())

    def step(self, state: EngineState, block: Array) -> tuple[EngineState, Stems]:
        """Take in samples: the state after them, and those stems that are known by now."""
        signal, transform = np.concatenate([state.held, block]), self.transform
        fresh = transform.count(signal) - state.waiting
        if not fresh:
            return replace(state, held=signal), Stems(signal[:0], signal[:0])
        spectra = transform.analyse(signal[state.waiting * transform.frames.hop :], fresh)
        masks, mask = self.masker.step(state.masks, magnitudes_of(spectra, transform.frames))
        state = EngineState(signal, state.tail, state.early, state.waiting + fresh, masks)
        return self._emit(state, mask, None if self.masker.waits else spectra)

    def finish(self, state: EngineState) -> Stems:
        """Stems of all that is left; the sound ends here."""
        left = len(state.held) - self._first_due(state)
        state, before = self.step(state, self.transform.silence_behind())
        _, after = self._emit(state, self.masker.finish(state.masks))
        return Stems(*(np.concatenate(pair)[:left] for pair in zip(before, after, strict=True)))

    def knowing(self, state: EngineState, samples: Array) -> "Engine":
        """The engine whose method has learnt from a passage without voice, over its own running level."""
        signal, transform = np.concatenate([state.held, samples]), self.transform
        magnitudes = magnitudes_of(transform.analyse(signal, transform.count(signal)), transform.frames)
        if not magnitudes.any():
            raise ValueError("The passage without voice is silent or too short: there is nothing to learn from.")
        return replace(self, masker=replace(self.masker, method=self.masker.method.learn(over_level(magnitudes))))

    def _first_due(self, state: EngineState) -> int:
        """Where in the held samples the first one is whose stems have not come out."""
        frames = self.transform.frames
        return frames.window - frames.span + state.early

    def _emit(self, state: EngineState, mask: Array, spectra: Spectra | None = None) -> tuple[EngineState, Stems]:
        """Apply masks to the frames that have waited longest, whose spectra may be known still."""
        count, hop = len(mask), self.transform.frames.hop
        if spectra is not None:
            tail, voice = self._voice(state.tail, spectra, mask)
        else:
            tail, voices = state.tail, [state.held[:0]]
            for i in range(0, count, _TOGETHER):
                part = mask[i : i + _TOGETHER]
                again = self.transform.analyse(state.held[i * hop :], len(part))
                tail, completed = self._voice(tail, again, part)
                voices.append(completed)
            voice = np.concatenate(voices)
        skipped = min(state.early, len(voice))
        voice, begin = voice[skipped:], self._first_due(state)
        sound = state.held[begin : begin + len(voice)]
        left = EngineState(state.held[count * hop :], tail, state.early - skipped, state.waiting - count, state.masks)
        return left, Stems(voice, sound - voice)

    def _voice(self, tail: Array, spectra: Spectra, mask: Array) -> tuple[Array, Array]:
        """The tail that these frames leave, and the voice that they complete."""
        full = extend_mask(mask, self.transform.frames.bins, self.voiceless)
        return self.transform.synthesise(tail, spectra * full[:, None, :])
