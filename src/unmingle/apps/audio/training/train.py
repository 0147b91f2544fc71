"""Networks for voices, trained on songs that are made while training goes on."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...._types import Float32Array
from ...._validation import require
from ....core.encoder.encoder import Encoder
from ....core.encoder.sequence import SequenceEncoder
from ....core.iterate import Callback
from ..method import Method
from ..networks import Encoded, Front, VoiceModel
from ..settings import TrainingSettings
from .judging import Fold, by_group, folds, mean_nsdr, scores
from .mixing import Mixer, Mixing
from .plain import (
    PLAIN,
    known_frames,
    mixture_frames,
    supervised_encoder,
    unsupervised_encoder,
    untrained_encoder,
)
from .stems import StemPair, find_stems, read_music

_SAMPLED_BATCHES = range(10**9, 10**9 + 8)
"""Numbers of the batches that show the usual sizes of features, and whose frames are the first atoms: no step has
them."""


class Recipe(NamedTuple):
    """A network and how long it is trained."""

    n_components: int
    n_layers: int
    steps: int
    step_size: float = 2e-3
    mixing: Mixing = Mixing()


RECIPES = {"voice": Recipe(512, 1, 26_000), "phone": Recipe(176, 1, 26_000)}
"""By the names of the networks that come with unmingle."""


class PreparedSongs(NamedTuple):
    """Songs on their way into a network."""

    mixer: Mixer
    front: Front
    frames: Float32Array
    """(n, features): some frames, as the network sees them."""

    @classmethod
    def of(
        cls,
        pairs: Sequence[StemPair],
        music: Sequence[Float32Array],
        mixing: Mixing,
        seed: int,
        front: type[Front] = Front,
    ) -> "PreparedSongs":
        """All that chance decides comes from the seed."""
        rfft = require("unmingle.learn.masks", "train").rfft
        mixer = Mixer(pairs, music, seed=seed, mixing=mixing, rfft=rfft)
        plain = front.neutral()
        frames = [
            plain.features(song[song.shape[0] // 4 :: 8])
            for number in _SAMPLED_BATCHES
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
    music: Sequence[Float32Array] = (),
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
    ready = PreparedSongs.of(pairs, music, recipe.mixing, seed)
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


def data_digest(pairs: Sequence[StemPair], music: Sequence[Float32Array]) -> str:
    """A digest of all songs: others have another one."""
    digest = sha256()
    for pair in pairs:
        digest.update(pair.source.described().encode())
    for piece in music:
        digest.update(piece.data)
    return digest.hexdigest()


def _card(
    recipe: Recipe, seed: int, pairs: Sequence[StemPair], music: Sequence[Float32Array], start: SequenceEncoder
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
    music: Sequence[Float32Array] = (),
    settings: TrainingSettings = TrainingSettings(),  # noqa: B008 - a frozen value
    *,
    judged: Sequence[StemPair] = (),
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> tuple[VoiceModel | Encoder, dict[str, float]]:
    """Train a network by its name, and see how well it does on songs left out.

    Parameters
    ----------
    pairs, music, judged, callback, checkpoint
        As in `train_voice`.
    settings : TrainingSettings
        Which network, and how it is trained.

    Returns
    -------
    VoiceModel or Encoder
        The network.
    dict of str to float
        NSDR of the songs left out: "mean", and that of each singer; empty if there are none.
    """
    trained: VoiceModel | Encoder
    seed = settings.seed
    if settings.network == "plain":
        trained = _plain(pairs, settings.loss, settings.steps or PLAIN.steps, seed, callback, checkpoint)
        method: Method = Encoded(trained)
    else:
        recipe = RECIPES[settings.network]
        recipe = recipe._replace(steps=settings.steps or recipe.steps)
        trained = method = train_voice(
            pairs, music, recipe=recipe, judged=judged, seed=seed, callback=callback, checkpoint=checkpoint
        )
    found = scores(method, judged)
    return trained, {"mean": round(mean_nsdr(found), 2), **by_group(found, "singer")} if found else {}


@dataclass(frozen=True, eq=False)
class TrainedOnSongs:
    """A network that was trained on a folder of songs, and written."""

    data: Path
    model: VoiceModel | Encoder
    card: dict[str, Any]
    """What it was trained on, how, and how well it does on songs left out."""
    written: dict[str, Path]

    def summary(self) -> dict[str, Any]:
        """The training in plain values."""
        return {"data": self.data, "card": self.card, **self.written}


def train_on_songs(
    data: str | PathLike[str],
    out: str | PathLike[str],
    settings: TrainingSettings = TrainingSettings(),  # noqa: B008 - a frozen value
    *,
    music: Sequence[str | PathLike[str]] = (),
    checkpoint: str | PathLike[str] | None = None,
    watch: Callable[[str], AbstractContextManager[Callback | None]] = lambda title: nullcontext(),
) -> TrainedOnSongs:
    """Train a network on a folder of songs and write it; first without some songs, if these are to judge.

    Parameters
    ----------
    data : path
        The folder, as `find_stems` takes it.
    out : path
        The ``.safetensors`` file of the network.
    settings : TrainingSettings
        Which network, and how it is trained and validated.
    music : sequence of paths
        Folders of more music without voice.
    checkpoint : path, optional
        A file for unfinished work, from which training goes on; by default ``out`` with ``.training`` behind it.
    watch : callable, optional
        Called with a title for each training; gives a context in which its `Progress` is shown.
    """
    place, target = Path(fspath(data)), Path(fspath(out))
    work = target.with_name(f"{target.name}.training") if checkpoint is None else Path(fspath(checkpoint))
    pairs = [source.read() for source in find_stems(place)]
    pieces = read_music(music)
    turns = [*(folds(pairs, settings.validate, settings.seed) if settings.validate else []), Fold("", pairs, [])]
    works = [work.with_name(f"{work.name}.{turn.name}") if turn.name else work for turn in turns]
    found: dict[str, Any] = {}
    for turn, own in zip(turns, works, strict=True):
        title = f"Training without {turn.name}" if turn.name else f"Training on {place.name}"
        with watch(title) as advance:
            model, judged = train_network(
                turn.kept, pieces, settings, judged=turn.judged, callback=advance, checkpoint=own
            )
        found |= {f"nsdr_without_{turn.name}": judged} if turn.name else {}
    card = {
        "data": place.name,
        "network": settings.network,
        "loss": settings.loss,
        **getattr(model, "card_", {}),
        **found,
    }
    if isinstance(model, VoiceModel):
        model.card_ = card
        model.save(target, half=settings.half)
    else:
        model.save(target)
    for file in works:
        file.unlink(missing_ok=True)
    return TrainedOnSongs(place, model, card, {"model": target})


def _plain(pairs: Sequence[StemPair], loss: str, steps: int, seed: int, callback: Any, checkpoint: Any) -> Encoder:
    frames = mixture_frames(pair.voice + pair.music for pair in pairs)
    how = {"callback": callback, "checkpoint": checkpoint, "seed": seed}
    if loss == "unsupervised":
        return unsupervised_encoder(untrained_encoder(frames), frames, steps, **how)
    start = untrained_encoder(frames, *PLAIN.source_penalties)
    return supervised_encoder(start, known_frames(pairs, seed=seed), steps, **how)
