"""Penalties of nonnegative models of magnitudes over their level.

The noise of a song is not what its music is told from, so that penalties from the noise level, right for tables, are
far too small here. With magnitudes of mean square 1, sigma is what a bin may be off by, and for n frames::

    lam = sqrt(2) sigma,   lam_* = sqrt(2 n) sigma
"""

from math import sqrt

from ...core.penalties import Penalties


def for_level_one(sigma: float, n: float) -> Penalties:
    """The penalties for n frames."""
    return Penalties(sqrt(2 * n) * sigma, sqrt(2) * sigma)
