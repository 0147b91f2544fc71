"""`Stream`: separate sound as it comes."""

from os import PathLike
from typing import Any, Self

import numpy as np

from ... import store
from ..._rollback import unchanged_on_error
from ..._rules import Rule
from ..._types import AnyArray
from ..._validation import check_count
from ._engine import Engine, Stems
from ._level import Level
from ._maskers import AtOnce
from ._method import Method
from ._methods import as_method, high_pass_of
from ._samples import MOST_CHANNELS, as_samples
from ._stft import Frames
from ._storing import KIND, restored, schema_of, to_store


class Stream:
    """Separates sound that comes block by block into voice and music, looking at the past only.

    What comes out is late by ``latency`` samples: four hops, 64 ms, or two with low latency. Blocks may have any
    length; the stems are those that `separate` finds with the same method, to 1e-6.

    Parameters
    ----------
    rate : float
        Samples a second, 2000 to 768000.
    channels : int, default=1
        Number of channels; all get the same mask.
    method : str or Method, default="voice"
        How to tell voice from music; a method that streams. A method that was given belongs to this stream.
    high_pass : float, "auto" or None
        Hertz below which there is no voice; "auto" for what helps the method, None for no limit.
    low_latency : bool, default=False
        Whether stems come after 32 ms instead of 64, from spectra that are a little less sharp.

    Attributes
    ----------
    latency : int
        Samples by which the stems are late.
    frames : Frames
        How the sound is cut into frames.

    Examples
    --------
    >>> from unmingle import synth
    >>> song = synth.song(4.0, random_state=0)
    >>> stream = Stream(song.rate)
    >>> blocks = [stream.push(song.mixture[i : i + 1000]) for i in range(0, song.mixture.size, 1000)]
    >>> blocks.append(stream.flush())
    >>> voice = np.concatenate([block.voice for block in blocks])[stream.latency :]
    >>> voice.shape == song.mixture.shape, stream.latency
    (True, 1024)
    """

    def __init__(
        self, rate: float, *, channels: int = 1, method: str | Method = "voice", high_pass: float | str | None = "auto",
        low_latency: bool = False,
    ) -> None:  # fmt: skip
        self.method = as_method(method)
        if not self.method.streams:
            raise ValueError(
                f"The method {self.method.label!r} looks at whole passages and cannot stream; take 'voice' or "
                "'adapt', or audio.separate for a sound that is complete."
            )
        self.rate, self.channels = rate, check_count(channels, "channels", MOST_CHANNELS)
        self.high_pass, self.low_latency = high_pass_of(self.method, high_pass), bool(low_latency)
        self.frames = Frames.of(rate, low_latency=self.low_latency)
        self.latency = self.frames.span
        self._level = Level()
        self._start()

    def _start(self) -> None:
        self._engine = Engine(
            self.frames, self.channels, np.dtype(np.float32), AtOnce(self.method, self._level), self.high_pass
        )
        silence = np.zeros((self.latency, self.channels), np.float32)
        self._out = Stems(silence, silence)

    def push(self, block: Any) -> Stems:
        """Take in the next samples and return as many of each stem, ``latency`` samples late.

        Parameters
        ----------
        block : array of shape (n,), or (n, channels)
            Samples, as many as there are.

        Returns
        -------
        Stems
            ``voice`` and ``music`` of the shape of the block; they add up to what came ``latency`` samples ago.
        """
        samples, flat = self._checked(block, "block")
        count, engine = len(samples), self._engine
        with unchanged_on_error(engine, engine.analysis, engine.synthesis, self._level, self.method):
            found = engine.push(samples)
        known = [np.concatenate(pair) for pair in zip(self._out, found, strict=True)]
        self._out = Stems(*(part[count:] for part in known))
        return Stems(*(part[:count, 0] if flat else part[:count] for part in known))

    def learn_music(self, samples: Any) -> None:
        """Learn the music from a passage without voice, such as the bars before the song; only the method "adapt" does.

        Parameters
        ----------
        samples : array of shape (n,), or (n, channels)
            The passage, at the rate and with the channels of the stream.
        """
        self.method.learn(self._engine.frames_without_voice(self._checked(samples, "samples")[0]))

    def flush(self) -> Stems:
        """The last ``latency`` samples of the stems; the sound ends here, and the stream begins anew after it."""
        silence = np.zeros((self.latency, self.channels), np.float32)
        last = self.push(silence[:, 0] if self.channels == 1 else silence)
        self.reset()
        return last

    def reset(self) -> None:
        """Forget the sound, and what was learnt from it."""
        self.method.reset()
        self._level = Level()
        self._start()

    def _checked(self, samples: Any, name: str) -> tuple[AnyArray, bool]:
        array, flat = as_samples(samples, name)
        if array.shape[1] != self.channels:
            raise ValueError(f"The stream has {self.channels} channels, got {name} with {array.shape[1]}.")
        return array.astype(np.float32, copy=False), flat

    def save(self, path: str | PathLike[str]) -> None:
        """Write the stream to a ``.safetensors`` file; `unmingle.load` reads it back, and it goes on as if unbroken.

        Parameters
        ----------
        path : path
            Where to; an existing file is replaced once the new one is complete.
        """
        content = self._to_store()
        store.save(path, KIND, content, self._schema(content))

    def _to_store(self) -> dict[str, Any]:
        return to_store(self)

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        return restored(cls, content)

    @classmethod
    def _schema(cls, content: dict[str, Any]) -> Rule:
        return schema_of(content)
