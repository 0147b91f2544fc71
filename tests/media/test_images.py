"""`unmingle train`: encoders from tables and folders of images, whatever interrupts."""

import numpy as np
import pytest
from PIL import Image

from unmingle import media


def test_grey_values_of_every_kind_of_image(tmp_path):
    grey = np.arange(24, dtype=np.uint8).reshape(4, 6) * 11
    colours = np.stack([grey, grey[::-1], np.full_like(grey, 40)], axis=2)
    luma = colours @ np.array([0.299, 0.587, 0.114]) / 255
    wide = grey.astype(np.uint16) * 257
    pictures = {
        "grey.png": (Image.fromarray(grey), grey / 255, 1e-7),
        "colour.png": (Image.fromarray(colours), luma, 0.5 / 255),
        "colour.bmp": (Image.fromarray(colours), luma, 0.5 / 255),
        "alpha.png": (Image.fromarray(np.dstack([colours, grey])), luma, 0.5 / 255),
        "table.gif": (Image.fromarray(grey).convert("P"), grey / 255, 1e-7),
        "bits.png": (Image.fromarray(grey > 100), grey > 100, 1e-7),
        "wide.png": (Image.fromarray(wide), wide / 65535, 1e-7),
        "wide.tif": (Image.fromarray(wide), wide / 65535, 1e-7),
        "float.tif": (Image.fromarray(np.float32(grey / 255)), grey / 255, 1e-7),
        "photo.jpg": (Image.fromarray(np.full((4, 6), 100, np.uint8)), 100 / 255, 1e-7),
    }
    for name, (picture, values, tolerance) in pictures.items():
        picture.save(tmp_path / name)
        read = media.read_image(tmp_path / name)
        assert (read.shape, read.dtype) == ((4, 6), np.float32), name
        assert np.abs(read - values).max() <= tolerance + 1e-6, name


def test_images_are_turned_upright_and_made_smaller_by_means(tmp_path):
    picture = Image.fromarray(np.arange(24, dtype=np.uint8).reshape(4, 6))
    turned = Image.Exif()
    turned[0x0112] = 6
    picture.save(tmp_path / "turned.png", exif=turned)
    assert np.allclose(media.read_image(tmp_path / "turned.png") * 255, np.rot90(np.arange(24).reshape(4, 6), -1))
    stripes = np.tile(np.uint8([[0], [200]]), (8, 16))
    Image.fromarray(stripes).save(tmp_path / "stripes.png")
    small = media.read_image(tmp_path / "stripes.png", (2, 2))
    assert np.allclose(small, 100 / 255, atol=0.02)


def test_media_says_what_is_wrong(tmp_path, rng):
    with pytest.raises(media.MediaError, match=r"none\.png cannot be read: No such file"):
        media.read_image(tmp_path / "none.png")
    with pytest.raises(media.MediaError, match="none does not exist"):
        media.read_images(tmp_path / "none")
    Image.fromarray(np.float32([[0.0, 3.5]])).save(tmp_path / "bright.tif")
    with pytest.raises(media.MediaError, match=r"values from 0 to 3\.5; expected 0 to 1"):
        media.read_image(tmp_path / "bright.tif")
    Image.fromarray(rng.integers(0, 255, (40, 50), np.uint8)).save(tmp_path / "cut.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "cut.png").read_bytes()[:500])
    with pytest.raises(media.MediaError, match=r"cut\.png is damaged or not an image"):
        media.read_image(tmp_path / "cut.png")
