"""Random fields and processes that are smooth, or swing."""

import numpy as np
from numpy.random import Generator

from .._types import Float64Array


def smooth_noise(rng: Generator, shape: tuple[int, ...], scales: tuple[float, ...]) -> Float64Array:
    """Return Gaussian noise of mean 0 and deviation 1, smooth over these lengths along the axes."""
    from scipy.ndimage import gaussian_filter

    blurred = gaussian_filter(rng.standard_normal(shape), scales, mode="wrap")
    gains = [np.sqrt(2.0 * np.sqrt(np.pi) * scale) for scale in scales if scale > 0]
    return np.asarray(blurred * np.prod(gains))


def wander(rng: Generator, n_frames: int, scale: float, count: int = 1) -> Float64Array:
    """Return `count` smooth random processes of deviation 1 over time, of shape (n_frames, count)."""
    beyond = int(8 * scale) + 1
    return smooth_noise(rng, (n_frames + beyond, count), (scale, 0.0))[:n_frames]


def oscillation(rng: Generator, n_frames: int, period: float, decay: float, count: int = 1) -> Float64Array:
    """Return `count` damped oscillations of deviation 1, driven by chance, of shape (n_frames, count).

    x_t = 2 r cos(w) x_{t-1} - r^2 x_{t-2} + e_t with w = 2 pi / period and r = exp(-1 / decay), both in frames.
    """
    from scipy.signal import lfilter

    r = np.exp(-1.0 / decay)
    first, second = 2.0 * r * np.cos(2.0 * np.pi / period), r * r
    variance = (1.0 + second) / ((1.0 - second) * ((1.0 + second) ** 2 - first**2))
    before = int(8 * decay) + 1
    driven = lfilter([1.0], [1.0, -first, second], rng.standard_normal((before + n_frames, count)), axis=0)
    return np.asarray(driven[before:] / np.sqrt(variance))
