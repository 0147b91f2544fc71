"""`Stream`: separate sound as it comes."""

from dataclasses import dataclass, replace
from os import PathLike
from typing import Annotated, Any, Self

import numpy as np

from ... import store
from ..._fields import check_settings, from_store, record_of, to_store
from ..._rules import Flag, OneOf, Record, Rule, maybe
from ..._types import Array, Float32Array
from ._engine import Engine, EngineState, Stems, samples_of
from .masks import RunningMemory
from .method import Method
from .methods import METHODS, STREAMING, as_method, high_pass_of
from .settings import HERTZ
from .stft import CHANNELS, RATES, Frames, Level, as_samples

KIND = "AudioStream"


@dataclass(frozen=True)
class SoundSettings:
    """What a stream of sound is."""

    rate: Annotated[float, RATES]
    channels: Annotated[int, CHANNELS]
    low_latency: Annotated[bool, Flag()]
    high_pass: Annotated[float | None, maybe(HERTZ)]

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, eq=False)
class SoundState:
    """A stream in the middle of a sound; nothing in it is ever written to."""

    engine: EngineState
    voice: Annotated[Float32Array, samples_of("due")]
    """Voice that is known and comes out next: as many samples as the stream is late by, but for those that the engine
    holds."""
    music: Annotated[Float32Array, samples_of("due")]


def start(engine: Engine) -> SoundState:
    """Before the first sample: silence comes out first."""
    silence = engine.transform.silence(engine.transform.frames.span)
    return SoundState(engine.start(), silence, silence)


def step(engine: Engine, state: SoundState, samples: Array) -> tuple[SoundState, Stems]:
    """Take in samples (n, channels): the state after them, and as many samples of each stem."""
    ahead, found = engine.step(state.engine, samples)
    count, voice, music = (
        len(samples),
        np.concatenate([state.voice, found.voice]),
        np.concatenate([state.music, found.music]),
    )
    return SoundState(ahead, voice[count:], music[count:]), Stems(voice[:count], music[:count])


