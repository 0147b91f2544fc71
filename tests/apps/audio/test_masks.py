import numpy as np
import pytest

from unmingle.apps.audio import Method, Parts
from unmingle.apps.audio._level import Level
from unmingle.apps.audio._maskers import ByPassages
from unmingle.apps.audio._masks import binary, extended, wiener


def test_masks_share_every_bin_between_voice_and_music(rng):
    voice, music = rng.random((2, 5, 7))
    np.testing.assert_allclose(wiener(voice, music) + wiener(music, voice), 1)
    np.testing.assert_allclose(wiener(voice, music), 1 / (1 + (music / voice) ** 2))
    np.testing.assert_array_equal(binary(voice, music) + binary(music, voice), 1)


def test_nobody_sings_in_silence():
    assert not wiener(np.zeros((2, 3)), np.zeros((2, 3))).any()


def test_bins_above_the_band_follow_its_upper_quarter():
    mask = np.array([[0.0, 0.0, 0.0, 0.4], [1.0, 1.0, 1.0, 0.0]])
    full = extended(mask, 6)
    np.testing.assert_array_equal(full[:, :4], mask)
    np.testing.assert_allclose(full[:, 4:], [[0.4, 0.4], [0.0, 0.0]])
    assert extended(mask, 4).shape == (2, 4)


def test_level_is_the_root_of_the_mean_power_so_far(rng):
    frames = rng.random((50, 8))
    power = np.mean(frames**2, axis=1)
    expected = np.sqrt(np.cumsum(power) / np.arange(1, 51))
    np.testing.assert_allclose(Level().push(frames)[:, 0], expected)


def test_level_forgets_and_skips_silence(rng):
    level = Level()
    level.push(np.full((200, 4), 10.0))
    level.push(np.zeros((500, 4)))
    assert level.push(np.zeros((1, 4)))[0, 0] == pytest.approx(10)
    assert level.push(np.full((2000, 4), 0.1))[-1, 0] == pytest.approx(0.1, rel=0.05)
    assert Level().push(np.zeros((3, 4))).tolist() == [[1.0]] * 3


class Told(Method):
    """Its mask is the number of the passage over ten."""

    name, summary = "told", "a test"

    def __init__(self):
        self.lengths = []

    def parts(self, magnitudes):
        self.lengths.append(len(magnitudes))
        share = len(self.lengths) / 10
        return Parts(np.full(magnitudes.shape, np.sqrt(share)), np.full(magnitudes.shape, np.sqrt(1 - share)))


@pytest.mark.parametrize("block", [1, 7, 64, 1000])
@pytest.mark.parametrize("count", [0, 1, 19, 20, 36, 37, 53, 60])
def test_every_frame_has_one_mask_whatever_the_blocks(count, block):
    told = Told()
    masker = ByPassages(told, length=20, overlap=4)
    found = [masker.push(np.ones((min(block, count - i), 3))) for i in range(0, count, block)]
    found.append(masker.finish())
    masks = np.concatenate([mask for mask in found if len(mask)]) if count else np.empty((0, 3))
    assert masks.shape == (count, 3)
    assert all(length == min(count, 20) for length in told.lengths)


def test_passages_are_faded_into_one_another():
    masker = ByPassages(Told(), length=20, overlap=4)
    masks = np.concatenate([masker.push(np.ones((36, 1))), masker.finish()])[:, 0]
    np.testing.assert_allclose(masks[:16], 0.1)
    np.testing.assert_allclose(masks[16:20], [0.12, 0.14, 0.16, 0.18])
    np.testing.assert_allclose(masks[20:], 0.2)
