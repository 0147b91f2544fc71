"""Names of the files that come of songs: one for each, and none that is taken."""

import os

import pytest

from unmingle.apps.audio import Outputs
from unmingle.apps.audio._output_names import output_names
from unmingle.media import MediaError


def put(folder, *names):
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_bytes(b"x")
    return folder


def voices(plans):
    return [plan.stems["voice"].name for plan in plans]


def test_files_and_folders(tmp_path):
    album = put(tmp_path / "album", "song10.mp3", "song2.wav", "cover.png", ".hidden.wav")
    single = put(tmp_path / "single", "one.m4a") / "one.m4a"
    plans = output_names([album, single], Outputs(tmp_path / "out", "ogg"))
    assert [plan.source.name for plan in plans] == ["song2.wav", "song10.mp3", "one.m4a"]
    assert plans[0].stems == {name: tmp_path / "out" / f"song2.{name}.ogg" for name in ("voice", "music")}
    assert plans[0].report == tmp_path / "out" / "song2.html"


def test_names_that_differ_in_their_suffixes_keep_them(tmp_path):
    album = put(tmp_path / "album", "a.wav", "A.flac", "b.wav")
    found = voices(output_names([album], Outputs(tmp_path)))
    assert sorted(found) == ["A.flac.voice.flac", "a.wav.voice.flac", "b.voice.flac"]


def test_equal_names_of_two_folders_are_told(tmp_path):
    first, second = put(tmp_path / "first", "a.wav"), put(tmp_path / "second", "a.wav")
    with pytest.raises(MediaError, match=r"first.a\.wav and .*second.a\.wav would both be written to .*a\.wav\.voice"):
        output_names([first, second], Outputs(tmp_path / "out"))


def test_kept_suffixes_may_collide_too(tmp_path):
    album = put(tmp_path / "album", "a.wav", "a.flac", "a.wav.mp3")
    with pytest.raises(MediaError, match="would both be written to"):
        output_names([album], Outputs(tmp_path / "out"))


def test_a_song_given_twice_counts_once(tmp_path):
    album = put(tmp_path / "album", "a.wav")
    again = [album, album / "a.wav", album / ".." / "album" / "a.wav"]
    if hasattr(os, "symlink"):
        (tmp_path / "link.wav").symlink_to(album / "a.wav")
        again.append(tmp_path / "link.wav")
    assert len(output_names(again, Outputs(tmp_path / "out"))) == 1


def test_no_result_takes_the_place_of_a_song(tmp_path):
    album = put(tmp_path / "album", "a.wav", "a.voice.wav")
    with pytest.raises(MediaError, match="would replace the song"):
        output_names([album], Outputs(album, "wav"))
    assert voices(output_names([album], Outputs(album))) == ["a.voice.voice.flac", "a.voice.flac"]


def test_a_folder_without_sound_is_told(tmp_path):
    with pytest.raises(MediaError, match="contains no sound"):
        output_names([put(tmp_path / "album", "cover.png")], Outputs(tmp_path))


def test_without_a_folder_songs_have_no_files(tmp_path):
    (found,) = output_names([put(tmp_path / "album", "a.wav")], Outputs())
    assert (found.source.name, found.stems, found.report) == ("a.wav", {}, None)
