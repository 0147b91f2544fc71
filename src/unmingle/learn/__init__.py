"""Training of encoders: the only part of unmingle that imports torch, and not before it is needed.

The losses, and their names, are there without it.
"""

from typing import TYPE_CHECKING, Any

from .._validation import require
from ._losses import LOSSES, Loss, imitation, masked, source, unsupervised

if TYPE_CHECKING:
    from ..core.encoder.answers import exact_answer as exact_answer
    from ..core.encoder.answers import robust_weights as robust_weights
    from ._aligned import Aligned as Aligned
    from ._aligned import align_through as align_through
    from ._masking import MaskBatch as MaskBatch
    from ._masking import MaskLook as MaskLook
    from ._masking import masking_loss as masking_loss
    from ._masking import rfft as rfft
    from ._masking import shares as shares
    from ._masking import train_masks as train_masks
    from ._network import Answer as Answer
    from ._network import Block as Block
    from ._network import Network as Network
    from ._sequence import SequenceNetwork as SequenceNetwork
    from ._state import Look as Look
    from ._training import Training as Training
    from ._training import train as train

__all__ = [
    "LOSSES",
    "Aligned",
    "Answer",
    "Block",
    "Look",
    "Loss",
    "MaskBatch",
    "MaskLook",
    "Network",
    "SequenceNetwork",
    "Training",
    "align_through",
    "exact_answer",
    "imitation",
    "masked",
    "masking_loss",
    "rfft",
    "robust_weights",
    "shares",
    "source",
    "train",
    "train_masks",
    "unsupervised",
]

_MODULE_OF = {
    "Aligned": "unmingle.learn._aligned",
    "Answer": "unmingle.learn._network",
    "Block": "unmingle.learn._network",
    "Look": "unmingle.learn._state",
    "MaskBatch": "unmingle.learn._masking",
    "MaskLook": "unmingle.learn._masking",
    "Network": "unmingle.learn._network",
    "SequenceNetwork": "unmingle.learn._sequence",
    "Training": "unmingle.learn._training",
    "align_through": "unmingle.learn._aligned",
    "exact_answer": "unmingle.core.encoder",
    "masking_loss": "unmingle.learn._masking",
    "rfft": "unmingle.learn._masking",
    "robust_weights": "unmingle.core.encoder",
    "shares": "unmingle.learn._masking",
    "train": "unmingle.learn._training",
    "train_masks": "unmingle.learn._masking",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(require(_MODULE_OF[name], "train"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
