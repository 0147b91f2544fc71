"""The page of a table: what it shows is there, and what people wrote cannot break it."""

import re
from base64 import b64decode
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sensor_tables import FAULT, GAP, readings

from unmingle.apps import tables
from unmingle.apps.tables._report import report_page

ORANGE, BLUE = (219, 82, 15), (46, 122, 199)


def page_of(path, **options):
    done = tables.separate(path, settings=tables.Settings(**options))
    return report_page(path.name, done.table, done.parts, done.cleaned, done.outliers)


def picture_in(page):
    content = re.search(r'<image href="data:image/png;base64,([^"]+)"', page)[1]
    return np.asarray(Image.open(BytesIO(b64decode(content))).convert("RGB"))


@pytest.fixture
def path(tmp_path):
    frame = readings()
    frame.insert(0, "when", pd.date_range("2024-03-01", periods=40, freq="D"))
    frame = frame.rename(columns={"c": "<b>c</b>"})
    frame.to_csv(tmp_path / "x.csv", index=False)
    return tmp_path / "x.csv"


def test_the_page_shows_the_outlier_the_gap_and_the_words(path):
    page = page_of(path)
    assert "<b>c</b>" not in page
    assert "&lt;b&gt;c&lt;/b&gt;, 2024-03-13: 99.25, where 10.3" in page
    assert "1 of 1" in page
    assert "01 Mar" in page
    assert "the duality gap" in page
    assert page.count("<svg") == 3
    assert "nan" not in re.sub(r"base64,[^\"]*", "", page).lower()


def test_the_picture_marks_the_cells_where_they_are(path):
    picture = picture_in(page_of(path))
    height, width = picture.shape[:2]
    for colour, (row, column) in ((ORANGE, FAULT), (BLUE, GAP)):
        marked = (picture == colour).all(axis=2)
        lines, across = np.nonzero(marked)
        assert marked.sum() == height * width / 40 / 6
        assert int(across.min() * 40 / width) == int(across.max() * 40 / width) == row
        assert int(lines.min() * 6 / height) == int(lines.max() * 6 / height) == "abcdef".index(column)


def test_every_outlier_of_a_large_table_is_seen(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 1)) @ rng.standard_normal((1, 300)) + 0.1 * rng.standard_normal((5000, 300))
    X[[7, 2500, 4999], [0, 150, 299]] = 50
    np.save(tmp_path / "x.npy", X)
    picture = picture_in(page_of(tmp_path / "x.npy", false_share=1e-6, n_components=1))
    assert picture.shape == (240, 960, 3)
    found = np.argwhere((picture == ORANGE).all(axis=2)).tolist()
    assert found == [[0, 1], [120, 480], [239, 959]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 1}, "limited"),
        ({"nonnegative": True}, "another start"),
        ({"max_iter": 1, "tol": 1e-12}, "stopped early"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_the_gap_in_words(tmp_path, options, words):
    rng = np.random.default_rng(1)
    X = np.abs(rng.standard_normal((60, 3)) @ rng.standard_normal((3, 9)) * 3) + 0.01 * rng.random((60, 9))
    pd.DataFrame(X).add_prefix("s").to_csv(tmp_path / "x.csv", index=False)
    assert words in page_of(tmp_path / "x.csv", **options)


@pytest.mark.parametrize("value", [0.0, 3.5])
def test_tables_without_anything_to_see_have_a_page_too(tmp_path, value):
    pd.DataFrame(np.full((5, 3), value), columns=list("abc")).to_csv(tmp_path / "x.csv", index=False)
    assert "Nothing: no cell" in page_of(tmp_path / "x.csv")


def test_days_are_marked_once_and_where_they_begin(tmp_path):
    frame = readings()
    frame.insert(0, "when", pd.date_range("2024-02-29 19:00", periods=40, freq="3h"))
    frame.to_csv(tmp_path / "x.csv", index=False)
    marks = re.findall(r'<text x="([0-9.]+)"[^>]*>(\d\d [A-Z][a-z]{2})</text>', page_of(tmp_path / "x.csv"))
    assert [name for _, name in marks[:5]] == ["01 Mar", "02 Mar", "03 Mar", "04 Mar", "05 Mar"]
    assert len(marks) == 5 + 3
    assert len(set(marks)) == len(marks)
    places = np.array([float(place) for place, _ in marks[:5]])
    np.testing.assert_allclose(np.diff(places), np.diff(places)[0], atol=0.2)
