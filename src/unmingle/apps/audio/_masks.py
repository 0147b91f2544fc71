"""Masks: which share of each bin is voice."""

import numpy as np

from ..._types import AnyArray

HIGH_PASS = 100.0
"""Hertz below which hardly anybody sings."""
_TOP = 0.75
"""Share of the bins looked at from which on their mean goes on above them."""


def wiener(voice: AnyArray, music: AnyArray) -> AnyArray:
    """voice^2 / (voice^2 + music^2), and 0 where both are 0: what nobody claims stays with the music.

    Examples
    --------
    >>> wiener(np.array([3.0, 0.0, 0.0]), np.array([4.0, 1.0, 0.0]))
    array([0.36, 0.  , 0.  ])
    """
    mine, all_of_it = voice * voice, music * music
    all_of_it += mine
    return np.divide(mine, all_of_it, out=np.zeros_like(mine), where=all_of_it > 0)


def binary(voice: AnyArray, music: AnyArray) -> AnyArray:
    """1 where the voice is the stronger one, 0 elsewhere.

    Examples
    --------
    >>> binary(np.array([3.0, 5.0]), np.array([4.0, 4.0]))
    array([0., 1.])
    """
    return (np.abs(voice) > np.abs(music)).astype(voice.dtype)


def extended(mask: AnyArray, bins: int) -> AnyArray:
    """The mask for so many bins: above those it was made for, the mean of its upper quarter goes on."""
    known = mask.shape[1]
    if bins <= known:
        return mask[:, :bins]
    full = np.empty((len(mask), bins), mask.dtype)
    full[:, :known] = mask
    full[:, known:] = mask[:, int(_TOP * known) :].mean(axis=1, keepdims=True)
    return full
