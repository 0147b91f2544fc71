"""The networks that are compared, all with about as many numbers."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmingle.apps.audio import Method, Parts
from unmingle.apps.audio.networks import Front
from unmingle.apps.audio.stft import over_level
from unmingle.apps.audio.training.mixing import Mixing
from unmingle.apps.audio.training.stems import StemPair
from unmingle.apps.audio.training.train import PreparedSongs
from unmingle.core.encoder.sequence import SequenceEncoder

Array = NDArray[Any]

STEP_SIZE = 2e-3


class WholeFront(Front):
    """Magnitudes of all 513 bins, each over its usual size: no bands, no root."""

    @classmethod
    def neutral(cls) -> "WholeFront":
        """Before it is known what is usual."""
        return cls(np.ones(513, np.float32))

    def features(self, magnitudes: Array) -> Array:
        """Features of frames over their level."""
        return np.asarray(magnitudes / self.usual, np.float32)

    @staticmethod
    def sums(bins: Array) -> Array:
        """Each bin is a feature."""
        return bins

    @staticmethod
    def spread(features: Array, bins: int) -> Array:
        """Each feature is a bin."""
        return features[..., :bins]


class Candidate(NamedTuple):
    """A network, and what it learns from."""

    n_components: int
    n_layers: int = 1
    without: tuple[str, ...] = ()
    """Parts that it does without: "carried", "biased", "headed"."""
    gated: bool = False
    """Whether it is a GRU with ``n_components`` units."""
    mixing: Mixing = Mixing(balanced=True)
    front: type[Front] = Front

    def network(self, ready: PreparedSongs, seed: int) -> Any:
        """The network before training."""
        from .rival_networks import GatedNetwork, PartialNetwork

        if self.gated:
            return GatedNetwork(ready.frames.shape[1], self.n_components, seed)
        start = SequenceEncoder.from_samples(
            ready.frames, n_components=self.n_components, n_layers=self.n_layers, seed=seed
        )
        return PartialNetwork(start, **dict.fromkeys(self.without, False))


OURS, GRU = "ours", "GRU"
RIVALS: Mapping[str, Candidate] = {OURS: Candidate(256), GRU: Candidate(180, gated=True)}
"""Compared on songs and on singers left out."""
ABLATIONS: Mapping[str, Candidate] = {
    "each frame by itself, two layers": Candidate(176, 2, without=("carried",)),
    "without bias": Candidate(256, without=("biased",)),
    "without head": Candidate(360, without=("headed",)),
    "513 bins, without root": Candidate(140, front=WholeFront),
    "two layers": Candidate(176, 2),
    "songs without equaliser": Candidate(256, mixing=Mixing(voice_tone=0.0, music_tone=0.0, balanced=True)),
    "songs as they are": Candidate(
        256,
        mixing=Mixing(
            voice_tone=0.0, music_tone=0.0, music_pitch=0.0, gain=0.0, true_pairs=1.0, shifted_pairs=0.0, balanced=True
        ),
    ),
}
"""The first of the rivals with one thing changed; on songs left out."""


class TrialMethod(Method):
    """A network that is still in the hands of torch, on songs of one passage."""

    name: ClassVar = "trial"
    summary: ClassVar = "a network under trial"
    high_pass: ClassVar = None

    def __init__(self, network: Any, front: Front) -> None:
        self._network, self._front = network, front

    def parts(self, magnitudes: Array) -> Parts:
        """Roots of the shares of power."""
        from unmingle.learn.masks import foreground_shares

        share = foreground_shares(self._network, self._front.features(over_level(magnitudes).astype(np.float32)))
        bins = magnitudes.shape[1]
        return Parts(*(self._front.spread(np.sqrt(part), bins) for part in (share, 1 - share)))

    @property
    def n_weights(self) -> int:
        """Numbers that were trained."""
        return sum(one.numel() for one in self._network.parameters() if one.requires_grad)


def trained(candidate: Candidate, pairs: Sequence[StemPair], steps: int, seed: int) -> TrialMethod:
    """Train a network.

    Parameters
    ----------
    candidate : Candidate
        Which one.
    pairs : sequence of StemPair
        Songs to learn from.
    steps : int
        How long.
    seed : int
        Of all that chance decides.
    """
    from unmingle import learn

    ready = PreparedSongs.of(pairs, (), candidate.mixing, seed, candidate.front)
    network = candidate.network(ready, seed)
    learn.train_masks(network, ready.batches(), setup={}, max_steps=steps, step_size=STEP_SIZE)
    return TrialMethod(network, ready.front)
