"""Training of encoders: the only part of unmingle that imports torch, and not before it is needed.

The losses, and their names, are there without it.
"""

from typing import TYPE_CHECKING, Any

from .._validation import require
from ._losses import LOSSES, Loss, imitation, source, unsupervised

if TYPE_CHECKING:
    from ..encoder import exact_answer as exact_answer
    from ..encoder import robust_weights as robust_weights
    from ._network import Answer as Answer
    from ._network import Block as Block
    from ._network import Network as Network
    from ._state import Look as Look
    from ._training import Training as Training
    from ._training import train as train

__all__ = [
    "LOSSES",
    "Answer",
    "Block",
    "Look",
    "Loss",
    "Network",
    "Training",
    "exact_answer",
    "imitation",
    "robust_weights",
    "source",
    "train",
    "unsupervised",
]

_MODULE_OF = {
    "Answer": "unmingle.learn._network",
    "Block": "unmingle.learn._network",
    "Look": "unmingle.learn._state",
    "Network": "unmingle.learn._network",
    "Training": "unmingle.learn._training",
    "exact_answer": "unmingle.encoder",
    "robust_weights": "unmingle.encoder",
    "train": "unmingle.learn._training",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(require(_MODULE_OF[name], "train"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
