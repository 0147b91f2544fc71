"""Networks for voices, trained on songs that are made while training goes on."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from ...._types import AnyArray
from ...._validation import require
from ....core.encoder.encoder import Encoder
from ....core.encoder.sequence import SequenceEncoder
from ....core.iterate import Callback
from ..method import Method
from ..networks import Encoded, Front, VoiceModel
from ._mixing import Mixer, Mixing
from ._plain import (
    SOURCE_PENALTIES,
    STEPS,
    known_frames,
    mixture_frames,
    supervised_encoder,
    unsupervised_encoder,
    untrained_encoder,
)
from ._scoring import by_group, mean_nsdr, scores
from ._stems import StemPair

_LOOKED_AT = 8
"""Batches that tell the usual sizes of features, and from whose frames the first atoms are taken."""
_FIRST = 10**9
"""The number of the first of them: no step has it."""


class Recipe(NamedTuple):
    """A network and how long it is trained."""

    n_components: int
    n_layers: int
    steps: int
    step_size: float = 2e-3
    mixing: Mixing = Mixing()


RECIPES = {"voice": Recipe(512, 1, 26_000), "phone": Recipe(176, 1, 26_000)}
"""By the names of the networks that come with unmingle."""


class Prepared(NamedTuple):
    """Songs on their way into a network."""

    mixer: Mixer
    front: Front
    frames: AnyArray
    """(n, features): some frames, as the network sees them."""

    @classmethod
    def of(
        cls, pairs: Sequence[StemPair], music: Sequence[AnyArray], mixing: Mixing, seed: int, front: type[Front] = Front
    ) -> "Prepared":
        """All that chance decides comes from the seed."""
        learn = require("unmingle.learn", "train")
        mixer = Mixer(pairs, music, seed=seed, mixing=mixing, rfft=learn.rfft)
        plain = front.neutral()
        frames = [
            plain.features(song[song.shape[0] // 4 :: 8])
            for number in range(_FIRST, _FIRST + _LOOKED_AT)
            for song in mixer.songs(number).frames()
        ]
        heard = np.concatenate(frames)
        usual = np.maximum(heard.mean(axis=0), np.float32(1e-3))
        return cls(mixer, front(usual), heard / usual)

    def batches(self) -> Callable[[int], Any]:
        """What a step learns from, by its number."""
        learn = require("unmingle.learn", "train")
        return lambda step: learn.MaskBatch(*self.mixer.songs(step).arrays(self.front))


def train_voice(
    pairs: Sequence[StemPair],
    music: Sequence[AnyArray] = (),
    *,
    recipe: Recipe,
    judged: Sequence[StemPair] = (),
    seed: int = 0,
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> VoiceModel:
    """Train a network to tell voice from music.

    Every step makes 16 new songs of two seconds out of those given: voices at other pitches, through equalisers, with
    their own music, with that of other songs, or with further accompaniments. What is made small is the distance of the
    masked mixture from the voice. The numbers of the last steps are averaged.

    Parameters
    ----------
    pairs : sequence of StemPair
        Songs to learn from.
    music : sequence of arrays
        Further accompaniments, 16 kHz, of mean power one.
    recipe : Recipe
        The network, and how long.
    judged : sequence of StemPair
        Songs left out, by which the network is judged while it learns; they change nothing.
    seed : int
        Of everything that chance decides.
    callback : callable, optional
        Called with a `Progress` now and then, its measure the NSDR of the songs left out; a true answer ends training.
    checkpoint : path, optional
        A file to which the work is written now and then; if it is there already, training goes on from it.

    Returns
    -------
    VoiceModel
        Its card tells the recipe.
    """
    learn = require("unmingle.learn", "train")
    ready = Prepared.of(pairs, music, recipe.mixing, seed)
    start = SequenceEncoder.from_samples(
        ready.frames, n_components=recipe.n_components, n_layers=recipe.n_layers, seed=seed
    )
    network = learn.SequenceNetwork(start)

    def model() -> VoiceModel:
        return VoiceModel(network.to_encoder(), ready.front.usual, _card(recipe, seed, pairs, music, start))

    history = learn.train_masks(
        network,
        ready.batches(),
        setup={"data": data_digest(pairs, music), "mixing": repr(recipe.mixing), "seed": seed},
        max_steps=recipe.steps,
        step_size=recipe.step_size,
        judge=(lambda _: mean_nsdr(scores(model(), judged))) if judged else None,
        callback=callback,
        checkpoint=checkpoint,
    )
    trained = model()
    trained.card_["last_loss"] = round(history[-1].loss, 3)
    return trained


def data_digest(pairs: Sequence[StemPair], music: Sequence[AnyArray]) -> str:
    """What tells songs from other songs."""
    told = sha256()
    for pair in pairs:
        told.update(pair.source.described().encode())
    for piece in music:
        told.update(piece.data)
    return told.hexdigest()


def _card(
    recipe: Recipe, seed: int, pairs: Sequence[StemPair], music: Sequence[AnyArray], start: SequenceEncoder
) -> dict[str, Any]:
    seconds = sum(len(pair.voice) for pair in pairs) / 16000
    return {
        "weights": start.n_weights,
        "components": recipe.n_components,
        "layers": recipe.n_layers,
        "steps": recipe.steps,
        "step_size": recipe.step_size,
        "seed": seed,
        "songs": len(pairs),
        "singers": len({pair.source.singer for pair in pairs}),
        "minutes": round(seconds / 60, 1),
        "further_music_minutes": round(sum(map(len, music)) / 16000 / 60, 1),
    }


def train_network(
    pairs: Sequence[StemPair],
    music: Sequence[AnyArray] = (),
    *,
    network: str,
    loss: str = "source",
    steps: int | None = None,
    seed: int = 0,
    judged: Sequence[StemPair] = (),
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> tuple[Any, dict[str, float]]:
    """Train a network by its name, and tell how well it does on songs left out.

    Parameters
    ----------
    pairs, music, seed, judged, callback, checkpoint
        As in `train_voice`.
    network : {"voice", "phone", "plain"}
        The best one, a smaller one, or that of the paper.
    loss : {"source", "unsupervised"}
        Whether to learn from the sources; "plain" can learn from mixtures alone.
    steps : int, optional
        How long, if not as long as the network needs.

    Returns
    -------
    VoiceModel or Encoder
        The network.
    dict of str to float
        NSDR of the songs left out: "mean", and that of each singer; empty if there are none.
    """
    if network == "plain":
        trained: Any = _plain(pairs, loss, steps or STEPS, seed, callback, checkpoint)
        method: Method = Encoded(trained)
    else:
        recipe = RECIPES[network]
        recipe = recipe._replace(steps=steps or recipe.steps)
        trained = method = train_voice(
            pairs, music, recipe=recipe, judged=judged, seed=seed, callback=callback, checkpoint=checkpoint
        )
    found = scores(method, judged)
    return trained, {"mean": round(mean_nsdr(found), 2), **by_group(found, "singer")} if found else {}


def _plain(pairs: Sequence[StemPair], loss: str, steps: int, seed: int, callback: Any, checkpoint: Any) -> Encoder:
    frames = mixture_frames(pair.voice + pair.music for pair in pairs)
    how = {"callback": callback, "checkpoint": checkpoint, "seed": seed}
    if loss == "unsupervised":
        return unsupervised_encoder(untrained_encoder(frames), frames, steps, **how)
    start = untrained_encoder(frames, *SOURCE_PENALTIES)
    return supervised_encoder(start, known_frames(pairs, seed=seed), steps, **how)
