"""Sounds and pictures with axes on pages: what is inside is what was given."""

import re
from base64 import b64decode

import numpy as np
import pytest

from unmingle.media.write_sound import encode_sound
from unmingle.report.pieces import player
from unmingle.report.plots import Axis, shades


@pytest.mark.parametrize("suffix", [".flac", ".mp3", ".ogg", ".opus", ".wav"])
def test_a_player_holds_the_file(suffix):
    content = encode_sound(np.zeros(4800), 48000, suffix)
    html = player(content, suffix, 'a "b" <c>')
    kind, held = re.search(r'src="data:audio/(\w+);base64,([^"]+)"', html).groups()
    assert b64decode(held) == content
    assert kind in ("flac", "mpeg", "ogg", "wav")
    assert 'aria-label="a &quot;b&quot; &lt;c&gt;"' in html


def test_marks_of_a_picture_lie_where_its_pixels_are():
    """A mark at a share of the axis must lie at the same share of the picture."""
    html = shades("data:,", Axis("seconds"), Axis("kHz"), (20.0, 8.0), "a & b")
    left, top, width, height = map(
        float, re.search(r'<image [^>]*x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"', html).groups()
    )
    across = re.findall(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="middle">(\d+)</text>', html)
    assert len(across) > 4
    for x, seconds in across:
        assert float(x) == pytest.approx(left + width * float(seconds) / 20, abs=0.1)
    up = re.findall(r'<line [^>]*y1="([\d.]+)"[^>]*/><text [^>]*>(\d+)</text>', html)
    assert [mark for _, mark in up] == ["0", "2", "4", "6", "8"]
    for y, kilohertz in up:
        assert float(y) == pytest.approx(top + height * (1 - float(kilohertz) / 8), abs=0.1)
    assert 'aria-label="a &amp; b"' in html
