"""Whole films in Python: what the command does, without the command."""

import csv

import numpy as np
import pytest
from streams import pushed

import unmingle
from unmingle.apps.video import Outputs, Stream, report_page, separate, watch
from unmingle.media import MediaError, open_frames


def test_masks_and_events_are_those_of_the_frames(film, tmp_path):
    outputs = Outputs(mask=tmp_path / "mask.npz", events=tmp_path / "events.csv", model=tmp_path / "model.safetensors")
    watched = watch(film[0], outputs=outputs)
    found = list(separate(film[0]))
    assert watched.errors == []
    assert watched.written == outputs.wanted()
    with np.load(tmp_path / "mask.npz") as stored:
        assert np.array_equal(stored["frames"] > 0, [one.mask for one in found])
    with (tmp_path / "events.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(watched.events) > 0
    assert watched.card_["largest_share"] == max(one.score for one in found)
    assert unmingle.load(tmp_path / "model.safetensors").n_frames == len(film[0])


def test_frames_that_are_open_are_taken_as_they_are(film):
    with open_frames(film[0][:50]) as frames:
        assert watch(frames, max_frames=40).card_["frames"] == 40
        assert next(frames).time == pytest.approx(40 / 25)


def test_a_true_answer_ends_the_film(film):
    watched = watch(film[0], callback=lambda progress: progress.done == 45)
    assert (watched.tally.frames, watched.interrupted, watched.errors) == (45, False, [])


def test_what_came_before_an_error_is_kept(film, tmp_path):
    def frames():
        yield from film[0][:40]
        raise MediaError("The camera fell down.")

    watched = watch(frames(), outputs=Outputs(mask=tmp_path / "mask.npz"))
    assert [str(error) for error in watched.errors] == ["The camera fell down."]
    with np.load(tmp_path / "mask.npz") as stored:
        assert len(stored["frames"]) == 40


def test_an_interrupt_ends_the_film_and_is_told(film):
    def frames():
        yield from film[0][:35]
        raise KeyboardInterrupt

    watched = watch(frames())
    assert (watched.tally.frames, watched.interrupted) == (35, True)


class Freezing:
    """A screen on which someone freezes the stream."""

    def __init__(self, stream):
        self.stream = stream

    def show(self, found, dropped):
        self.stream.freeze()


def test_only_a_stream_that_was_frozen_from_the_start_is_not_saved(film, tmp_path):
    stream, path = Stream(), tmp_path / "model.safetensors"
    pushed(stream, film[0][:40])
    watch(film[0][:2], stream.freeze(), Outputs(model=path))
    assert not path.exists()
    watch(film[0][:2], stream.freeze(False), Outputs(model=path), screen=Freezing(stream))
    assert path.exists()


@pytest.mark.parametrize("options", [{"event_gap": -1.0}, {"max_frames": 0}, {"seconds": 0.0}])
def test_what_cannot_be_meant_is_refused(film, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        watch(film[0], **options)


def test_paths_may_be_strings_and_a_report_needs_pictures(film, tmp_path):
    watched = watch(film[0][:40], outputs=Outputs(report=str(tmp_path / "r.html"), events=str(tmp_path / "e.json")))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.json", "r.html"]
    assert report_page(watched).startswith("<!doctype html>")
    with pytest.raises(ValueError, match="Outputs"):
        report_page(watch(film[0][:3]))
