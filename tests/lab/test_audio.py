"""The audio experiment, in small, on made songs."""

import json

import numpy as np
import pytest
import soundfile

from lab.data import DataMissing
from lab.paper.audio import Clip, find_clips, reproduce_audio
from lab.paper.audio import _run as running
from lab.paper.audio._hearing import VARIANTS, masked, streamed
from lab.paper.audio._learners import Learners
from lab.paper.audio._page import audio_page
from lab.paper.audio._plain import plain_alm, pursuit_cost
from lab.paper.audio._rows import (
    ADMOM,
    EXACT,
    MIXTURE,
    OURS_AND_GRU,
    ROWS,
    SUPERVISED,
    TIGHTER,
    UNSUPERVISED,
    UNTRAINED,
    answer,
)
from lab.paper.audio._scores import MEASURES, cell_of, summary_of
from lab.paper.results import KeptCells
from lab.registry import EXPERIMENTS
from unmingle import pursue, synth
from unmingle.apps.audio import Parts, split
from unmingle.apps.audio.nonnegative import Adaptive, RepeatedSpectra
from unmingle.apps.audio.stft import magnitudes
from unmingle.apps.audio.training import plain
from unmingle.metrics import nsdr, si_sdr, snr

RATE = 16000


def write_clip(path, seed, gains=(0.3, 0.9)):
    """Two seconds of a made song as MIR-1K has them, music to the left, voice to the right; returns both."""
    song = synth.song(5.0, RATE, random_state=seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    sources = np.stack([song.music, song.voice], axis=1)[3 * RATE :]
    soundfile.write(path, sources / np.abs(sources).max() * gains, RATE)
    return sources.T


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("songs")
    for seed, name in enumerate(["train/abjones_1_01", "test/leon_1_01", "test/tammy_1_02"]):
        write_clip(home / "audio" / "mir1k" / f"{name}.flac", seed)
    return home


@pytest.fixture(scope="module")
def song(folder):
    return find_clips(folder).test[0].read()


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def result(folder, out):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "PLAIN", plain.PlainNetwork(frames=150, batches=1))
        return reproduce_audio(folder, out, max_steps=3, n_jobs=1)


def test_mixtures_have_voice_and_music_at_equal_energy(folder):
    music, voice = write_clip(folder / "one_1_01.flac", 7)
    song = Clip(folder / "one_1_01.flac").read()
    assert np.linalg.norm(song.voice) == pytest.approx(1)
    assert np.linalg.norm(song.music) == pytest.approx(1)
    assert si_sdr(voice, song.voice) > 60
    assert si_sdr(music, song.music) > 60
    np.testing.assert_array_equal(song.mixture, song.voice + song.music)


def test_both_layouts_are_found_and_split_by_singer(folder, tmp_path):
    train, test = find_clips(folder)
    assert [clip.name for clip in train] == ["abjones_1_01"]
    assert [clip.singer for clip in test] == ["leon", "tammy"]
    for name in ("amy_1_01.wav", "abjones_2_11.WAV", "Ani_1_01.flac", "amyx_1_02.wav"):
        (tmp_path / "Wavfile").mkdir(exist_ok=True)
        (tmp_path / "Wavfile" / name).touch()
    train, test = find_clips(tmp_path)
    assert [clip.name for clip in train] == ["abjones_2_11", "amy_1_01"]
    assert [clip.name for clip in test] == ["Ani_1_01", "amyx_1_02"]


def test_absent_and_unfit_clips_are_told(tmp_path):
    with pytest.raises(DataMissing, match=r"contains no songs: expected audio/mir1k/train"):
        find_clips(tmp_path)
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, (31 * RATE, 2))
    unfit = {
        "mono": (noise[:2000, 0], RATE, "two channels"),
        "quiet": (noise[:2000] * [1, 0], RATE, "two channels"),
        "long": (noise, RATE, "31 seconds"),
        "slow": (noise[:2000], 8000, "16000 samples a second, not 8000"),
    }
    for name, (samples, rate, words) in unfit.items():
        soundfile.write(tmp_path / f"{name}_1.wav", samples, rate)
        with pytest.raises(DataMissing, match=words):
            Clip(tmp_path / f"{name}_1.wav").read()


