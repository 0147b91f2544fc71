"""`OnlineRobustNMF`: nonnegative parts of a stream.

The work is done in `streaming.py`, what estimators of streams share, and in `core/online/tracker.py`, the `Tracker`.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from .._rules import Record, Text
from ..core.online.tracker import NONNEGATIVE_TRACKER
from .base import NONNEGATIVE_COMPONENTS
from .streaming import STREAM_FITTED, STREAM_GIVEN, StreamTransformer


class OnlineRobustNMF(StreamTransformer):
    r"""Nonnegative parts of a stream that outliers cannot bend: learnt as samples come, in memory that does not grow.

    Each sample is encoded with the present components U, and then forgotten but for two sums, in which the past fades;
    the components go down one after the other::

        (5)  s, o = argmin over s >= 0, o >= 0 of
                    1/2 ||x - Us - o||^2 + rank_penalty/2 ||s||^2 + outlier_penalty ||o||_1
             A <- forgetting A + s s',    B <- forgetting B + s (x - o)'
             u_k <- max(0, (b_k - sum_{i != k} a_ki u_i) / (a_kk + rank_penalty))

    Atoms are scaled so that each is as long as its codes together, and never rotated. The first ``start_size`` samples
    are solved together as one matrix, as `RobustNMF` does. It is not convex: which parts are found depends on the
    start; the codes are certified for them. What else happens to a stream, strangers, jumps and drift, is as in
    `OnlineRobustPCA`.

    Outliers only add. NaN means missing; a negative entry is an error.

    Parameters
    ----------
    n_components : int, optional
        Largest number of components; None for as many as `unmingle.decompose` finds in the first samples.
    rank_penalty : float or "auto"
        Larger: fewer and smaller components. "auto" is sigma (sqrt m + sqrt w) / 2, with sigma the noise level, which
        follows the stream, and w the effective number of samples in the window.
    outlier_penalty : float, array of shape (n_features,), or "auto"
        Larger: fewer outliers. "auto" is ``3 rank_penalty / (sqrt m + sqrt w)``, and 3 sqrt(q / w) times that where w
        is below 9 q.
    forgetting : float in (0, 1] or "auto"
        What every sample multiplies the weight of the past by; w tends to 1 / (1 - forgetting). "auto": early samples
        fade, the window grows with the stream to about a third of it, and shrinks when the data drift. 1: never forget.
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
        Atoms U', at least 0; of falling norm, up to what the last few samples changed.
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
    unmingle.RobustNMF : for one matrix that fits into memory.
    unmingle.OnlineRobustPCA : for streams of any sign.

    References
    ----------
    .. [1] P. Sprechmann, A. M. Bronstein, G. Sapiro, "Learning Robust Low-Rank Representations", 2012.

    Examples
    --------
    >>> import unmingle
    >>> model = unmingle.OnlineRobustNMF(n_components=3, forgetting=0.99, random_state=0)
    >>> for block in unmingle.synth.nonnegative_stream(2000, 50, 3, drift=0.1, noise=0.02, random_state=0):
    ...     model = model.partial_fit(block.X)
    >>> bool((model.components_ >= 0).all()), unmingle.metrics.subspace_angle(model.components_, block.basis) < 5
    (True, True)
    """

    nonnegative: ClassVar = True
    _parameter_rules: ClassVar = STREAM_GIVEN
    _attribute_rules: ClassVar = {**STREAM_FITTED, "components_": NONNEGATIVE_COMPONENTS}
    _state_rules: ClassVar = {"stream": Record({"origin": Text(), "tracker": NONNEGATIVE_TRACKER})}

    def __init__(
        self,
        n_components: int | None = None,
        *,
        rank_penalty: float | str = "auto",
        outlier_penalty: Any = "auto",
        forgetting: float | str = "auto",
        start_size: int = 100,
        batch_size: int = 100,
        contamination: float | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.rank_penalty = rank_penalty
        self.outlier_penalty = outlier_penalty
        self.forgetting = forgetting
        self.start_size = start_size
        self.batch_size = batch_size
        self.contamination = contamination
        self.random_state = random_state

    def _kind_and_layers(self, given: Mapping[str, Any]) -> tuple[str, int | None]:
        return "nonnegative", None
