"""The experiment on networks for voices, in small, on made songs."""

import json

import numpy as np
import pytest
from stems import write_stems

from lab.paper.voice_networks import ABLATIONS, RIVALS, Candidate, TrialMethod, WholeFront, trained
from lab.paper.voices import _run as running
from lab.paper.voices._page import voices_page
from lab.registry import EXPERIMENTS
from unmingle.apps.audio import Parts
from unmingle.apps.audio.training.mixing import Mixing
from unmingle.apps.audio.training.stems import find_stems

SMALL = Mixing(sequences=2, frames=20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("songs")
    write_stems(home / "train", [f"{singer}_{song}_01" for singer in ("abjones", "amy") for song in range(3)], 1)
    write_stems(home / "test", ["leon_1_01"], 1)
    return home


@pytest.fixture
def small(monkeypatch):
    """Small networks on small songs."""
    for table in (RIVALS, ABLATIONS):
        for name, one in table.items():
            monkeypatch.setitem(table, name, one._replace(n_components=4, mixing=SMALL))
    monkeypatch.setattr(running, "SEEDS", (0, 1))


def test_rivals_and_ablations_are_of_one_size(folder):
    pairs = [source.read() for source in find_stems(folder / "train")]
    sizes = {}
    for name, one in {**RIVALS, **ABLATIONS}.items():
        sizes[name] = trained(one._replace(mixing=SMALL), pairs, 1, 0).n_weights
    assert max(sizes.values()) < 1.05 * min(sizes.values())


def test_all_cells_are_there_and_kept(folder, tmp_path, small, monkeypatch):
    run = EXPERIMENTS["voices"].run
    found = run(folder, tmp_path, max_steps=2, n_jobs=1)
    assert json.loads((tmp_path / "voices.json").read_text()) == found
    assert found["settings"]["clips"] == 6
    for name in RIVALS:
        assert list(found["networks"][name]) == ["songs", "abjones", "amy"]
        assert all(list(cells) == ["0", "1"] for cells in found["networks"][name].values())
    assert all(list(found["networks"][name]["songs"]) == ["0", "1"] for name in ABLATIONS)
    monkeypatch.setattr(running, "_cell", lambda *_: pytest.fail("all cells were kept"))
    assert run(folder, tmp_path, max_steps=2, n_jobs=1) == found


def test_the_page_tells_means_and_differences(folder, tmp_path, small):
    found = EXPERIMENTS["voices"].run(folder, tmp_path, max_steps=2, n_jobs=1)
    (head, rows), (_, ablations) = EXPERIMENTS["voices"].tables(found)
    assert head[2:] == ["songs left out", "without abjones", "without amy", "known"]
    ours, theirs = (found["networks"][name]["songs"] for name in RIVALS)
    values = [cell["left_out"] for cell in ours.values()]
    assert rows[0][2] == f"{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}"
    differences = [ours[seed]["left_out"] - theirs[seed]["left_out"] for seed in ours]
    assert rows[2][2].startswith(f"{np.mean(differences):+.2f}")
    other = found["networks"]["without bias"]["songs"]
    change = np.mean([other[seed]["left_out"] - ours[seed]["left_out"] for seed in ours])
    assert next(row for row in ablations if row[0] == "without bias")[-1].startswith(f"{change:+.2f}")
    page = voices_page(found)
    assert all(row[2] in page for row in (*rows, *ablations))


def test_a_network_under_trial_is_heard_as_its_encoder(folder):
    """The mask of torch's network is that of the encoder without torch."""
    pairs = [source.read() for source in find_stems(folder / "train")]
    method = trained(Candidate(6, mixing=SMALL), pairs, 3, 0)
    from unmingle.apps.audio import VoiceModel
    from unmingle.apps.audio.stft import magnitudes, over_level

    heard = magnitudes(pairs[0].voice + pairs[0].music, 16000)
    model = VoiceModel(method._network.to_encoder(), method._front.usual)
    ours, theirs = method.parts(heard), model.parts(over_level(heard))
    assert isinstance(ours, Parts)
    share = theirs.voice**2 / (theirs.voice**2 + theirs.music**2)
    assert np.abs(ours.voice**2 - share).max() < 1e-4


def test_the_whole_front_leaves_bins_alone():
    frames = np.random.default_rng(0).random((3, 513)).astype(np.float32)
    front = WholeFront.neutral()
    assert np.array_equal(front.features(frames), frames)
    assert np.array_equal(front.sums(frames), frames)
    assert np.array_equal(front.spread(frames, 100), frames[:, :100])
    assert TrialMethod.streams is False
