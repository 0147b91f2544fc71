"""Pictures in pages: their pixels, their order, and the names above them."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from unmingle.report import pictures as page_pictures


def opened(content):
    with Image.open(io.BytesIO(content)) as picture:
        return np.asarray(picture)


def inlined(html):
    """The pictures in a piece of HTML: kind and content."""
    return [(kind, base64.b64decode(data)) for kind, data in re.findall(r'data:([\w/]+);base64,([^"]+)"', html)]


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3), (5, 7, 4)])
def test_a_png_holds_the_pixels(rng, shape):
    picture = rng.random(shape)
    np.testing.assert_allclose(opened(page_pictures.png(picture)) / 255, picture, atol=0.5 / 255 + 1e-9)


def test_brightness_outside_of_0_to_1_is_cut_off():
    assert page_pictures.pixels(np.array([[-0.2, 0.0, 0.5, 1.0, 7.0]])).tolist() == [[0, 0, 128, 255, 255]]


def test_images_and_photos_are_inlined_with_descriptions(rng):
    picture = rng.random((4, 6))
    html = page_pictures.image(picture, 'a "b" & c')
    assert inlined(html) == [("image/png", page_pictures.png(picture))]
    assert 'alt="a &quot;b&quot; &amp; c"' in html
    assert inlined(page_pictures.photo(b"some JPEG", "x")) == [("image/jpeg", b"some JPEG")]


def test_a_film_moves_and_has_a_still(rng):
    frames = [np.full((4, 6), brightness) for brightness in (0.0, 0.5, 1.0)]
    (still_kind, still), (kind, moving) = inlined(page_pictures.film(frames, frames[1], "x", frames_per_second=10))
    assert (still_kind, kind) == ("image/png", "image/webp")
    np.testing.assert_array_equal(opened(still), 128)
    with Image.open(io.BytesIO(moving)) as film:
        assert film.n_frames == 3
        for number, frame in enumerate(frames):
            film.seek(number)
            np.testing.assert_allclose(np.asarray(film.convert("L")) / 255, frame, atol=0.02)


def test_strips_have_one_row_for_each_frame():
    columns = {"a & b": [np.zeros((2, 3)), np.ones((2, 3))], "c": [np.ones((2, 3)), np.zeros((2, 3))]}
    strip = page_pictures.film_strip(columns, [4, 9])
    assert [opened(content).mean() for _, content in inlined(strip)] == [0, 255, 255, 0]
    assert re.findall(r'alt="([^"]*)"', strip) == [
        "a &amp; b, frame 4",
        "c, frame 4",
        "a &amp; b, frame 9",
        "c, frame 9",
    ]
    labelled = page_pictures.picture_rows({"x": ["<b>1</b>", "<b>2</b>"]}, ["0:01", "0:02"])
    assert re.sub("<[^>]*>", " ", labelled).split() == ["x", "0:01", "1", "0:02", "2"]


def test_sheets_have_gaps_that_are_transparent(rng):
    grey, colour = rng.random((3, 4)), rng.random((3, 5, 3))
    pair = page_pictures.side_by_side(grey, colour, gap=2)
    assert pair.shape == (3, 11, 4)
    np.testing.assert_array_equal(pair[:, :4, :3], grey[..., None].repeat(3, axis=2))
    np.testing.assert_array_equal(pair[:, 6:, :3], colour)
    np.testing.assert_array_equal(pair[:, 4:6, 3], 0)
    assert pair[..., 3].sum() == 27
    sheet = page_pictures.contact_sheet({"a": [grey, grey], "b": [colour, colour]}, gap=1)
    assert sheet.shape == (7, 10, 4)
    np.testing.assert_array_equal(sheet[4:, 5:, :3], colour)


def test_a_titled_sheet_shows_all_pictures_under_their_names(rng):
    columns = {"frame": list(rng.random((2, 30, 40))), "ALM: Us + o": list(rng.random((2, 30, 40)))}
    sheet = page_pictures.titled_sheet(columns, enlarge=3, gap=4)
    assert sheet.shape[1] == 2 * 120 + 3 * 4
    head = sheet.shape[0] - (2 * 90 + 2 * 4)
    for number, pictures in enumerate(columns.values()):
        left = 4 + number * 124
        for row, picture in enumerate(pictures):
            top = head + row * 94
            small = sheet[top + 1 : top + 90 : 3, left + 1 : left + 120 : 3]
            np.testing.assert_allclose(small, picture[..., None].repeat(3, axis=2), atol=0.5 / 255 + 1e-9)
        title = sheet[:head, left : left + 120]
        assert title.min() < 0.3
        dark = np.flatnonzero((title < 0.5).any(axis=(0, 2)))
        assert abs((dark[0] + dark[-1]) / 2 - 60) < 4
    np.testing.assert_array_equal(sheet[head:, :4], 1.0)


def test_long_names_are_written_smaller():
    def ink(name):
        sheet = page_pictures.titled_sheet({name: [np.ones((20, 60))]}, enlarge=1)
        dark = np.flatnonzero((sheet < 0.7).any(axis=(0, 2)))
        return dark[0], dark[-1], sheet.shape[1]

    first, last, width = ink("a name that is far too long")
    assert 0 < first < last < width - 1
