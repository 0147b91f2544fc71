"""The page of a song: what is heard and seen on it is what was separated."""

import re
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
import soundfile
from PIL import Image
from sounds import RATE, Upper, stem, tones, write_sound

from unmingle.apps.audio import Outputs, Settings, separate
from unmingle.apps.audio.report import report_page
from unmingle.media import read_sound


def separated(folder, samples, rate=RATE, report=True):
    song = write_sound(folder / "song & dance.wav", samples, rate)
    (found,) = separate(song, Outputs(folder / "stems", "wav", report=report), Settings(Upper())).songs
    return found


def players(page):
    found = re.findall(r'<audio [^>]*aria-label="(\w+) of the excerpt" src="data:audio/(\w+);base64,([^"]+)"', page)
    return {name: (kind, b64decode(content)) for name, kind, content in found}


def pictures(page):
    found = re.findall(r'aria-label="spectrogram of the (\w+)".*?href="data:image/jpeg;base64,([^"]+)"', page)
    return {name: np.asarray(Image.open(BytesIO(b64decode(content)))).astype(float) for name, content in found}


def heard(folder, kind, content):
    suffix = {"mpeg": "mp3"}.get(kind, kind)
    (folder / f"heard.{suffix}").write_bytes(content)
    return read_sound(folder / f"heard.{suffix}")


def test_players_hold_the_excerpt(tmp_path):
    found = separated(tmp_path, tones(50.0, channels=2))
    sounds = players(report_page(found))
    assert list(sounds) == ["mixture", "voice", "music"]
    start = round(found.excerpt.start * RATE)
    parts = {"mixture": stem(found.source), **{name: stem(found.written[name]) for name in ("voice", "music")}}
    for name, (kind, content) in sounds.items():
        sound, expected = heard(tmp_path, kind, content), parts[name][start : start + 20 * RATE]
        assert sound.rate == RATE
        assert sound.samples.shape == expected.shape
        assert np.mean((sound.samples - expected) ** 2) < 0.01 * np.mean(expected**2)


def test_pictures_show_each_tone_where_it_is(tmp_path):
    """The low tone, 250 Hz, is in the music; the high one, 2 kHz, in the voice, in the second half."""
    shown = pictures(report_page(separated(tmp_path, tones(4.0))))
    assert list(shown) == ["mixture", "voice", "music"]
    high, low = 512 - 2000 // (8000 / 512), 512 - 250 // (8000 / 512)
    for name, picture in shown.items():
        bright = picture.sum(axis=2)
        assert bright.shape[0] == 513
        middle = bright.shape[1] // 2
        rows, columns = slice(int(high) - 4, int(high) + 5), slice(middle + 20, -20)
        in_voice = bright[rows, columns].max(axis=0).mean()
        before = bright[rows, 20 : middle - 20].max(axis=0).mean()
        in_music = bright[int(low) - 4 : int(low) + 5, 20:-20].max(axis=0).mean()
        assert (in_voice > 400) == (name != "music"), name
        assert (in_music > 400) == (name != "voice"), name
        assert before < 200


def test_words_tell_what_is_heard(tmp_path):
    page = report_page(separated(tmp_path, tones(50.0, channels=2)))
    assert "<h1>song &amp; dance.wav</h1>" in page
    assert "0:50.0 of stereo sound at 16000 Hz" in page
    assert re.search(r"Below are 20 of 50 seconds, from 0:(2[5-9]|30) to 0:(4[5-9]|50): where the voice", page)
    assert "upper: the upper bins" in page
    assert "64 ms as a stream, 1024 samples" in page
    assert "1, the stems are as loud as in the song" in page
    assert ">kHz</text>" in page
    assert ">seconds from the start of the excerpt</text>" in page


@pytest.mark.parametrize(
    ("samples", "rate", "kind"),
    [
        (tones(2.0, 8000), 8000, "mpeg"),
        (tones(1.0, 96000, 2), 96000, "flac"),
        (tones(1.0, 44100, 6, peak=5.0), 44100, "mpeg"),
        (np.zeros((4000, 1)), RATE, "mpeg"),
        (tones(1 / RATE), RATE, "mpeg"),
        (tones(1.0, 123457), 123457, "wav"),
    ],
    ids=["8 kHz", "96 kHz", "6 channels", "silent", "1 sample", "odd rate"],
)
def test_every_song_has_a_page(tmp_path, samples, rate, kind):
    page = separated(tmp_path, samples, rate).written["report"].read_text(encoding="utf-8")
    assert "Below is the whole song." in page
    assert {kind for kind, _ in players(page).values()} == {kind}
    sound = soundfile.read(BytesIO(players(page)["mixture"][1]), always_2d=True)[0]
    assert np.abs(sound).max(initial=0.0) <= 1.0
    assert len(pictures(page)) == 3


def test_a_song_that_ends_early_says_so(tmp_path):
    song = write_sound(tmp_path / "song.wav", tones(3.0))
    song.write_bytes(song.read_bytes()[:100_000])
    found = separate(song, Outputs(tmp_path / "stems", report=True), Settings(Upper()))
    assert "The song ends early: song.wav is cut off or damaged" in report_page(found.songs[0])
    assert found.warnings == [str(found.songs[0].incomplete)]


def test_a_page_needs_an_excerpt(tmp_path):
    with pytest.raises(ValueError, match="separate the song with report=True"):
        report_page(separated(tmp_path, tones(1.0), report=False))
