"""Training of networks for voices, in small."""

import numpy as np
import pytest
from stems import write_stems

import unmingle
from unmingle.apps import audio
from unmingle.apps.audio.nonnegative import RepeatedSpectra
from unmingle.apps.audio.training import plain
from unmingle.apps.audio.training.judging import by_group, mean_nsdr, scores
from unmingle.apps.audio.training.mixing import Mixing
from unmingle.apps.audio.training.plain import (
    known_frames,
    mixture_frames,
    supervised_encoder,
    unsupervised_encoder,
    untrained_encoder,
)
from unmingle.apps.audio.training.stems import find_stems
from unmingle.apps.audio.training.train import Recipe, train_voice

RECIPE = Recipe(24, 1, 60, step_size=0.01, mixing=Mixing(sequences=4, frames=40))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    return [source.read() for source in find_stems(write_stems(tmp_path_factory.mktemp("songs")))]


@pytest.fixture(scope="module")
def trained(pairs):
    return train_voice(pairs, recipe=RECIPE, seed=0)


@pytest.fixture(autouse=True)
def few_frames(monkeypatch):
    monkeypatch.setattr(plain, "PLAIN", plain.PlainNetwork(frames=150, batches=1))


def numbers(model):
    return np.concatenate([part.ravel() for part in (*model.encoder_.cell, *model.encoder_.head)])


def test_training_helps_on_the_songs_it_learns_from(pairs, trained):
    first = train_voice(pairs, recipe=RECIPE._replace(steps=1), seed=0)
    before, after = (mean_nsdr(scores(model, pairs)) for model in (first, trained))
    assert after > before + 1
    assert trained.card_["songs"] == 3
    assert trained.card_["singers"] == 2
    assert trained.card_["weights"] == trained.encoder_.n_weights


def test_the_same_seed_gives_the_same_network_and_judges_change_nothing(pairs, trained):
    looks = []
    again = train_voice(
        pairs, recipe=RECIPE, seed=0, judged=pairs[:1], callback=lambda told: looks.append(told.measure)
    )
    assert np.array_equal(numbers(trained), numbers(again))
    assert not np.array_equal(numbers(trained), numbers(train_voice(pairs, recipe=RECIPE, seed=1)))
    assert np.isfinite(looks).all()
    assert looks[-1] == pytest.approx(mean_nsdr(scores(again, pairs[:1])), abs=1e-6)


def test_interrupted_training_goes_on(pairs, trained, tmp_path):
    train_voice(pairs, recipe=RECIPE, checkpoint=tmp_path / "work", callback=lambda told: told.done >= 20)
    again = train_voice(pairs, recipe=RECIPE, checkpoint=tmp_path / "work")
    assert np.array_equal(numbers(trained), numbers(again))
    with pytest.raises(ValueError, match="belongs to other data or settings"):
        train_voice(pairs[:2], recipe=RECIPE, checkpoint=tmp_path / "work")


@pytest.mark.parametrize("half", [False, True])
def test_networks_are_saved_with_their_cards(pairs, trained, tmp_path, half):
    trained.save(tmp_path / "voice.safetensors", half=half)
    found = unmingle.load(tmp_path / "voice.safetensors")
    assert found.card_ == trained.card_
    mixture = pairs[0].voice + pairs[0].music
    ours, theirs = (audio.split(mixture, 16000, method=model).voice for model in (trained, found))
    assert np.abs(ours - theirs).max() <= (0.02 if half else 0) * np.abs(ours).max()


def test_scores_are_weighted_by_length(pairs):
    found = scores(RepeatedSpectra(4), pairs)
    assert [one.source.name for one in found] == ["anna_1_01", "anna_2_01", "bert_1_01"]
    assert mean_nsdr(found) == pytest.approx(np.mean([one.nsdr for one in found]))  # equally long
    assert by_group(found, "singer")["bert"] == pytest.approx(found[2].nsdr, abs=0.006)
    longer = [found[0]._replace(seconds=3.0), found[1]._replace(seconds=1.0)]
    assert mean_nsdr(longer) == pytest.approx(0.75 * found[0].nsdr + 0.25 * found[1].nsdr)


def test_known_frames_add_up(pairs):
    frames = known_frames(pairs)
    assert np.allclose(frames.music + frames.voice, frames.X, atol=1e-4 * frames.X.max())


def test_the_network_of_the_paper_learns_from_sources(pairs):
    heard = mixture_frames(pair.voice + pair.music for pair in pairs)
    start, known = untrained_encoder(heard), known_frames(pairs)

    def distance(encoder):
        codes, outliers = encoder.encode(known.X)
        own = outliers**2
        mask = own / (own + (codes @ encoder.components) ** 2 + 1e-8)
        return float(np.mean(np.sum((mask * known.X - known.voice) ** 2, axis=1)))

    taught = supervised_encoder(start, known, 60)
    assert (taught.n_layers, len(taught.components), taught.tied) == (20, 25, True)
    assert distance(taught) < 0.9 * distance(start)
    assert distance(taught) < distance(unsupervised_encoder(start, heard, 60))
