"""`align`: images that show the same thing, each a little displaced."""

from typing import Any

from ..core.iterate import Callback
from .learning import fit
from .result import Alignment


def align(
    images: Any,
    motion: str = "translation",
    *,
    shape: tuple[int, int] | None = None,
    starts: Any = None,
    n_components: int = 8,
    rank_penalty: float | str = "auto",
    outlier_penalty: float | str = "auto",
    callback: Callback | None = None,
) -> Alignment:
    r"""Align images with each other, and take them apart into what they have in common and what stands out.

    Transformations T_M of the images X are found together with components U, codes S and outliers O (THEORY 5)::

        min 1/2 ||T_M(X) - US - O||^2 + rank_penalty/2 (||U||^2 + ||S||^2) + outlier_penalty ||O||_1

    in rounds, from coarse to fine: components of the images as they lie, then Gauss-Newton steps of each image against
    them. The rank grows by one in a round, and the mean of all transformations stays where it was.

    Cost: about 20 rounds, each of 4 n m q flops a few times, for m pixels of the frame. Memory: that of the images
    twice, and of the frames.

    Parameters
    ----------
    images : array of shape (n, height, width) or (n, height, width, 3), or list of such images
        Bytes, numbers of 16 bits, or numbers from 0 to 1; NaN is what is not known. A list may hold images of several
        sizes. What is aligned of coloured ones is their grey.
    motion : {"translation", "euclidean", "similarity", "affine", "projective"}
        What may have happened to an image.
    shape : pair of int, optional
        Height and width of the aligned frame; by default four fifths of the usual image.
    starts : array, optional
        Where to start, if not in the middle of each image: matrices (n, 3, 3) as in the answer, boxes (n, 4) of left,
        top, right and bottom, or landmarks (n, k, 2), k points x and y of each image.
    n_components : int
        At most so many components.
    rank_penalty, outlier_penalty : float or "auto"
        Larger: lower rank, and fewer outliers. "auto": 0.01 of white for outliers, and the root of the number of pixels
        in the frame times that for the rank.
    callback : callable, optional
        Called with an `unmingle.core.iterate.Progress` after each round; a true answer ends the search there.

    Returns
    -------
    Alignment
        ``matrices``, ``images``, ``low_rank``, ``outliers``, ``cost``, ``ok``, ...

    See Also
    --------
    unmingle.Aligner : which aligns new images, too.

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> y, x = np.mgrid[:40, :40]
    >>> places = np.array([[18.0, 20.0], [20.0, 20.0], [21.5, 19.0], [20.5, 21.0]])
    >>> spots = [np.exp(-((x - a) ** 2 + 2 * (y - b) ** 2) / 50) for a, b in places]
    >>> done = unmingle.align(spots, n_components=1)
    >>> shifts = done.matrices[:, :2, 2]
    >>> bool(np.abs(shifts - shifts.mean(axis=0) - (places - places.mean(axis=0))).max() < 0.01)
    True
    """
    penalties = rank_penalty, outlier_penalty
    settings = {"shape": shape, "starts": starts, "n_components": n_components, "penalties": penalties}
    return fit(images, motion, **settings, callback=callback)[1]
