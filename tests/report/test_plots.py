"""Curves as SVG: where points and marks lie, and what is written."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unmingle.report.pieces import style_sheet
from unmingle.report.plots import WHOLE, Axis, Series, curves

NUMBERS = st.floats(-1e6, 1e6).map(lambda value: round(value, 6))
POSITIVE = st.floats(1e-12, 1e12)
WIDE_OF_A_LETTER = 7.5


class Plot:
    """A plot, read back."""

    def __init__(self, html):
        self.html = html
        (svg,) = re.findall("<svg.*</svg>", html)
        self.svg = ElementTree.fromstring(svg)
        _, _, self.width, self.height = map(float, self.svg.get("viewBox").split())
        texts = list(self.svg.iter("text"))
        self.y_label = texts[0].text
        self.up = [(float(text.get("y")) - 4, words(text)) for text in texts[1:] if text.get("text-anchor") == "end"]
        self.across = [(float(text.get("x")), words(text)) for text in texts if text.get("text-anchor") == "middle"]
        if len(self.up) > len(list(self.lines("grid"))):
            self.up.pop()  # the label of the axis below
        grid = next(self.lines("grid"))
        self.left, self.right = float(grid.get("x1")), float(grid.get("x2"))

    def lines(self, kind):
        return (line for line in self.svg.iter("line") if kind in line.get("class").split())

    def points(self, tag="polyline"):
        return [
            [tuple(map(float, pair.split(","))) for pair in one.get("points").split()] for one in self.svg.iter(tag)
        ]

    def dots(self):
        return [(float(dot.get("cx")), float(dot.get("cy"))) for dot in self.svg.iter("circle")]

    def legend(self):
        return re.findall(r'<i class="([^"]*)">([^<]*)</i>', self.html)


def words(text):
    """What a mark says; powers as numbers."""
    (power,) = [part.text for part in text.iter("tspan")] or [None]
    return text.text if power is None else f"1e{power}"


def read_off(marks, place, log=False):
    """The number at a place, from the two outermost marks alone."""
    (start, first), (end, last) = [(place, float(number)) for place, number in (marks[0], marks[-1])]
    if log:
        first, last = math.log10(first), math.log10(last)
    value = first + (place - start) / (end - start) * (last - first)
    return 10**value if log else value


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=8), st.booleans())
def test_points_lie_where_the_marks_say(pairs, long):
    x, y = map(list, zip(*sorted(pairs), strict=True))
    assume(max(x) - min(x) > 1e-3)
    assume(max(y) - min(y) > 1e-3)
    plot = Plot(curves([Series("a", x, y)], x=Axis("x"), y=Axis("y"), long=long))
    (places,) = plot.points()
    tolerance = 0.2 / 200 * (float(plot.up[-1][1]) - float(plot.up[0][1]))
    np.testing.assert_allclose([read_off(plot.up, place) for _, place in places], y, rtol=0, atol=tolerance)
    tolerance = (0.2 / 60 if not long else 0.2 / 100) * (max(x) - min(x))
    np.testing.assert_allclose([read_off(plot.across, place) for place, _ in places], x, rtol=0, atol=tolerance)


@given(st.lists(NUMBERS, min_size=1, max_size=6), st.lists(NUMBERS, max_size=2), st.booleans())
def test_marks_are_round_even_and_apart(values, reached, long):
    plot = Plot(curves([Series("a", values, values)], x=Axis("x"), y=Axis("y", reaches=reached), long=long))
    heights, numbers = zip(*plot.up, strict=True)
    assert 2 <= len(set(numbers)) == len(numbers) <= 8
    assert min(np.diff(heights[::-1])) > 20
    step = float(numbers[1]) - float(numbers[0])
    assert f"{step:.6e}"[:5] in ("1.000", "2.000", "2.500", "5.000")
    np.testing.assert_allclose(np.diff(list(map(float, numbers))), step, rtol=1e-6)
    assert float(numbers[0]) <= min([*values, *reached]) + 2e-6 * step
    assert float(numbers[-1]) >= max([*values, *reached]) - 2e-6 * step
    assert plot.left >= WIDE_OF_A_LETTER * max(map(len, numbers)) * 0.9
    for (left, one), (right, other) in zip(plot.across, plot.across[1:], strict=False):
        assert right - left > (len(one) + len(other)) / 2 * WIDE_OF_A_LETTER


@given(st.lists(POSITIVE, min_size=1, max_size=8))
def test_logarithmic_axes_have_powers_of_ten(values):
    plot = Plot(curves([Series("a", values, values, "dots")], x=Axis(log=True), y=Axis("gap", log=True)))
    for marks, places in ((plot.up, [y for _, y in plot.dots()]), (plot.across, [x for x, _ in plot.dots()])):
        assert 2 <= len(marks) <= 8
        powers = [math.log10(float(number)) for _, number in marks]
        np.testing.assert_allclose(powers, np.round(powers), atol=1e-12)
        decades = 0.3 / 200 * (1 + powers[-1] - powers[0])
        found = [math.log10(read_off(marks, place, log=True)) for place in places]
        np.testing.assert_allclose(found, np.log10(values), atol=decades)


ODD = {
    "nothing": [],
    "one": [3.0],
    "zeros": [0.0, 0.0],
    "none": [math.nan, math.inf, -math.inf],
    "nearly one": [1, 1 + 1e-15],
}


@pytest.mark.parametrize("values", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("style", ["line", "marked", "dots", "area"])
@pytest.mark.parametrize("log", [False, True])
def test_odd_series_leave_a_sound_plot(values, style, log):
    shown = Plot(curves([Series("a", range(len(values)), values, style)], x=Axis("x"), y=Axis("y", log=log)))
    assert "nan" not in shown.html
    assert "inf" not in shown.html
    assert len(shown.up) >= 2
    drawn = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    places = shown.dots() + [point for line in shown.points() for point in line]
    assert len(places) == len(drawn) * (2 if style == "marked" else 1)
    assert all(26 <= y <= shown.height and 0 <= x <= shown.width for x, y in places)


def test_numbers_without_a_place_are_left_out():
    y = [1.0, math.nan, 10.0, -1.0, 0.0, math.inf, 100.0]
    (places,) = Plot(curves([Series("a", range(1, 8), y)], x=Axis("x", steps=WHOLE), y=Axis("y", log=True))).points()
    plot = Plot(curves([Series("a", [1, 3, 7], [1.0, 10.0, 100.0])], x=Axis("x", steps=WHOLE), y=Axis("y", log=True)))
    assert places == plot.points()[0]


def test_counting_begins_with_one_and_goes_on_in_whole_numbers():
    plot = Plot(curves([Series("a", range(1, 31), range(30))], x=Axis("n", steps=WHOLE), y=Axis("y")))
    assert [number for _, number in plot.across] == ["1", "5", "10", "15", "20", "25", "30"]
    plot = Plot(curves([Series("a", [1, 2], [1, 2])], x=Axis("n", steps=WHOLE), y=Axis("y")))
    assert [number for _, number in plot.across] == ["1", "2"]


def test_an_axis_has_its_own_steps_and_words():
    """As the time of a film, in minutes and seconds."""
    time = Axis(reaches=(0.0,), steps=(15, 60), words=lambda value, step: f"{value / 60:g} min, {step}")
    plot = Plot(curves([Series("", [10.0, 115.0], [0.0, 1.0])], x=time, y=Axis("y"), long=True))
    assert [number for _, number in plot.across] == [f"{n / 4:g} min, 15" for n in range(8)]
    plot = Plot(curves([Series("", [10.0, 960.0], [0.0, 1.0])], x=time, y=Axis("y"), long=True))
    assert [number for _, number in plot.across][-1] == "16 min, 120"


def test_levels_bands_and_areas_lie_where_they_should():
    series = Series("", [0.0, 10.0], [0.0, 0.0001], "area")
    plot = Plot(
        curves([series], x=Axis(), y=Axis("y"), levels={"some": 4e-5}, bands=[(5.0, 20.0), (5.0, 5.0)], long=True)
    )
    assert [number for _, number in plot.up] == [f"{n / 1e5:.5f}" for n in range(0, 11, 2)]
    (level,) = plot.lines("level")
    assert float(level.get("y1")) == float(level.get("y2")) == plot.up[2][0]
    late, thin = plot.svg.iter("rect")
    assert float(late.get("x")) + float(late.get("width")) == pytest.approx(plot.right)
    assert read_off(plot.across, float(late.get("x"))) == pytest.approx(5.0, abs=0.02)
    assert float(thin.get("width")) == 1.5
    (corners,), (line,) = plot.points("polygon"), plot.points()
    assert corners[1:-1] == line
    assert [y for _, y in (corners[0], corners[-1])] == [plot.up[0][0]] * 2


def test_the_legend_names_series_and_levels_and_escapes_them():
    series = [Series("a & b", [1, 2], [1, 2]), Series("", [1, 2], [2, 1]), Series("c", [1], [1], "dots")]
    plot = Plot(curves(series, x=Axis("<x>"), y=Axis("share & more"), levels={"exact": 1.5, "best": 1.0}))
    assert plot.legend() == [
        ("first", "a &amp; b"), ("third", "c"), ("level dashed", "exact"), ("level dotted", "best")
    ]  # fmt: skip
    assert plot.y_label == "share & more"
    assert 'aria-label="share &amp; more over &lt;x&gt;"' in plot.html
    assert "legend" not in curves(series[1:2], x=Axis("x"), y=Axis("y"))


def test_the_first_series_lies_on_top_and_every_class_has_a_style():
    many = [Series(str(n), [1, 2], [n, n]) for n in range(7)]
    plot = Plot(curves(many, x=Axis("x"), y=Axis("y"), levels={"a": 1, "b": 2}))
    heights = [line[0][1] for line in plot.points()]
    assert heights == sorted(heights)
    kinds = {kind for one in plot.svg.iter() for kind in one.get("class", "").split()}
    assert {"first", "sixth", "dashed", "dotted"} <= kinds
    assert all(f".{kind}" in style_sheet() for kind in kinds)


def test_marks_can_be_given():
    plot = curves([Series("", [0.0, 4.0], [0.0, 4.0])], x=Axis(marks=[(1.0, "one & a half"), (3.0, "three")]), y=Axis())
    assert ">one &amp; a half</text>" in plot
    assert ">three</text>" in plot
    assert ">2</text>" in plot  # on the other axis
