"""Samples as they are given."""

from typing import Any

import numpy as np

from ..._types import AnyArray
from ..._validation import as_floats

MOST_CHANNELS = 64
LOUDEST = 1e12
"""Samples at most: powers of their spectra are far from the largest float32."""


def as_samples(samples: Any, name: str = "samples") -> tuple[AnyArray, bool]:
    """Samples as (n, channels), and whether they came without channels."""
    samples = as_floats(samples, name)
    flat = samples.ndim == 1
    if flat:
        samples = samples[:, None]
    if samples.ndim != 2 or not 1 <= samples.shape[1] <= MOST_CHANNELS:
        raise ValueError(
            f"{name} must have shape (n,) or (n, channels) with at most {MOST_CHANNELS} channels, got {samples.shape}; "
            "transpose it if channels come first."
        )
    if not np.isfinite(samples).all():
        place = int(np.argmin(np.isfinite(samples).all(axis=1)))
        raise ValueError(f"{name} must be finite, got {samples[place].tolist()} at sample {place}.")
    if np.max(np.abs(samples), initial=0.0) > LOUDEST:
        raise ValueError(
            f"{name} must be at most {LOUDEST:g}, got {np.max(np.abs(samples)):g}; sound is within [-1, 1]."
        )
    return samples, flat
