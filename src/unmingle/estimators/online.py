"""`OnlineRobustPCA`: components of a stream.

The work is done in `streaming.py`, what estimators of streams share, and in `core/online/tracker.py`, the `Tracker`.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from .._rules import Either, OneOf
from ..core.encoder.encoder import LAYERS
from ..core.online.dictionary import STEPS
from .streaming import STREAM_GIVEN, StreamTransformer


class OnlineRobustPCA(StreamTransformer):
    r"""Robust principal components of a stream: learnt as samples come, in memory that does not grow.

    Each sample is encoded with the present components U, and then forgotten but for two sums, in which the
    past fades::

        (5)  s, o = argmin 1/2 ||x - Us - o||^2 + rank_penalty/2 ||s||^2 + outlier_penalty ||o||_1
             A <- forgetting A + s s',    B <- forgetting B + s (x - o)'
        (9)  (A + rank_penalty I) U' = B

    The first ``start_size`` samples are solved together as one matrix, so that they need not be clean. Later, samples
    that the components do not explain at all are not learnt from, unless they keep coming and have something in
    common: then the stream has jumped, and their own components are opened.

    Data are not centred: a mean is one more component. NaN means missing.

    Parameters
    ----------
    n_components : int, optional
        Largest number of components; None for as many as the first samples ask for.
    rank_penalty : float or "auto"
        Larger: lower rank. "auto" is sigma (sqrt m + sqrt w), with sigma the noise level, which follows the stream, and
        w the effective number of samples in the window.
    outlier_penalty : float, array of shape (n_features,), or "auto"
        Larger: fewer outliers. "auto" is ``rank_penalty / sqrt(max(m, w))``, and 3 sqrt(q / w) times that where w is
        below 9 q.
    forgetting : float in (0, 1] or "auto"
        What every sample multiplies the weight of the past by; w tends to 1 / (1 - forgetting). "auto": early samples
        fade, the window grows with the stream to about a third of it, and shrinks when the data drift. 1: never forget.
    dictionary_step : {"block", "direct", "recursive"}
        How (9) is solved after each batch: a pass over the components, all at once, or by correcting the last solution,
        which takes half the memory.
    n_layers : int, optional
        Layers of an `Encoder` that encodes samples while learning: the same work for every sample, and less exact. All
        rows of a batch start from one code, that of the last ordinary row of the batch before, but for rows that it
        does not explain: they start from nothing. None encodes exactly, by Newton's method, as `transform` always does.
    start_size : int
        Samples that are solved together at the start; at least twice ``n_components`` are taken.
    batch_size : int
        Samples encoded with the same components; larger is faster, smaller follows faster.
    contamination : float or "auto"
        Share of bad rows in the training data, at most a half: `predict` finds this share of them. "auto": it takes one
        ordinary row in a hundred for an outlier, however many bad ones there are.
    random_state : int, Generator, RandomState or None
        Starts the partial SVD; None is the seed 0.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        Atoms U'; orthogonal and of falling norm, up to what the last few samples changed.
    n_components_ : int
        Number of components.
    rank_penalty_, outlier_penalty_ : float, or array if one was given
        The present penalties.
    noise_level_ : float
        The present noise level: robust scale of what neither the components nor outliers explain.
    n_samples_seen_ : int
        Number of samples taken in.
    n_jumps_ : int
        How often the stream jumped.
    frozen_ : bool
        Whether `freeze` was called.
    offset_ : float
        Score below which `predict` calls a row an outlier.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str
        Names of the features, if the data had such.

    See Also
    --------
    unmingle.RobustPCA : for one matrix that fits into memory, with a certificate for all of it.
    unmingle.OnlineRobustNMF : for streams without negative entries, into nonnegative parts.

    References
    ----------
    .. [1] P. Sprechmann, A. M. Bronstein, G. Sapiro, "Learning Robust Low-Rank Representations", 2012.

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> rng = np.random.default_rng(0)
    >>> U = rng.standard_normal((2, 50))
    >>> model = unmingle.OnlineRobustPCA(n_components=2, random_state=0)
    >>> for _ in range(20):
    ...     block = rng.standard_normal((25, 2)) @ U + 0.01 * rng.standard_normal((25, 50))
    ...     block[rng.random(block.shape) < 0.1] += 10.0
    ...     model = model.partial_fit(block)
    >>> model.n_components_, model.n_samples_seen_
    (2, 500)
    >>> clean = np.array([[1.0, -2.0]]) @ U
    >>> dirty = clean.copy()
    >>> dirty[0, 7] = 100.0
    >>> bool(np.abs(model.decompose(dirty).low_rank - clean).max() < 0.05)
    True
    """

    _parameter_rules: ClassVar = {
        **STREAM_GIVEN,
        "dictionary_step": OneOf(*STEPS),
        "n_layers": Either(OneOf(None), LAYERS, wanted=LAYERS.wanted),
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        rank_penalty: float | str = "auto",
        outlier_penalty: Any = "auto",
        forgetting: float | str = "auto",
        dictionary_step: str = "block",
        n_layers: int | None = None,
        start_size: int = 100,
        batch_size: int = 100,
        contamination: float | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.rank_penalty = rank_penalty
        self.outlier_penalty = outlier_penalty
        self.forgetting = forgetting
        self.dictionary_step = dictionary_step
        self.n_layers = n_layers
        self.start_size = start_size
        self.batch_size = batch_size
        self.contamination = contamination
        self.random_state = random_state

    def _kind_and_layers(self, given: Mapping[str, Any]) -> tuple[str, int | None]:
        return given["dictionary_step"], given["n_layers"]
