"""Networks for voices, trained on songs whose voice and music are known."""

from ..networks import Front
from ._folds import Fold, folds
from ._mixing import Mixer, Mixing, SongBatch
from ._plain import (
    COMPONENTS,
    FRAMES,
    LAYERS,
    OUTLIER_PENALTY,
    RANK_PENALTY,
    SOURCE_PENALTIES,
    STEP_SIZE,
    KnownFrames,
    known_frames,
    mixture_frames,
    supervised_encoder,
    unsupervised_encoder,
    untrained_encoder,
)
from ._scoring import ClipScore, by_group, mean_nsdr, scores
from ._stems import RATE, StemFiles, StemPair, find_stems, read_music
from ._train import RECIPES, Prepared, Recipe, data_digest, train_network, train_voice

__all__ = [
    "COMPONENTS",
    "FRAMES",
    "LAYERS",
    "OUTLIER_PENALTY",
    "RANK_PENALTY",
    "RATE",
    "RECIPES",
    "SOURCE_PENALTIES",
    "STEP_SIZE",
    "ClipScore",
    "Fold",
    "Front",
    "KnownFrames",
    "Mixer",
    "Mixing",
    "Prepared",
    "Recipe",
    "SongBatch",
    "StemFiles",
    "StemPair",
    "by_group",
    "data_digest",
    "find_stems",
    "folds",
    "known_frames",
    "mean_nsdr",
    "mixture_frames",
    "read_music",
    "scores",
    "supervised_encoder",
    "train_network",
    "train_voice",
    "unsupervised_encoder",
    "untrained_encoder",
]