def test_plain_method_comes_near_the_certified_minimum(rng):
    X = rng.random((40, 3)) @ rng.random((3, 30))
    X[rng.random(X.shape) < 0.05] += 3.0
    lam = 1 / np.sqrt(40)
    L, O = plain_alm(X, lam)  # noqa: E741
    least = pursue(X, outlier_penalty=lam, tol=1e-9, max_iter=5000).low_rank
    np.testing.assert_allclose(L + O, X, atol=1e-5)
    cost = np.linalg.svd(least, compute_uv=False).sum() + lam * np.abs(X - least).sum()
    assert pursuit_cost(X, least, lam) == pytest.approx(cost)
    assert cost * (1 - 1e-8) <= pursuit_cost(X, L, lam) <= cost * 1.001


def test_masks_are_those_of_the_app(song):
    truth = Parts(magnitudes(song.voice, song.rate), magnitudes(song.music, song.rate))
    X = magnitudes(song.mixture, song.rate)
    for found, method in (
        (RepeatedSpectra(3).parts(X), RepeatedSpectra(3)),
        (streamed(Adaptive(5), song.mixture, song.rate), Adaptive(5)),
    ):
        ours, theirs = masked(song, found, "Wiener, 100 Hz"), split(song.mixture, song.rate, method=method)
        np.testing.assert_allclose(ours.voice, theirs.voice, atol=1e-7)
        assert np.linalg.norm(theirs.voice) > 0.1
    for variant in VARIANTS:
        stems = masked(song, truth, variant)
        np.testing.assert_allclose(stems.voice + stems.music, song.mixture, atol=1e-12)
    everything = Parts(np.ones_like(X), np.zeros_like(X))
    np.testing.assert_allclose(masked(song, everything, "binary").voice, song.mixture, atol=1e-12)


def test_binary_mask_takes_a_bin_as_a_whole(song):
    X = magnitudes(song.mixture, song.rate)
    stronger = Parts(0.6 * X, 0.4 * X)
    np.testing.assert_allclose(masked(song, stronger, "binary").voice, song.mixture, atol=1e-9)
    np.testing.assert_allclose(masked(song, stronger, "Wiener").voice, song.mixture * 0.36 / 0.52, atol=1e-6)


def test_cells_hold_the_measures_of_the_stems(song):
    found = answer("ideal mask", song, {})
    cell = cell_of(song, found)
    for variant, stems in found.stems.items():
        truth = [song.voice, song.music]
        for taps, mark in ((1, ""), (512, "3")):
            expected = nsdr(truth, stems, song.mixture, taps=taps)
            scores = [cell["scores"][variant][source][f"nsdr{mark}"] for source in ("voice", "music")]
            np.testing.assert_allclose(scores, expected, atol=1e-9)
        assert cell["scores"][variant]["voice"]["snr"] == pytest.approx(float(snr(song.voice, stems.voice)))
    assert cell["seconds"] == 2.0


def made_cell(value, seconds):
    scores = {source: dict.fromkeys(MEASURES, value) for source in ("voice", "music")}
    return {"scores": {"Wiener": scores}, "cpu": value, "cost": None, "seconds": seconds}


def test_means_are_weighted_by_length_and_singers_stand_alone():
    cells = {"anna_1_1": made_cell(2.0, 1.0), "anna_1_2": made_cell(5.0, 2.0), "bert_1_1": made_cell(np.inf, 3.0)}
    found = summary_of(cells)
    voice = found["masks"]["Wiener"]["voice"]
    assert (found["clips"], found["cpu"]) == (3, 5.0)
    assert voice["singers"]["anna"]["nsdr"] == pytest.approx(4.0)
    assert voice["singers"]["bert"]["nsdr"] is None
    del cells["bert_1_1"]
    music = summary_of(cells)["masks"]["Wiener"]["music"]["overall"]
    assert music["mean"]["sar"] == pytest.approx(4.0)
    assert music["median"]["sir"] == 3.5
    assert music["5 %"]["snr"] == pytest.approx(2.15)


def test_a_line_that_was_broken_off_is_done_anew(tmp_path):
    kept = KeptCells(tmp_path / "cells.jsonl")
    kept.add("a", {"x": 1})
    kept.add("b", {"x": 2})
    text = (tmp_path / "cells.jsonl").read_text()
    (tmp_path / "cells.jsonl").write_text(text[:-5])
    again = KeptCells(tmp_path / "cells.jsonl")
    assert ("a" in again, "b" in again) == (True, False)
    again.add("b", {"x": 3})
    assert KeptCells(tmp_path / "cells.jsonl")["b"] == {"x": 3}
    assert KeptCells(tmp_path / "cells.jsonl")["a"] == {"x": 1}


