"""Frames that are written beside other work: all, in their order, and no failure is lost."""

import threading

import numpy as np
import pytest

from unmingle.media import MediaError, open_writer
from unmingle.media.background import FRAMES_WAITING, ReadingThread, WritingThread

PICTURE = np.zeros((4, 6), np.uint8)


def written_until_it_fails(thread, make_picture=lambda: PICTURE):
    for number in range(100):
        thread.write(make_picture, 1.0 + number)


def test_all_frames_are_written_in_their_order(tmp_path):
    thread, makers = WritingThread(open_writer(tmp_path / "out.npz")), set()

    def picture(number):
        makers.add(threading.current_thread())
        return PICTURE + np.uint8(number)

    for number in range(50):
        thread.write(lambda number=number: picture(number), number / 10)
    thread.close()
    with np.load(tmp_path / "out.npz") as stored:
        assert stored["frames"][:, 0, 0].tolist() == list(range(50))
        np.testing.assert_allclose(stored["times"], np.arange(50) / 10)
    assert threading.main_thread() not in makers


def test_a_failure_is_told_once_and_what_came_before_is_kept(tmp_path):
    thread = WritingThread(open_writer(tmp_path / "out.npz"))
    thread.write(lambda: PICTURE, 0.0)
    thread.write(lambda: np.zeros((5, 6), np.uint8), 0.1)
    with pytest.raises(MediaError, match="another file"):
        written_until_it_fails(thread)
    thread.close()
    with np.load(tmp_path / "out.npz") as stored:
        assert stored["frames"].shape == (1, 4, 6)


def test_a_failure_at_the_end_is_told_when_it_is_closed(tmp_path):
    thread = WritingThread(open_writer(tmp_path / "out.npz"))
    thread.write(lambda: PICTURE, 0.0)
    thread.write(lambda: 1 / 0, 0.1)
    with pytest.raises(ZeroDivisionError):
        thread.close()
    assert [path.name for path in tmp_path.iterdir()] == ["out.npz"]


def test_one_who_waits_for_room_hears_of_a_failure(tmp_path):
    thread, go_on = WritingThread(open_writer(tmp_path / "out.npz")), threading.Event()

    def late():
        go_on.wait(10)
        raise MediaError("The disk is gone.")

    thread.write(late, 0.0)
    threading.Timer(0.2, go_on.set).start()
    with pytest.raises(MediaError, match="gone"):
        written_until_it_fails(thread)
    thread.close()
    assert list(tmp_path.iterdir()) == []


def test_after_a_failure_nobody_waits(tmp_path):
    thread = WritingThread(open_writer(tmp_path / "out.npz"))
    with pytest.raises(ZeroDivisionError):
        written_until_it_fails(thread, lambda: 1 / 0)
    written_until_it_fails(thread)
    thread.close()
    assert list(tmp_path.iterdir()) == []


def test_a_reading_thread_is_a_few_items_ahead_and_ends_when_it_is_stopped():
    made, closed = [], threading.Event()

    def produce(stop):
        try:
            for number in range(100):
                made.append(number)
                yield number
        finally:
            closed.set()

    thread = ReadingThread(produce, newest=False, name="numbers")
    assert [thread.get() for _ in range(10)] == list(range(10))
    thread.stop()
    thread.join()
    assert closed.is_set()
    assert 10 <= len(made) <= 10 + FRAMES_WAITING + 1
    with pytest.raises(StopIteration):
        thread.get()
