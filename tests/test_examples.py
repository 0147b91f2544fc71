import ast
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_has_a_title(path):
    """The gallery of the documentation shows it."""
    title, line, *_ = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).splitlines()
    assert 4 < len(title) <= len(line)
    assert set(line) == {"="}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    writes = "[FOLDER]" in path.read_text(encoding="utf-8")
    folder = [tmp_path / "new"] if writes else []
    done = subprocess.run([sys.executable, path, *folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not done.stderr
    pictures = list(tmp_path.glob("new/*.png"))
    assert bool(pictures) == writes
    for picture in pictures:
        with Image.open(picture) as opened:
            assert opened.format == "PNG"
            assert min(opened.size) > 100
