"""Whole films in Python: what the command does, without the command."""

import csv
from contextlib import nullcontext

import numpy as np
import pytest
from streams import pushed

import unmingle
from unmingle.apps.video import Outputs, Settings, Stream, separate, separated_frames
from unmingle.apps.video._report import report_page
from unmingle.media import MediaError, open_frames


def test_masks_and_events_are_those_of_the_frames(film, tmp_path):
    outputs = Outputs(mask=tmp_path / "mask.npz", events=tmp_path / "events.csv", model=tmp_path / "model.safetensors")
    result = separate(film[0], outputs=outputs)
    found = list(separated_frames(film[0]))
    assert result.errors == []
    assert result.written == outputs.wanted()
    with np.load(tmp_path / "mask.npz") as stored:
        assert np.array_equal(stored["frames"] > 0, [one.mask for one in found])
    with (tmp_path / "events.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(result.events) > 0
    assert result.summary()["largest_share"] == max(one.score for one in found)
    assert unmingle.load(tmp_path / "model.safetensors").state.n_frames == len(film[0])


def test_frames_that_are_open_are_taken_as_they_are(film):
    with open_frames(film[0][:50]) as frames:
        assert separate(frames, settings=Settings(max_frames=40)).summary()["frames"] == 40
        assert next(frames).time == pytest.approx(40 / 25)


def test_a_true_answer_ends_the_film(film):
    result = separate(film[0], progress=lambda progress: progress.done == 45)
    assert (result.tally.frames, result.interrupted, result.errors) == (45, False, [])


def test_what_came_before_an_error_is_kept(film, tmp_path):
    def frames():
        yield from film[0][:40]
        raise MediaError("The camera fell down.")

    result = separate(frames(), outputs=Outputs(mask=tmp_path / "mask.npz"))
    assert [str(error) for error in result.errors] == ["The camera fell down."]
    with np.load(tmp_path / "mask.npz") as stored:
        assert len(stored["frames"]) == 40


def test_an_interrupt_ends_the_film_and_is_told(film):
    def frames():
        yield from film[0][:35]
        raise KeyboardInterrupt

    result = separate(frames())
    assert (result.tally.frames, result.interrupted) == (35, True)


class Freezing:
    """A screen on which someone freezes the stream."""

    def __init__(self, stream):
        self.stream = stream

    def show(self, found, dropped):
        self.stream.freeze()


def freezing(stream, name):
    return nullcontext(Freezing(stream))


def test_only_a_stream_that_was_frozen_from_the_start_is_not_saved(film, tmp_path):
    stream, path = Stream(), tmp_path / "model.safetensors"
    pushed(stream, film[0][:40])
    separate(film[0][:2], Outputs(model=path), stream=stream.freeze())
    assert not path.exists()
    separate(
        film[0][:2],
        Outputs(model=path),
        stream=stream.freeze(False),
        open_screen=freezing,
    )
    assert path.exists()


@pytest.mark.parametrize("options", [{"event_gap": -1.0}, {"max_frames": 0}, {"seconds": 0.0}])
def test_what_cannot_be_meant_is_refused(film, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        separate(film[0], settings=Settings(**options))


def test_paths_may_be_strings_and_a_report_needs_pictures(film, tmp_path):
    result = separate(film[0][:40], outputs=Outputs(report=str(tmp_path / "r.html"), events=str(tmp_path / "e.json")))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.json", "r.html"]
    assert report_page(result).startswith("<!doctype html>")
    with pytest.raises(ValueError, match="Outputs"):
        report_page(separate(film[0][:3]))
