"""`Encoder`: a problem and the layers that solve it, as a frozen value."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from math import isfinite
from os import PathLike
from typing import Annotated, Any, Self

import numpy as np

from ... import store
from ..._fields import from_store, record_of, to_store
from ..._rules import FLOATS, POSITIVE, ArrayOf, Count, Flag, Record
from ..._types import Array
from ..._validation import as_floats, check_choice, check_count, check_outlier_penalty, check_positive, within_range
from ...kernels.encoder import encode_layers
from ..linalg.memory import empty_unaliased
from ..linalg.units import Units
from ..objective import projection, projection_gap
from .layers import Layers, Signs, propagate

MOST_LAYERS = 10_000
"""More would not end in a reasonable time; Algorithm 1 needs far fewer."""
LAYERS = Count(1, MOST_LAYERS)
STRUCTURES = ("low_rank", "full")
BACKENDS = ("numba", "numpy")
BEYOND = 1e20
"""Entries beyond this multiple of the outlier penalty are cut: they remain outliers, and their sums do not overflow."""
_ROWS_PER_THREAD = 64
_PRECISIONS = ({np.dtype(np.float32)}, {np.dtype(np.float64)})


@dataclass(frozen=True, eq=False)
class Encoder:
    """A network that finds codes and outliers of samples in a fixed number of layers.

    It holds the problem (5), by which its answers are judged, and apart from it the layers. A new encoder is
    Algorithm 1 cut off after ``n_layers`` passes; a trained one has the same form and other numbers. Make one by
    `from_components`, or by training `unmingle.LearnedRobustPCA`.

    Attributes
    ----------
    components : array of shape (q, m)
        U' of the problem.
    rank_penalty : float
        lam_* of the problem.
    outlier_penalty : array of shape (m,)
        lam of the problem.
    layers : Layers
        A, H', t, G of the layers and the readout.
    n_layers : int
        Number of layers.
    nonnegative_codes, nonnegative_outliers : bool
        Signs of the answer. Nonnegative codes are found by projected gradient steps, nonnegative outliers by a
        threshold on one side.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> U = rng.standard_normal((2, 50))
    >>> x = np.array([[1.0, -2.0]]) @ U
    >>> x[0, 7] += 100.0
    >>> encoder = Encoder.from_components(U, rank_penalty=0.1, outlier_penalty=0.5, n_layers=10)
    >>> codes, outliers = encoder.encode(x)
    >>> np.round(codes, 1).tolist(), np.flatnonzero(np.abs(outliers) > 1).tolist()
    ([[1.0, -2.0]], [7])

    Every answer can carry its own certificate, a bound on how far its cost is above the least possible:

    >>> bool(encoder.gap(x, codes, outliers)[0] < 1e-3)
    True
    """

    components: Annotated[Array, ArrayOf(FLOATS, "q", "m", alike="encoder")]
    rank_penalty: Annotated[float, POSITIVE]
    outlier_penalty: Annotated[Array, ArrayOf(FLOATS, "m", low=0.0, alike="encoder")]
    layers: Layers
    n_layers: Annotated[int, LAYERS]
    nonnegative_codes: Annotated[bool, Flag()] = False
    nonnegative_outliers: Annotated[bool, Flag()] = False
    _casts: dict[Any, "Encoder"] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        check_count(self.n_layers, "n_layers", MOST_LAYERS)
        q, m = self.components.shape
        depth = len(self.layers.threshold)
        inner = m if self.layers.full else q
        expected = ((depth, inner, m), self.layers.encoder.shape, (depth, m), (depth, q, q), (q, m), (q, q))
        if (
            tuple(part.shape for part in self.layers) != expected
            or self.layers.encoder.shape not in ((depth, q, m), (depth, 0, m))
            or self.outlier_penalty.shape != (m,)
            or depth not in (1, self.n_layers)
            or (self.nonnegative_codes and self.layers.full)
        ):
            raise ValueError("The arrays do not make up an encoder: their shapes do not fit together.")
        if {part.dtype for part in (self.components, self.outlier_penalty, *self.layers)} not in _PRECISIONS:
            raise ValueError("The arrays of an encoder must all be of float32, or all of float64.")
        if not all(np.isfinite(part).all() for part in (self.components, self.outlier_penalty, *self.layers)):
            raise ValueError("The arrays of an encoder must be finite.")
        if any((part < 0).any() for part in (self.outlier_penalty, self.layers.threshold)) or self.rank_penalty <= 0:
            raise ValueError("The rank penalty of an encoder must be positive, other penalties not negative.")
        for part in (self.components, self.outlier_penalty, *self.layers):
            part.setflags(write=False)

    def __repr__(self) -> str:
        q, m = self.components.shape
        return f"{type(self).__name__}({m} features, {q} components, {self.n_layers} layers, {self.components.dtype})"

    @classmethod
    def from_components(
        cls,
        components: Any,
        *,
        rank_penalty: float,
        outlier_penalty: Any,
        n_layers: int,
        tied: bool = True,
        structure: str = "low_rank",
        nonnegative_codes: bool = False,
        nonnegative_outliers: bool = False,
    ) -> Self:
        """Algorithm 1 as an encoder: not trained.

        Parameters
        ----------
        components : array of shape (q, m)
            U'; as they are, their norms matter.
        rank_penalty : float
            lam_*.
        outlier_penalty : float or array of shape (m,)
            lam.
        n_layers : int
            Number of layers.
        tied : bool
            Whether all layers share their numbers.
        structure : {"low_rank", "full"}
            W = A H' as a product, 4 m q flops a layer, or as one matrix, 2 m^2 flops: for small m only.
        nonnegative_codes, nonnegative_outliers : bool
            Signs of the answer.
        """
        U = np.array(as_floats(components, "components"), order="C")
        if U.ndim != 2 or not U.shape[1] or not np.isfinite(U).all():
            raise ValueError(f"components must be finite numbers, atoms by features, got shape {U.shape}.")
        lam_star = check_positive(rank_penalty, "rank_penalty")
        n_layers = check_count(n_layers, "n_layers", MOST_LAYERS)
        lam = np.broadcast_to(check_outlier_penalty(outlier_penalty, U.shape[1]), U.shape[1]).astype(U.dtype)
        full = check_choice(structure, "structure", STRUCTURES) == "full"
        if full and nonnegative_codes:
            raise ValueError("structure='full' has no inner code that could be nonnegative; use 'low_rank'.")
        layers = Layers.of_algorithm(U, lam_star, lam, 1 if tied else n_layers, full, nonnegative_codes)
        return cls(U, lam_star, lam, layers, n_layers, nonnegative_codes, nonnegative_outliers)

    @property
    def structure(self) -> str:
        """Either "low_rank" or "full"."""
        return "full" if self.layers.full else "low_rank"

    @property
    def tied(self) -> bool:
        """Whether all layers share their numbers."""
        return len(self.layers.threshold) == 1

    @property
    def signs(self) -> Signs:
        """Which parts of the answer may not be negative."""
        return Signs(self.nonnegative_codes, self.nonnegative_outliers)

    def untrained(self, components: Array | None = None) -> "Encoder":
        """Algorithm 1 for the problem of this encoder, or for other components, in as many layers of the same kind."""
        U = self.components if components is None else np.array(components, dtype=self.components.dtype, order="C")
        depth = len(self.layers.threshold)
        layers = Layers.of_algorithm(
            U, self.rank_penalty, self.outlier_penalty, depth, self.layers.full, self.nonnegative_codes
        )
        return replace(self, components=U, layers=layers)

    def moved_to(self, components: Array) -> "Encoder":
        """The encoder for other components: what training added to the layers of Algorithm 1 is added to the new ones.

        Parameters
        ----------
        components : array of shape (q, m)
            U'.
        """
        before, after = self.untrained(), self.untrained(components.astype(self.components.dtype))
        moved = Layers(
            *(own + (new - old) for own, old, new in zip(self.layers, before.layers, after.layers, strict=True))
        )
        return replace(after, layers=moved)

    def rescaled(self, root: float) -> "Encoder":
        """The encoder for data ``root ** 2`` times as large: codes and components grow by ``root``."""
        units = Units(root)
        A, H, t, G, readout, readout_feedback = self.layers
        decoder = A if self.layers.full else units.factors_from_units(A)
        encoder, readout = units.factors_to_units(H), units.factors_to_units(readout)
        return replace(
            self,
            components=units.factors_from_units(self.components),
            rank_penalty=units.from_units(self.rank_penalty),
            outlier_penalty=units.from_units(self.outlier_penalty),
            layers=Layers(decoder, encoder, units.from_units(t), G, readout, readout_feedback),
        )

    def astype(self, dtype: Any) -> "Encoder":
        """The encoder with numbers of another type; kept, so that it is made once.

        Parameters
        ----------
        dtype : dtype
            float32 or float64.
        """
        dtype = np.dtype(dtype)
        if dtype == self.components.dtype:
            return self
        if dtype not in self._casts:
            layers = Layers(*(part.astype(dtype) for part in self.layers))
            problem = {name: getattr(self, name).astype(dtype) for name in ("components", "outlier_penalty")}
            self._casts[dtype] = replace(self, **problem, layers=layers)
        return self._casts[dtype]

    def encode(
        self, X: Any, *, backend: str = "numba", init: Any = None, n_jobs: int | None = None
    ) -> tuple[Array, Array]:
        """Codes and outliers of samples. Cost: 4 m q flops for each sample and layer.

        Parameters
        ----------
        X : array of shape (n, m)
            Samples; NaN means missing.
        backend : {"numba", "numpy"}
            Compiled, or plain: the same numbers up to rounding.
        init : array of shape (n, q), optional
            Codes to start from, such as those of the sample before in a stream: the first layer then thresholds
            x - U init.
        n_jobs : int, optional
            Threads, each with its own rows; -1 for all processors, None for one.

        Returns
        -------
        codes : array of shape (n, q)
        outliers : array of shape (n, m)
            Zero where a sample is missing.
        """
        check_choice(backend, "backend", BACKENDS)
        X, q = np.ascontiguousarray(self._samples(X)), len(self.components)
        if init is not None:
            init = np.ascontiguousarray(as_floats(init, "init"), dtype=X.dtype)
            if init.shape != (len(X), q):
                raise ValueError(f"init must hold one code for each sample, shape {(len(X), q)}, got {init.shape}.")
            if not np.isfinite(init).all():
                raise ValueError("init must be finite, got NaN or infinity.")
        parts = self.astype(X.dtype)
        codes, outliers = np.empty((len(X), q), X.dtype), empty_unaliased(X.shape, X.dtype)
        encode = parts._encode_compiled if backend == "numba" else parts._encode_plainly

        def work(rows: slice) -> None:
            encode(X[rows], None if init is None else init[rows], codes[rows], outliers[rows])

        blocks = _shares(len(X), _threads(n_jobs))
        if len(blocks) == 1:
            work(blocks[0])
        else:
            with ThreadPoolExecutor(len(blocks)) as pool:
                list(pool.map(work, blocks))
        signs = self.nonnegative_codes or self.nonnegative_outliers
        suspects = (codes, outliers) if signs else (codes,) if init is None else (outliers,)  # where infinity shows
        with np.errstate(over="ignore", invalid="ignore"):
            in_doubt = not all(isfinite(part.sum()) for part in suspects)
        if in_doubt and np.isinf(X).any():
            raise ValueError("X contains infinity; replace it, by NaN if the entry is to count as missing.")
        by = type(self).__name__
        return within_range(codes, by), within_range(outliers, by) if in_doubt else outliers

    def _encode_plainly(self, X: Array, init: Array | None, codes: Array, outliers: Array) -> None:
        known = ~np.isnan(X)
        x = np.where(known, X, X.dtype.type(0))
        weights = None if known.all() else known.astype(X.dtype)
        codes[:], cleaned = propagate(self.layers, self.components, self.n_layers, self.signs, x, weights, init)
        np.subtract(x, cleaned, out=outliers)
        outliers[~known] = 0

    def _encode_compiled(self, X: Array, init: Array | None, codes: Array, outliers: Array) -> None:
        encode_layers(X, self.layers, self.components, self.n_layers, *self.signs, init, codes, outliers)

    def gap(self, X: Any, codes: Any, outliers: Any = None) -> Array:
        """Certificates: for each sample the relative duality gap of (5), whatever made the codes.

        Parameters
        ----------
        X : array of shape (n, m)
            Samples; NaN means missing.
        codes : array of shape (n, q)
            Codes of the samples.
        outliers : array of shape (n, m), optional
            Outliers of the samples; None for the best ones for the codes.

        Returns
        -------
        array of shape (n,)
            The cost of each sample is above its minimum by at most this share of it.
        """
        X, codes, outliers = self._checked(X, codes, outliers)
        units = Units.of(self.outlier_penalty)
        with np.errstate(over="ignore", invalid="ignore"):
            own, X = self.rescaled(1 / units.root).astype(X.dtype), np.clip(units.to_units(X), -BEYOND, BEYOND)
            outliers = None if outliers is None else np.clip(units.to_units(outliers), -BEYOND, BEYOND)
            gap = projection_gap(
                X, own.components, units.factors_to_units(codes), own.rank_penalty, own.outlier_penalty, outliers,
                nonnegative_codes=self.nonnegative_codes, nonnegative_outliers=self.nonnegative_outliers,
            )  # fmt: skip
        return within_range(gap, type(self).__name__) if np.isfinite(codes).all() else gap

    def cost(self, X: Any, codes: Any, outliers: Any) -> Array:
        """Cost f of each sample, (11).

        Parameters
        ----------
        X : array of shape (n, m)
            Samples; NaN means missing.
        codes : array of shape (n, q)
            Codes of the samples.
        outliers : array of shape (n, m)
            Outliers of the samples.

        Returns
        -------
        array of shape (n,)
        """
        X, codes, outliers = self._checked(X, codes, outliers)
        parts = self.astype(X.dtype)
        return projection(X, parts.components, codes, outliers, self.rank_penalty, parts.outlier_penalty)

    def _samples(self, X: Any) -> Array:
        X, m = as_floats(X), self.components.shape[1]
        if X.ndim != 2 or X.shape[1] != m:
            raise ValueError(f"X must have {m} columns, one for each feature, got an array of shape {X.shape}.")
        return X

    def _checked(self, X: Any, codes: Any, outliers: Any) -> tuple[Array, Array, Any]:
        """Samples with their codes and, if they are given, outliers, as arrays of fitting shapes."""
        X, codes, q = self._samples(X), as_floats(codes, "codes"), len(self.components)
        outliers = None if outliers is None else as_floats(outliers, "outliers")
        if codes.shape != (len(X), q) or (outliers is not None and outliers.shape != X.shape):
            raise ValueError(
                f"codes must have shape {(len(X), q)} and outliers that of X, {X.shape}; got {codes.shape}"
                f"{'' if outliers is None else f' and {outliers.shape}'}."
            )
        return X, codes, outliers

    def save(self, path: str | PathLike[str]) -> None:
        """Write the encoder to a ``.safetensors`` file; `unmingle.load` reads it back.

        Parameters
        ----------
        path : path
            Where to; an existing file is replaced once the new one is complete.
        """
        content = self._to_store()
        store.save(path, type(self).__name__, content, self._schema(content))

    def _to_store(self) -> dict[str, Any]:
        return to_store(self)

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        return from_store(cls, content)

    @classmethod
    def _schema(cls, content: Any) -> Record:
        return ENCODER


ENCODER = record_of(Encoder)
"""What a file holds of an encoder; how the arrays fit together beyond that, `Encoder` itself checks."""


def _threads(n_jobs: int | None) -> int:
    if n_jobs in (None, 1):
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def _shares(n: int, threads: int) -> list[slice]:
    """Rows in nearly equal shares, one for each thread, but none too small to be worth one."""
    count = max(1, min(threads, n // _ROWS_PER_THREAD))
    return [slice(n * k // count, n * (k + 1) // count) for k in range(count)]
