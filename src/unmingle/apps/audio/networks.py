"""Methods that are networks: of single frames, or of songs, trained on songs whose voice is known."""

from dataclasses import dataclass
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from ... import store
from ..._rules import ArrayOf, Record, Rule, Table
from ..._types import Array, Float32Array
from ...core.encoder.encoder import ENCODER, Encoder
from ...core.encoder.sequence import SEQUENCE_ENCODER, SequenceEncoder
from .method import FollowingMethod, Method, Parts
from .stft import BINS

KIND = "VoiceModel"
_ALONE, _BANDS = 192, 48
"""Bins that are features by themselves, up to 3 kHz, and bands of a constant ratio above."""
EDGES = np.concatenate([np.arange(_ALONE), np.round(np.geomspace(_ALONE, BINS, _BANDS + 1)[:-1])]).astype(np.intp)
"""The first bin of each feature."""
WIDTHS = np.diff(EDGES, append=BINS)
"""Bins of each feature."""
FEATURES = len(EDGES)


class Encoded(Method):
    """An `unmingle.Encoder` of single frames: codes times components are music, outliers are voice."""

    name: ClassVar = "encoder"
    summary: ClassVar = "a small network, frame by frame"
    streams: ClassVar = True

    def __init__(self, encoder: Encoder) -> None:
        if not isinstance(encoder, Encoder):
            raise ValueError(f"The method 'encoder' needs an unmingle.Encoder, got {type(encoder).__name__}.")
        if encoder.components.shape[1] != BINS:
            raise ValueError(
                f"An encoder of sound must have {BINS} features, the bins up to 8 kHz; "
                f"this one has {encoder.components.shape[1]}."
            )
        self.encoder = encoder.astype(np.float32)

    def parts(self, magnitudes: Array) -> Parts:
        """The parts of each frame; bins that a low rate does not have are missing."""
        known = magnitudes.shape[1]
        if known < BINS:
            frames = np.full((len(magnitudes), BINS), np.nan, np.float32)
            frames[:, :known] = magnitudes
            magnitudes = frames
        codes, outliers = self.encoder.encode(magnitudes)
        return Parts(outliers[:, :known], (codes @ self.encoder.components)[:, :known])

    def _to_store(self) -> dict[str, Any]:
        return self.encoder._to_store()

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        return cls(Encoder._from_store(content))

    @classmethod
    def _schema(cls, content: Any) -> Rule:
        return ENCODER


class Front(NamedTuple):
    """Roots of mean magnitudes over bands, each over its usual size."""

    usual: Array
    """(features,), positive."""

    @classmethod
    def neutral(cls) -> "Front":
        """Before it is known what is usual."""
        return cls(np.ones(FEATURES, np.float32))

    def features(self, magnitudes: Array) -> Array:
        """Features (n, m) of frames (n, bins) over their level; bins that a low rate does not have are silent."""
        full = magnitudes
        if magnitudes.shape[1] < BINS:
            full = np.zeros((len(magnitudes), BINS), magnitudes.dtype)
            full[:, : magnitudes.shape[1]] = magnitudes
        x = self.sums(full)
        x /= WIDTHS.astype(x.dtype)
        np.sqrt(x, out=x)
        x /= self.usual.astype(x.dtype)
        return x

    @staticmethod
    def sums(bins: Array) -> Array:
        """Sums over the bins of each feature, along the last axis."""
        sums = np.empty((*bins.shape[:-1], FEATURES), bins.dtype)
        sums[..., :_ALONE] = bins[..., :_ALONE]
        np.add.reduceat(bins, EDGES[_ALONE:], axis=-1, out=sums[..., _ALONE:])
        return sums

    @staticmethod
    def spread(features: Array, bins: int) -> Array:
        """The value of its feature for each of the lowest bins."""
        return np.repeat(features, WIDTHS, axis=-1)[..., :bins]


@dataclass(frozen=True, eq=False)
class NetworkMemory:
    """What a network remembers of a song."""

    code: Annotated[Float32Array, ArrayOf(("float32",), "q", low=0.0, high=1e6)] | None = None
    """The code of the last frame; None before the first one."""


class VoiceModel(FollowingMethod):
    """A `SequenceEncoder` that follows a song and tells voice from music.

    Parameters
    ----------
    encoder : SequenceEncoder
        The network, of 240 features.
    usual : array of shape (240,)
        Usual sizes of the features, those of the training frames: what the network sees is divided by them.
    card : dict, optional
        What it was trained on, how, and how well it does.
    """

    name: ClassVar = "network"
    summary: ClassVar = "a network trained on songs, frame by frame"
    high_pass: ClassVar = None
    Memory: ClassVar = NetworkMemory

    def __init__(self, encoder: SequenceEncoder, usual: Any, card: dict[str, Any] | None = None) -> None:
        usual = np.array(usual, np.float32)
        if encoder.n_features != FEATURES or usual.shape != (FEATURES,) or not (usual > 0).all():
            raise ValueError(
                f"A network for voices sees {FEATURES} features, each with a positive usual size; this one has "
                f"{encoder.n_features}, with {usual.size} sizes."
            )
        self.encoder_, self.usual, self.card_ = encoder.astype(np.float32), usual, dict(card or {})

    def __repr__(self) -> str:
        return f"VoiceModel({(self.card_ or {}).get('network', 'a network')!r}, {self.encoder_!r})"

    @property
    def label(self) -> str:
        """The name that its card tells."""
        return str(self.card_.get("network", self.name))

    def step(self, memory: NetworkMemory, magnitudes: Array) -> tuple[NetworkMemory, Parts]:
        """The parts of the next frames, each by it and the frames before it."""
        front, bins = Front(self.usual), magnitudes.shape[1]
        found = self.encoder_.separate(front.features(magnitudes), state=memory.code)
        parts = Parts(front.spread(found.foreground, bins), front.spread(found.background, bins))
        return NetworkMemory(found.state), parts

    def save(self, path: str | PathLike[str], *, half: bool = False) -> None:
        """Write the network to a ``.safetensors`` file; `unmingle.load` reads it back, at the beginning of a song.

        Parameters
        ----------
        path : path
            Where to; an existing file is replaced once the new one is complete.
        half : bool
            Whether numbers are rounded to float16, for half the room.
        """
        content = self._to_store()
        if half:
            content["encoder"] = {
                group: {name: part.astype(np.float16) for name, part in parts.items()}
                for group, parts in content["encoder"].items()
            }
        store.save(path, KIND, content, self._schema(content))

    def _to_store(self) -> dict[str, Any]:
        return {"encoder": self.encoder_._to_store(), "usual": self.usual, "card": self.card_}

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        return cls(SequenceEncoder._from_store(content["encoder"]), content["usual"], content["card"])

    @classmethod
    def _schema(cls, content: Any) -> Rule:
        usual = ArrayOf(("float32",), "m", low=1e-6, high=1e6)
        return Record({"encoder": SEQUENCE_ENCODER, "usual": usual, "card": Table()})


def path_of_shipped(name: str) -> Path:
    """Where a network that comes with unmingle lies."""
    return Path(str(files("unmingle") / "models" / f"{name}.safetensors"))


def load_shipped(name: str) -> VoiceModel:
    """A network that comes with unmingle, by its name.

    Parameters
    ----------
    name : {"voice", "phone"}
        The best one, or one of 0.4 MB that costs half as much.
    """
    stored = store.read(path := path_of_shipped(name))
    model: VoiceModel = store.restore(path, stored, VoiceModel)
    return model
