"""`Aligner`: a robust low-rank model of images that are not aligned, and new images aligned with it."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._fields import checked, rules_of
from .._frames import is_frame, like_frame
from .._rules import Count, Either, Number
from .._types import Array
from .._validation import as_floats
from ..alignment.learning import (
    Learned,
    align_new,
    aligned_images,
    learn_alignment,
    learn_more,
    split_without_search,
)
from ..alignment.result import Alignment
from ..alignment.settings import AlignmentSettings
from ..alignment.starts import SMALLEST
from ..core.iterate import Callback
from .base import StoredEstimator


class Aligner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, StoredEstimator):
    r"""Aligns images with each other, learns a robust low-rank model of them, and aligns new images with it.

    ``fit`` finds transformations T_M of the images X together with components U, codes S and outliers O, by (12) in
    docs/paper.md::

        min 1/2 ||T_M(X) - US - O||^2 + rank_penalty/2 (||U||^2 + ||S||^2) + outlier_penalty ||O||_1

    as `unmingle.align` does. ``align`` does the same for each new image on its own, with U as it was learnt: with the
    best outliers put in, that is ::

        min over M, s of  sum_i huber(T_M(x)_i - (Us)_i) + rank_penalty/2 ||s||^2

    by Gauss-Newton steps on M and s together, from coarse to fine, each taken only if the cost falls. A face of 66 x 48
    pixels takes about a millisecond. ``transform`` gives the aligned images alone, for pipelines of scikit-learn.

    Images come as an array (n, height, width) or (n, height, width, 3), as a list of such images, or as rows of pixels,
    (n, height * width), all of the ``shape`` that is given.

    Parameters
    ----------
    motion : {"translation", "euclidean", "similarity", "affine", "projective"}
        What may have happened to an image.
    shape : pair of int, optional
        Height and width of the aligned frame; by default four fifths of the usual image. Rows of pixels are images of
        this shape, too; one of both may be -1, for as many pixels as there are. If they have fewer than 8 pixels along
        an axis, they are not moved.
    n_components : int
        Largest number of components.
    rank_penalty, outlier_penalty : float or "auto"
        Larger: lower rank, and fewer outliers. "auto": 0.01 of white for outliers, and the root of the number of pixels
        in the frame times that for the rank.
    n_starts : int
        New images are searched for from this number of places along each axis, on a square grid round the start that is
        two pixels of the coarsest level wide in each mesh, and the best goes on. 3 or 5 for large displacements.
    forgetting : float in (0, 1]
        What every image of `partial_fit` multiplies the weight of all earlier ones by.

    Attributes
    ----------
    components_ : array of shape (n_components_, height * width)
        U' of the aligned frame.
    n_components_ : int
        Number of components.
    shape_ : pair of int
        Height and width of the aligned frame.
    rank_penalty_, outlier_penalty_ : float
        The penalties used.
    n_images_seen_ : int
        How many images were learnt from.
    n_features_in_ : int
        Pixels of an image, if images came as rows.

    See Also
    --------
    unmingle.align : for one set of images.

    References
    ----------
    .. [1] P. Sprechmann, A. M. Bronstein, G. Sapiro, "Learning Robust Low-Rank Representations", 2012.
    .. [2] Y. Peng, A. Ganesh, J. Wright, W. Xu, Y. Ma, "RASL: Robust Alignment by Sparse and Low-Rank Decomposition",
       2012.

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> y, x = np.mgrid[:40, :40]
    >>> spot = lambda a, b: np.exp(-((x - a) ** 2 + 2 * (y - b) ** 2) / 50)
    >>> spots = np.array([spot(18, 20), spot(20, 20), spot(21.5, 19), spot(20.5, 21)])
    >>> model = unmingle.Aligner(n_components=1).fit(spots)
    >>> here, there = model.align([spot(20, 20), spot(22.25, 18.5)]).matrices[:, :2, 2]
    >>> (there - here).round(2)
    array([ 2.25, -1.5 ])

    In a pipeline, with rows of pixels:

    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> pipeline = make_pipeline(unmingle.Aligner(shape=(40, 40), n_components=1), PCA(1))
    >>> pipeline.fit_transform(spots.reshape(4, -1)).shape
    (4, 1)
    """

    _parameter_rules: ClassVar = {
        **rules_of(AlignmentSettings),
        "forgetting": Either(Number(0.0, 1.0, above=True), wanted="above 0 and at most 1"),
    }
    _state_rules: ClassVar = {"learned": Learned.rules(), "n_images_seen": Count()}

    def __init__(
        self,
        motion: str = "translation",
        *,
        shape: tuple[int, int] | None = None,
        n_components: int = 8,
        rank_penalty: float | str = "auto",
        outlier_penalty: float | str = "auto",
        n_starts: int = 1,
        forgetting: float = 1.0,
    ) -> None:
        self.motion = motion
        self.shape = shape
        self.n_components = n_components
        self.rank_penalty = rank_penalty
        self.outlier_penalty = outlier_penalty
        self.n_starts = n_starts
        self.forgetting = forgetting

    def fit(self, X: Any, y: Any = None, *, starts: Any = None, callback: Callback | None = None) -> Self:
        """Align images with each other, and learn what they have in common.

        Parameters
        ----------
        X : array of shape (n, height, width) or (n, height, width, 3), list of such images, or rows of pixels
            Bytes, numbers of 16 bits, or numbers from 0 to 1; NaN is what is not known. A list may hold images of
            several sizes. What is aligned of coloured ones is their grey.
        y : ignored
            Not used.
        starts : array, optional
            Where to start, if not in the middle of each image: matrices (n, 3, 3), boxes (n, 4) of left, top, right and
            bottom, or landmarks (n, k, 2).
        callback : callable, optional
            Called with an `unmingle.core.iterate.Progress` after each round; a true answer ends the search there.
        """
        self.fit_align(X, starts=starts, callback=callback)
        return self

    def fit_align(self, X: Any, *, starts: Any = None, callback: Callback | None = None) -> Alignment:
        """Fit, and give the images as they were aligned with each other.

        Parameters
        ----------
        X, starts, callback : any
            As in `fit`.

        Returns
        -------
        Alignment
        """
        self._fading()
        images = self._images(X, reset=True)
        settings = AlignmentSettings(
            self.motion,
            images.shape[1:] if _are_rows(X) else self.shape,
            self.n_components,
            self.rank_penalty,
            self.outlier_penalty,
        )
        still = _are_rows(X) and min(images.shape[1:]) < SMALLEST
        self._learned, done = learn_alignment(images, settings, starts=starts, callback=callback, still=still)
        self.n_images_seen_ = int(np.sum([not note for note in done.notes]))
        return done

    def partial_fit(self, X: Any, y: Any = None, *, starts: Any = None) -> Self:
        """Align some more images, and let the components follow those that could be aligned; the first call fits.

        Parameters
        ----------
        X, y, starts : any
            As in `fit`.
        """
        if not hasattr(self, "n_images_seen_"):
            return self.fit(X, starts=starts)
        self._learned, done = learn_more(
            self._learned, self._images(X, reset=False), starts, forgetting=self._fading(), n_starts=self.n_starts
        )
        self.n_images_seen_ += int(done.ok.sum())
        return self

    def align(self, X: Any, starts: Any = None, callback: Callback | None = None) -> Alignment:
        """Align new images, each on its own.

        Parameters
        ----------
        X, starts : any
            As in `fit`.
        callback : callable, optional
            Called with an `unmingle.core.iterate.Progress` after each image; a true answer leaves the others out.

        Returns
        -------
        Alignment
            Whose ``ok`` tells which images could be aligned, and ``notes`` why others could not.
        """
        check_is_fitted(self)
        return align_new(self._learned, self._images(X, reset=False), starts, n_starts=self.n_starts, callback=callback)

    def transform(self, X: Any, starts: Any = None) -> Array:
        """The aligned images: as rows of pixels if they came so, as an array of images otherwise.

        What an image does not show of the frame is filled with its low-rank part. An image that cannot be aligned is
        given as it lies where its search started, or ended; `align` tells which these are, and why.

        Parameters
        ----------
        X, starts : any
            As in `fit`.

        Returns
        -------
        array of shape (n, height * width), (n, height, width) or (n, height, width, 3)
        """
        check_is_fitted(self)
        images = aligned_images(self._learned, self._images(X, reset=False), starts, n_starts=self.n_starts)
        if not _are_rows(X):
            return images
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        return images.reshape(len(images), -1).astype(dtype)

    def fit_transform(self, X: Any, y: Any = None, *, starts: Any = None, callback: Callback | None = None) -> Array:
        """Fit, then transform.

        Parameters
        ----------
        X, y, starts, callback : any
            As in `fit`.

        Returns
        -------
        array
            As from `transform`.
        """
        return self.fit(X, starts=starts, callback=callback).transform(X, starts)

    def starting_parts(self, X: Any, starts: Any = None) -> Alignment:
        """Images taken apart as they are, where their search starts: what alignment is to be compared with.

        Parameters
        ----------
        X, starts : any
            As in `fit`.

        Returns
        -------
        Alignment
        """
        check_is_fitted(self)
        return split_without_search(self._learned, self._images(X, reset=False), starts)

    def _fading(self) -> float:
        """The parameter ``forgetting``, checked."""
        return float(checked(self.forgetting, "forgetting", self._parameter_rules["forgetting"]))

    def _images(self, X: Any, *, reset: bool) -> Any:
        """Images as they are; rows of pixels as images of the shape that was given."""
        if not _are_rows(X):
            return X
        floats = like_frame(X, as_floats(X)) if is_frame(X) else as_floats(X)
        if self.shape is None:
            raise ValueError(
                f"Rows of pixels need a shape, as in Aligner(shape=(height, width)); got an array of shape "
                f"{floats.shape}. Images have shape (n, height, width)."
            )
        rows = validate_data(
            self,
            floats,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
            ensure_min_features=2 if reset else 1,
        )
        try:
            return rows.reshape(len(rows), *self.shape)
        except ValueError:
            raise ValueError(
                f"shape must be that of the images: {rows.shape[1]} pixels do not make images of {self.shape}."
            ) from None

    @property
    def _n_features_out(self) -> int:
        return int(np.prod(self.shape_))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.three_d_array = True
        tags.input_tags.two_d_array = self.shape is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def components_(self) -> Array:
        """U' of the aligned frame."""
        return self._fitted.model.sharp

    @property
    def n_components_(self) -> int:
        """Number of components."""
        return len(self._fitted.model.components)

    @property
    def shape_(self) -> tuple[int, int]:
        """Height and width of the aligned frame."""
        frame = self._fitted.model.frame
        return frame.height, frame.width

    @property
    def rank_penalty_(self) -> float:
        """The rank penalty used."""
        return self._fitted.model.rank_penalty

    @property
    def outlier_penalty_(self) -> float:
        """The outlier penalty used."""
        return self._fitted.model.outlier_penalty

    @property
    def _fitted(self) -> Learned:
        if not hasattr(self, "n_images_seen_"):
            raise AttributeError("This Aligner is not fitted yet.")
        return self._learned

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_images_seen_")

    def _parameters_to_store(self) -> dict[str, Any]:
        return {**self.get_params(), "shape": None if self.shape is None else [int(side) for side in self.shape]}

    @classmethod
    def _parameters_from_store(cls, stored: dict[str, Any]) -> dict[str, Any]:
        return {**stored, "shape": None if stored["shape"] is None else tuple(stored["shape"])}

    def _state_to_store(self) -> dict[str, Any]:
        return {"learned": self._learned.to_store(), "n_images_seen": self.n_images_seen_}

    def _state_from_store(self, content: dict[str, Any]) -> None:
        self._learned, self.n_images_seen_ = Learned.from_store(content["learned"]), content["n_images_seen"]


def _are_rows(X: Any) -> bool:
    """Whether images come as rows of pixels: a table, or a list of lists of numbers."""
    if isinstance(X, list | tuple):
        return bool(X) and np.ndim(X[0]) < 2
    return is_frame(X) or hasattr(X, "toarray") or (hasattr(X, "__array__") and np.asarray(X).ndim <= 2)
