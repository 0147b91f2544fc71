"""The networks of `unmingle audio --model`."""

from pathlib import Path
from typing import Any

from ... import load
from ...core.encoder.encoder import Encoder


def load_voice_method(path: Path) -> Any:
    """Load what tells voice from music: a network of `unmingle train audio`, of single frames, or that of a stream."""
    from ...apps.audio import Encoded, Stream, VoiceModel

    model = load(path)
    network = getattr(model, "encoder_", model)
    if isinstance(network, Encoder):
        return Encoded(network)
    if isinstance(model, Stream):
        return model.method
    if not isinstance(model, VoiceModel):
        raise ValueError(f"{path} holds a {type(model).__name__}; expected a network from unmingle train audio.")
    return model
