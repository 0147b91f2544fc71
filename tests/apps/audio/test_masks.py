import numpy as np
import pytest

from unmingle.apps.audio import Method, Parts
from unmingle.apps.audio.masks import PassageMasks, Passages, binary, extend_mask, wiener
from unmingle.apps.audio.stft import Level


def test_masks_share_every_bin_between_voice_and_music(rng):
    voice, music = rng.random((2, 5, 7))
    np.testing.assert_allclose(wiener(voice, music) + wiener(music, voice), 1)
    np.testing.assert_allclose(wiener(voice, music), 1 / (1 + (music / voice) ** 2))
    np.testing.assert_array_equal(binary(voice, music) + binary(music, voice), 1)


def test_nobody_sings_in_silence():
    assert not wiener(np.zeros((2, 3)), np.zeros((2, 3))).any()


def test_bins_above_the_band_follow_its_upper_quarter():
    mask = np.array([[0.0, 0.0, 0.0, 0.4], [1.0, 1.0, 1.0, 0.0]])
    full = extend_mask(mask, 6)
    np.testing.assert_array_equal(full[:, :4], mask)
    np.testing.assert_allclose(full[:, 4:], [[0.4, 0.4], [0.0, 0.0]])
    assert extend_mask(mask, 4).shape == (2, 4)


@pytest.mark.parametrize("bins", [3, 4, 6])
def test_bins_without_voice_are_closed_and_the_mask_that_was_given_stays(bins):
    mask = np.full((2, 4), 0.5)
    full = extend_mask(mask, bins, voiceless=2)
    assert not full[:, :2].any()
    assert (full[:, 2:] == 0.5).all()
    assert (mask == 0.5).all()


def test_level_is_the_root_of_the_mean_power_so_far(rng):
    frames = rng.random((50, 8))
    power = np.mean(frames**2, axis=1)
    expected = np.sqrt(np.cumsum(power) / np.arange(1, 51))
    np.testing.assert_allclose(Level().step(frames)[1][:, 0], expected)


def test_level_forgets_and_skips_silence(rng):
    level = Level()
    for frames in (np.full((200, 4), 10.0), np.zeros((500, 4))):
        level, _ = level.step(frames)
    assert level.step(np.zeros((1, 4)))[1][0, 0] == pytest.approx(10)
    assert level.step(np.full((2000, 4), 0.1))[1][-1, 0] == pytest.approx(0.1, rel=0.05)
    assert Level().step(np.zeros((3, 4)))[1].tolist() == [[1.0]] * 3


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
    masker, found = PassageMasks(told, Passages(length=20, overlap=4)), []
    memory = masker.start()
    for i in range(0, count, block):
        memory, mask = masker.step(memory, np.ones((min(block, count - i), 3)))
        found.append(mask)
    found.append(masker.finish(memory))
    masks = np.concatenate([mask for mask in found if len(mask)]) if count else np.empty((0, 3))
    assert masks.shape == (count, 3)
    assert all(length == min(count, 20) for length in told.lengths)


def test_passages_are_faded_into_one_another():
    masker = PassageMasks(Told(), Passages(length=20, overlap=4))
    memory, first = masker.step(masker.start(), np.ones((36, 1)))
    masks = np.concatenate([first, masker.finish(memory)])[:, 0]
    np.testing.assert_allclose(masks[:16], 0.1)
    np.testing.assert_allclose(masks[16:20], [0.12, 0.14, 0.16, 0.18])
    np.testing.assert_allclose(masks[20:], 0.2)


def test_parts_beyond_all_measure_have_no_mask():
    huge = np.full(3, 1e30, np.float32)
    with pytest.raises(ValueError, match="beyond the range of float32"):
        wiener(huge, huge)
