"""Training of encoders: the only part of unmingle that imports torch, and not before it is needed.

The losses, and the settings of training, are there without it. What this package does not list is in its modules:
`network` and `sequence` have the networks, `losses` what a loss of one's own starts from, `loop` the training loop.
"""

from typing import TYPE_CHECKING, Any

from .._validation import require
from .losses import LOSSES, Loss, imitation, masked, source, unsupervised

if TYPE_CHECKING:
    from .aligned import Aligned as Aligned
    from .encoders import train as train
    from .masks import MaskBatch as MaskBatch
    from .masks import train_masks as train_masks
    from .network import Network as Network
    from .sequence import SequenceNetwork as SequenceNetwork
    from .settings import Training as Training

__all__ = [
    "LOSSES",
    "Aligned",
    "Loss",
    "MaskBatch",
    "Network",
    "SequenceNetwork",
    "Training",
    "imitation",
    "masked",
    "source",
    "train",
    "train_masks",
    "unsupervised",
]

_HOMES = {
    "Aligned": "aligned",
    "MaskBatch": "masks",
    "Network": "network",
    "SequenceNetwork": "sequence",
    "Training": "settings",
    "train": "encoders",
    "train_masks": "masks",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(require(f"{__name__}.{_HOMES[name]}", "train"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
