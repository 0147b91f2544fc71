"""Films that are shaken for the experiment on alignment, and what is said of them."""

import numpy as np
import pytest
from scipy import ndimage

from lab.paper.alignment import FacesApart, _shaking
from lab.paper.alignment._gradients import gradient_trials
from lab.paper.alignment._shaking import MARGIN, MOST, shaking_tables, shaking_trials, walk, window
from lab.paper.video import Film, labelled_films
from unmingle.synth import displaced_faces


@pytest.fixture(scope="module")
def film():
    """A thing that walks before a scene with texture, in colour."""
    rng = np.random.default_rng(0)
    scene = 120 + 40 * np.stack([ndimage.gaussian_filter(rng.normal(size=(84, 104)), 2.0) * 7] * 3, axis=2)
    frames, truth = np.empty((140, 84, 104, 3), np.uint8), np.zeros((140, 84, 104), np.uint8)
    for i in range(140):
        frames[i] = np.clip(scene + rng.normal(0, 2, scene.shape), 0, 255)
        frames[i, 40:60, i % 80 : i % 80 + 14] = 250
        truth[i, 40:60, i % 80 : i % 80 + 14] = 255
    return Film(frames[..., 0], truth, "cdnet", frames)


def test_a_walk_stays_near_and_is_the_same_again():
    places = walk(500)
    assert np.abs(places).max() <= MOST
    assert np.abs(np.diff(places, axis=0)).max() <= 1.5
    assert places.std() > 1
    assert np.array_equal(places, walk(500))


def test_a_window_shows_what_lies_there(film):
    places = np.zeros((140, 2))
    places[1] = 3, -2
    moved = window(film, places)
    inner = slice(MARGIN, -MARGIN)
    assert np.array_equal(moved.colours[0], film.colours[0, inner, inner])
    shown = film.colours[1, MARGIN - 2 : -MARGIN - 2, MARGIN + 3 : -MARGIN + 3]
    assert np.abs(moved.colours[1].astype(int) - shown).max() <= 1
    assert np.array_equal(moved.truth[1], film.truth[1, MARGIN - 2 : -MARGIN - 2, MARGIN + 3 : -MARGIN + 3])


def test_every_way_has_its_figures(film, monkeypatch, tmp_path):
    monkeypatch.setattr(_shaking, "read_labelled", lambda path: film)
    rows = shaking_trials("highway", tmp_path)
    assert [row["film"] for row in rows][:3] == ["highway", "highway, at rest", "highway, shaken"]
    shaken = rows[2]["ways"]
    rest = rows[1]["ways"]["none"]["f"]
    assert shaken["none"]["f"] < 0.9 * rest
    for family in ("translation", "similarity", "projective"):
        assert shaken[family]["f"] > 0.85 * rest  # the truth of so small a thing is whole pixels, too
        assert shaken[family]["f"] > shaken["none"]["f"] + 0.05
    tables = shaking_tables(rows)
    assert len(tables) == 2
    assert all({len(row) for row in table} == {len(head)} for head, table in tables)
    assert shaking_tables([]) == []


def test_highway_shaken_is_as_good_as_at_rest(data_dir):
    rows = shaking_trials("highway", labelled_films(data_dir)["highway"])
    rest, shaken = rows[1]["ways"]["none"]["f"], rows[2]["ways"]
    assert min(shaken[family]["f"] for family in ("translation", "similarity", "projective")) >= 0.95 * rest
    assert shaken["none"]["f"] < 0.8 * rest


def test_gradients_through_the_encoder_find_drawn_faces_again():
    pytest.importorskip("torch")
    faces = displaced_faces(12, shift=1.5, random_state=0)
    starts = np.tile([[1.0, 0, 12.0], [0, 1, 12.0], [0, 0, 1]], (12, 1, 1))
    row = gradient_trials(FacesApart("Gore", list(faces.images), (40, 32), starts, 4), cover=False)
    assert row["trials"] == 48
    assert row["mean"] < 0.3
