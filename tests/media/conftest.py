import pytest
from pictures import scene

from unmingle.media import open_writer


@pytest.fixture
def video(tmp_path):
    path = tmp_path / "street.mp4"
    with open_writer(path) as writer:
        for pixels in scene():
            writer.write(pixels)
    return path