class Stream:
    """Separates sound that comes block by block into voice and music, looking at the past only.

    What comes out is late by ``latency`` samples: four hops, 64 ms, or two with low latency. Blocks may have any
    length; the stems are those that `split` finds with the same method, to 1e-6. A block that is refused, or whose
    separation is interrupted, leaves the stream as it was.

    Parameters
    ----------
    rate : float
        Samples a second, 2000 to 768000.
    channels : int, default=1
        Number of channels; all get the same mask.
    method : str or Method, default="voice"
        How to tell voice from music; a method that streams.
    high_pass : float, "auto" or None
        Hertz below which there is no voice; "auto" for what helps the method, None for no limit.
    low_latency : bool, default=False
        Whether stems come after 32 ms instead of 64, from spectra that are a little less sharp.

    Attributes
    ----------
    method : Method
        How to tell voice from music; after `learn_music` one that knows the music.
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
        chosen = as_method(method)
        if not chosen.streams:
            raise ValueError(
                f"The method {chosen.label!r} looks at whole passages and cannot stream; take 'voice' or "
                "'adapt', or audio.split for a sound that is complete."
            )
        self.frames = Frames.of(rate, low_latency=bool(low_latency))
        self.settings = SoundSettings(self.frames.rate, channels, bool(low_latency), high_pass_of(chosen, high_pass))
        self.latency = self.frames.span
        self._engine = _engine_of(self.settings, chosen)
        self._state = start(self._engine)

    @property
    def rate(self) -> float:
        """Samples a second."""
        return self.settings.rate

    @property
    def channels(self) -> int:
        """Number of channels."""
        return self.settings.channels

    @property
    def method(self) -> Method:
        """How voice is told from music."""
        return self._engine.masker.method

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
        self._state, stems = step(self._engine, self._state, samples)
        return Stems(stems.voice[:, 0], stems.music[:, 0]) if flat else stems

    def learn_music(self, samples: Any) -> None:
        """Learn the music from a passage without voice, such as the bars before the song; only the method "adapt" does.

        Parameters
        ----------
        samples : array of shape (n,), or (n, channels)
            The passage, at the rate and with the channels of the stream.
        """
        engine = self._engine.knowing(self._state.engine, self._checked(samples, "samples")[0])
        # the level of the song stays; what the method found in it so far is of no use to the one that knows the music
        masks = replace(self._state.engine.masks, of_method=engine.masker.method.start())
        self._state = replace(self._state, engine=replace(self._state.engine, masks=masks))
        self._engine = engine

    def flush(self) -> Stems:
        """The last ``latency`` samples of the stems; the sound ends here, and the next block begins another one."""
        silence = np.zeros((self.latency, self.channels), np.float32)
        last = self.push(silence[:, 0] if self.channels == 1 else silence)
        self.reset()
        return last

    def reset(self) -> None:
        """Forget the sound, and what the method found in it; music that `learn_music` was given stays known."""
        self._state = start(self._engine)

    def _checked(self, samples: Any, name: str) -> tuple[Float32Array, bool]:
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
        masks: RunningMemory = self._state.engine.masks
        content = {
            "settings": to_store(self.settings),
            "method": self.method.name,
            "network": self.method._to_store(),
            "level": to_store(masks.level),
            "state": to_store(self._state),
        }
        return content if masks.of_method is None else {**content, "memory": to_store(masks.of_method)}

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        settings = from_store(SoundSettings, content["settings"])
        state = from_store(SoundState, content["state"])
        _check_state(settings, state)
        method = METHODS[content["method"]]._from_store(content["network"])
        memory = method.start() if method.Memory is None else from_store(method.Memory, content["memory"])
        method.check_memory(memory)
        stream = cls(
            settings.rate, channels=settings.channels, method=method, high_pass=settings.high_pass,
            low_latency=settings.low_latency,
        )  # fmt: skip
        masks = RunningMemory(from_store(Level, content["level"]), memory)
        stream._state = replace(state, engine=replace(state.engine, masks=masks))
        return stream

    @classmethod
    def _schema(cls, content: dict[str, Any]) -> Rule:
        name = content.get("method")
        kind = METHODS[name] if name in STREAMING else METHODS[STREAMING[0]]
        rules: dict[str, Rule] = {
            "settings": record_of(SoundSettings),
            "method": OneOf(*STREAMING),
            "network": kind._schema(content.get("network")),
            "level": record_of(Level),
            "state": record_of(SoundState),
        }
        return Record(rules if kind.Memory is None else {**rules, "memory": record_of(kind.Memory)})


def _engine_of(settings: SoundSettings, method: Method) -> Engine:
    return Engine.of(
        method, settings.rate, settings.channels, np.float32, settings.high_pass, low_latency=settings.low_latency
    )


def _check_state(settings: SoundSettings, state: SoundState) -> None:
    """Refuse what no stream of these settings can be in."""
    frames, engine = Frames.of(settings.rate, low_latency=settings.low_latency), state.engine
    held, tail, due, late = len(engine.held), len(engine.tail), len(state.voice), frames.span - frames.hop
    begun = held - (frames.window - frames.hop)  # samples of the next frame that are there
    if not 0 <= begun < frames.hop or tail != late:
        raise ValueError(f"a stream of {frames.rate:g} Hz does not hold {held} and {tail} samples")
    if engine.early > late or due > frames.span:
        raise ValueError(f"a stream of {frames.rate:g} Hz is not late by {max(engine.early, due)} samples")
    if any(part.shape[1] != settings.channels for part in (engine.held, state.voice)):
        raise ValueError(f"the sound should have {settings.channels} channels")
    if late - engine.early + begun + due != frames.span:
        raise ValueError("the samples on their way should be as many as the stream is late by")
