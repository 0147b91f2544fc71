"""Sounds for tests, and a method that is quick."""

import numpy as np
import soundfile

from unmingle import Encoder
from unmingle.apps.audio import Method, Parts
from unmingle.apps.audio.networks import Encoded

RATE = 16000


class Upper(Method):
    """What lies above 1 kHz at 16 kHz is voice."""

    name = "upper"
    summary = "the upper bins"
    streams = True
    high_pass = None

    def parts(self, magnitudes):
        voice = magnitudes.copy()
        voice[:, :64] = 0
        return Parts(voice, magnitudes - voice)


class UpperOfPassages(Upper):
    """The same, a passage at a time."""

    name = "passages"
    streams = False


def untrained(n_layers=3):
    """The method "encoder", with a network that learnt nothing."""
    components = np.abs(np.random.default_rng(0).standard_normal((4, 513))).astype(np.float32)
    return Encoded(Encoder.from_components(components, rank_penalty=0.1, outlier_penalty=0.3, n_layers=n_layers))


def tones(seconds, rate=RATE, channels=1, peak=0.5):
    """A low tone all the time, and a high one in the second half."""
    t = np.arange(round(seconds * rate)) / rate
    high = np.sin(2 * np.pi * 2000 * t) * (t >= seconds / 2)
    sound = peak / 2 * (np.sin(2 * np.pi * 250 * t) + high)
    return np.repeat(sound[:, None].astype(np.float32), channels, axis=1) / np.arange(1, channels + 1, dtype=np.float32)


def write_sound(path, samples, rate=RATE, coding="FLOAT"):
    soundfile.write(path, samples, rate, coding)
    return path


def stem(path):
    """All samples of a file, in double precision."""
    samples, _ = soundfile.read(path, always_2d=True)
    return samples
