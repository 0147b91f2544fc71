"""Training of encoders: the only part of unmingle that imports torch."""

from ..encoder import exact_answer, robust_weights
from ._losses import Block, imitation, source, unsupervised
from ._network import Answer, Network
from ._training import Look, Training, train

__all__ = [
    "Answer",
    "Block",
    "Look",
    "Network",
    "Training",
    "exact_answer",
    "imitation",
    "robust_weights",
    "source",
    "train",
    "unsupervised",
]
