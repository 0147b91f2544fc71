"""How the codes of a frame are found where layers within a look will not do."""

from typing import Literal

import numpy as np

from ..._types import AnyArray
from ..._validation import check_choice
from ...core.encoder.encoder import Encoder
from ._background import MOST_COMPONENTS, Background

How = Literal["layers", "exact"] | Encoder


def checked_encoder(encoder: How, stabilise: str | None) -> How:
    """Return how codes are to be found, or say what is wrong with it."""
    if not isinstance(encoder, Encoder):
        check_choice(encoder, "encoder", ("layers", "exact"))
        return encoder
    if not 0 < len(encoder.components) <= MOST_COMPONENTS:
        raise ValueError(f"encoder must have 1 to {MOST_COMPONENTS} components, got {len(encoder.components)}.")
    if stabilise is not None:
        raise ValueError("stabilise cannot be used with a trained encoder: its components lie where they were learnt.")
    return encoder


def encode_frame(
    model: Background, how: How, x: AnyArray, n_layers: int, known: AnyArray | None, region: AnyArray | None
) -> None:
    """Find the codes of a frame, exactly or by a network, or by layers that leave known foreground out."""
    apart = known
    if isinstance(how, Encoder):
        if region is not None:
            outside = ~region.reshape(-1)
            apart = outside if apart is None else apart | outside
        model.encode_by(how, x, apart)
    elif how == "exact":
        model.encode_exactly(x, apart)
    elif apart is not None:
        model.encode_apart(x, n_layers, np.asarray(apart))
