"""Pages: text is escaped, tags are closed, and nothing is loaded from elsewhere."""

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from unmingle.report import pieces

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)


class Reader(HTMLParser):
    """What is in a page."""

    VOID = ("meta", "img")

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.text = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@given(TEXT, TEXT)
def test_text_arrives_as_it_was_given(one, other):
    parts = [
        pieces.heading(one), pieces.paragraph(other), pieces.paragraph(one, "lead"), pieces.key_figures({one: other}),
        pieces.table([one, other], [[other, one]]), pieces.facts({one: other}), pieces.figure("<b>x</b>", one),
    ]  # fmt: skip
    page = Reader(pieces.page(one, *parts))
    assert page.open == []
    style = page.text.index("\n" + pieces.style_sheet())
    said = "".join(text for text in (*page.text[:style], *page.text[style + 1 :]) if text.strip("\n") or text == one)
    expected = [one, one, other, one, other, one, one, other, other, one, one, other, "x", one]
    assert said.replace("\n", "") == "".join(expected)


def test_the_chosen_row_stands_out():
    table = pieces.table(["a"], [["1"], ["2"]], chosen=1)
    assert re.findall("<tr( class=chosen)?><td>([^<]*)", table) == [("", "1"), (" class=chosen", "2")]
    assert "chosen" not in pieces.table(["a"], [["1"]], chosen=-1)


def test_a_page_holds_its_style_and_needs_nothing_else():
    page = pieces.page("title", pieces.paragraph("text"))
    assert page.startswith("<!doctype html>")
    assert pieces.style_sheet() in page
    for elsewhere in ("http", "url(", "@import", "src=", "href="):
        assert elsewhere not in page


def test_colours_of_light_and_dark_have_the_same_names():
    style = pieces.style_sheet()
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    named = {kind: set(re.findall(r"(--\w+): #", text)) for kind, text in (("light", light), ("dark", dark))}
    assert named["light"] == named["dark"]
    defined = set(re.findall(r"(--\w+):", style))
    assert set(re.findall(r"var\((--\w+)\)", style)) <= defined


def contrast(one, other):
    """Of two colours, as the rules for accessible pages define it."""

    def luminance(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_what_is_written_can_be_read_on_light_and_dark_paper():
    for theme in re.findall(r":root \{(.*?)\}", pieces.style_sheet(), re.DOTALL):
        colours = dict(re.findall(r"--(\w+): (#\w{6})", theme))
        for name in ("ink", "faint", "first", "second", "third", "fourth", "fifth", "sixth"):
            assert contrast(colours[name], colours["paper"]) > 4.5, name
