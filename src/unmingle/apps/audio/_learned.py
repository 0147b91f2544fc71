"""Networks trained on songs whose voice is known."""

from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from ... import store
from ..._rules import ArrayOf, Record, Rule, Table
from ..._types import AnyArray
from ...core.encoder.sequence import SEQUENCE_ENCODER, SequenceEncoder
from ._front import FEATURES, Front
from ._method import Method, Parts

KIND = "VoiceModel"
SHIPPED = ("voice", "phone")
"""Networks that come with unmingle, the best one first."""


class VoiceModel(Method):
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
    streams: ClassVar = True
    high_pass: ClassVar = None

    def __init__(self, encoder: SequenceEncoder, usual: Any, card: dict[str, Any] | None = None) -> None:
        usual = np.array(usual, np.float32)
        if encoder.n_features != FEATURES or usual.shape != (FEATURES,) or not (usual > 0).all():
            raise ValueError(
                f"A network for voices sees {FEATURES} features, each with a positive usual size; this one has "
                f"{encoder.n_features}, with {usual.size} sizes."
            )
        self.encoder_, self.usual, self.card_ = encoder.astype(np.float32), usual, dict(card or {})
        self.reset()

    def __repr__(self) -> str:
        return f"VoiceModel({(self.card_ or {}).get('network', 'a network')!r}, {self.encoder_!r})"

    @property
    def label(self) -> str:
        """The name that its card tells."""
        return str(self.card_.get("network", self.name))

    def reset(self) -> None:
        """Forget the song."""
        self._state: AnyArray | None = None

    def parts(self, magnitudes: AnyArray) -> Parts:
        """The parts of each frame, by it and the frames before it."""
        front, bins = Front(self.usual), magnitudes.shape[1]
        found = self.encoder_.separate(front.features(magnitudes), state=self._state)
        self._state = found.state
        return Parts(front.spread(found.foreground, bins), front.spread(found.background, bins))

    def save(self, path: str | PathLike[str], *, half: bool = False) -> None:
        """Write the network to a ``.safetensors`` file; `unmingle.load` reads it back, at the beginning of a song.

        Parameters
        ----------
        path : path
            Where to; an existing file is replaced once the new one is complete.
        half : bool
            Whether numbers are rounded to float16, for half the room.
        """
        content = self._network_to_store()
        if half:
            content["encoder"] = {
                group: {name: part.astype(np.float16) for name, part in parts.items()}
                for group, parts in content["encoder"].items()
            }
        store.save(path, KIND, content, self._schema(content))

    def _network_to_store(self) -> dict[str, Any]:
        return {"encoder": self.encoder_._to_store(), "usual": self.usual, "card": self.card_}

    def _to_store(self) -> dict[str, Any]:
        state = {} if self._state is None else {"state": self._state}
        return self._network_to_store() | state

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        method = cls(SequenceEncoder._from_store(content["encoder"]), content["usual"], content["card"])
        if "state" in content:
            method._state = content["state"]
        return method

    @classmethod
    def _schema(cls, content: Any) -> Rule:
        state = ArrayOf(("float32",), "q", low=0.0, high=1e6)
        usual = ArrayOf(("float32",), "m", low=1e-6, high=1e6)
        return Record({"encoder": SEQUENCE_ENCODER, "usual": usual, "card": Table()}, {"state": state})


def shipped_path(name: str) -> Path:
    """Where a network that comes with unmingle lies."""
    return Path(str(files("unmingle") / "models" / f"{name}.safetensors"))


def shipped(name: str) -> VoiceModel:
    """A network that comes with unmingle, by its name.

    Parameters
    ----------
    name : {"voice", "phone"}
        The best one, or one of 0.4 MB that costs half as much.
    """
    stored = store.read(path := shipped_path(name))
    model: VoiceModel = store.restore(path, stored, VoiceModel)
    return model