def test_table_is_complete_and_rows_are_in_order(result, out):
    assert json.loads((out / "audio.json").read_text()) == result
    assert list(result["rows"]) == [MIXTURE, *ROWS]
    means = {name: row["masks"]["Wiener, 100 Hz"]["voice"]["overall"]["mean"]["nsdr"]
             for name, row in result["rows"].items() if name != MIXTURE}  # fmt: skip
    assert max(means, key=means.get) == "ideal mask"
    mixture = result["rows"][MIXTURE]["masks"]["none"]
    assert mixture["voice"]["overall"]["mean"]["nsdr"] == mixture["music"]["overall"]["mean"]["nsdr"] == 0
    verdicts = result["verdicts"]
    assert (verdicts["clips"], verdicts["not_above_plain"]) == (2, 2)
    assert 0.99 < verdicts["mean_ratio"] <= verdicts["largest_ratio"] <= 1
    change = {
        name: result["rows"][name]["masks"]["binary"]["voice"]["overall"]["mean"]["nsdr"] for name in (EXACT, TIGHTER)
    }
    assert verdicts["changes"]["binary"] == pytest.approx(change[TIGHTER] - change[EXACT], abs=1e-9)


def test_page_and_terminal_show_the_figures(result):
    page = audio_page(result)
    (head, rows), (_, demands) = EXPERIMENTS["audio"].tables(result)
    assert [row[0] for row in rows] == [MIXTURE, "high-pass alone", *(name for name in ROWS if name != TIGHTER)]
    assert all(len(row) == len(head) for row in rows)
    for name, row in result["rows"].items():
        for mask, sources in row["masks"].items():
            assert f"<td>{sources['voice']['overall']['mean']['sir3']:.2f}</td>" in page, (name, mask)
    assert "2 of 2" in page
    assert demands[0][1:] == ["2 of 2", "met"]
    assert "only order and gaps compare" in page


def test_a_second_call_only_does_what_is_missing(result, folder, out, monkeypatch):
    path = out / "audio.jsonl"
    whole = path.read_text()
    lines = whole.splitlines()
    path.write_text("\n".join(line for line in lines if not ("tammy" in line and ADMOM in line)))
    done, calls = [], []

    def work(row, clip, given):
        done.append((row, clip.name))
        return real(row, clip, given)

    real = running._work
    monkeypatch.setattr(running, "_work", work)
    monkeypatch.setattr(Learners, "__getitem__", lambda *_: pytest.fail("these rows were kept"))
    again = reproduce_audio(folder, out, max_steps=3, n_jobs=1, callback=calls.append)
    assert done == [(ADMOM, "tammy_1_02")]
    assert (calls[-1].done, calls[-1].total) == (2 * len(result["rows"]),) * 2
    assert again["rows"][ADMOM]["masks"] == result["rows"][ADMOM]["masks"]


def test_without_torch_what_is_trained_here_is_left_out(monkeypatch):
    assert running._rows() == ([MIXTURE, *ROWS], "")
    monkeypatch.setattr(running, "find_spec", lambda name: None)
    rows, remark = running._rows()
    assert {*ROWS} - {*rows} == {UNSUPERVISED, SUPERVISED, *OURS_AND_GRU}
    assert "pip install torch" in remark


def test_an_encoder_is_learnt_once(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "PLAIN", plain.PlainNetwork(frames=100))
    clips = find_clips(folder).train
    first = Learners(clips, tmp_path, 3)[UNSUPERVISED]
    monkeypatch.setattr(plain, "RobustNMF", lambda *_, **__: pytest.fail("the spectra were kept"))
    again = Learners(clips, tmp_path, 3)[UNSUPERVISED]
    assert np.array_equal(first.encoder.layers.encoder, again.encoder.layers.encoder)
    assert Learners(clips, tmp_path, 3).origin(UNTRAINED) == Learners(clips, tmp_path, 4).origin(UNTRAINED)
    assert Learners(clips, tmp_path, 3).origin(UNSUPERVISED) != Learners(clips, tmp_path, 4).origin(UNSUPERVISED)
