"""`SequenceEncoder`: the recurrence carried from sample to sample, with a head that reads both parts."""

from dataclasses import dataclass
from os import PathLike
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from ... import store
from ..._fields import from_store, record_of, to_store
from ..._rules import ArrayOf, Record
from ..._types import Array
from ..._validation import as_floats, check_choice, check_count, within_range
from ...kernels.sequence import carry_codes
from .encoder import BACKENDS, MOST_LAYERS

_LARGEST_WEIGHT, _LARGEST_POWER = 1e6, 10.0


def _numbers(*shape: str, low: float = -_LARGEST_WEIGHT, high: float = _LARGEST_WEIGHT) -> ArrayOf:
    """The rule of an array of a network, which a file may hold in half precision."""
    return ArrayOf(("float16", "float32", "float64"), *shape, low=low, high=high, alike="numbers")


FLOOR = 0.01
"""What both parts are at least, beside samples of size one: a mask is then never 0 / 0."""
_RIDGE = 0.5
_MEMORIES = (0.1, 0.1, 0.7, 0.95)
"""Share of a code that is left after one sample, for a quarter of the atoms each, before training."""


class Cell(NamedTuple):
    """L layers of nonnegative codes with a bias. Arrays of NumPy, or tensors of torch; rows are atoms."""

    decoder: Annotated[Any, _numbers("depth", "q", "m")]
    """A' of each layer (L, q, m)."""
    encoder: Annotated[Any, _numbers("depth", "q", "m")]
    """H' of each layer (L, q, m)."""
    threshold: Annotated[Any, _numbers("depth", "m", low=0.0)]
    """t of each layer (L, m), not negative."""
    feedback: Annotated[Any, _numbers("depth", "q", "q")]
    """G' of each layer (L, q, q)."""
    bias: Annotated[Any, _numbers("depth", "q")]
    """b of each layer (L, q)."""


class Head(NamedTuple):
    """What reads background and foreground from a code."""

    background: Annotated[Any, _numbers("q", "m")]
    """B' (q, m)."""
    background_bias: Annotated[Any, _numbers("m")]
    """b_0 (m,)."""
    foreground: Annotated[Any, _numbers("q", "m")]
    """F' (q, m)."""
    foreground_bias: Annotated[Any, _numbers("m")]
    """f_0 (m,)."""
    threshold: Annotated[Any, _numbers("m", low=0.0)]
    """t_o (m,), not negative."""
    power: Annotated[Any, _numbers(low=0.0, high=_LARGEST_POWER)]
    """p, a number."""


class SequenceParts(NamedTuple):
    """What a sequence is made of, in units of its own: the share f^2 / (f^2 + b^2) of a sample is foreground."""

    background: Array
    """b (n, m)."""
    foreground: Array
    """f (n, m)."""
    state: Array
    """The last code (q,): with it the sequence goes on."""


def carry(cell: Cell, x: Any, c: Any) -> Any:
    """The code of the next sample of each of n sequences, for arrays of NumPy and tensors of torch::

        r = min(x, A c + t),   c <- max(0, G c + H' r + b)       in each layer

    Parameters
    ----------
    cell : Cell
        The numbers.
    x : array of shape (n, m)
        The samples.
    c : array of shape (n, q)
        Codes of the samples before; 0 before the first one.
    """  # noqa: D400
    for A, H, t, G, b in zip(*cell, strict=True):
        r = x.clip(None, c @ A + t)
        c = (c @ G + r @ H.T + b).clip(0, None)
    return c


def read_out(head: Head, x: Array, c: Array) -> tuple[Array, Array]:
    """Background and foreground of samples with their codes::

        d = softplus(B c + b_0),   v = softplus(F c + f_0),   v <- v + max(0, x - d - v - t_o)
        background (d + 0.01)^(p/2),   foreground (v + 0.01)^(p/2)

    Parameters
    ----------
    head : Head
        The numbers.
    x : array of shape (n, m)
        Samples.
    c : array of shape (n, q)
        Their codes.
    """  # noqa: D400
    d = _softplus(c @ head.background + head.background_bias)
    v = _softplus(c @ head.foreground + head.foreground_bias)
    v += np.maximum(0, x - d - v - head.threshold)
    half = x.dtype.type(head.power / 2)
    return (d + x.dtype.type(FLOOR)) ** half, (v + x.dtype.type(FLOOR)) ** half


def _softplus(z: Array) -> Array:
    """log(1 + e^z), without overflow."""
    return np.asarray(np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z))))


@dataclass(frozen=True, eq=False)
class SequenceEncoder:
    """A network that follows a sequence of nonnegative samples and tells background from foreground in each.

    Its layers are those of `Encoder` with nonnegative codes and outliers, and a bias. They begin with the code of the
    sample before, so that a few of them see far back. A head of its own reads both parts from the last code. Make one
    by `from_samples`, and train it by `unmingle.learn.train_masks`.

    Attributes
    ----------
    cell : Cell
        A, H', t, G and b of the layers.
    head : Head
        What reads both parts.

    Examples
    --------
    >>> X = np.abs(np.random.default_rng(0).standard_normal((20, 6)))
    >>> encoder = SequenceEncoder.from_samples(X, n_components=4, n_layers=2)
    >>> whole = encoder.separate(X)
    >>> first = encoder.separate(X[:12])
    >>> bool(np.allclose(encoder.separate(X[12:], state=first.state).foreground, whole.foreground[12:]))
    True
    """

    cell: Cell
    head: Head

    def __post_init__(self) -> None:
        depth, q, m = self.cell.decoder.shape
        check_count(depth, "n_layers", MOST_LAYERS)
        expected = [(depth, q, m), (depth, q, m), (depth, m), (depth, q, q), (depth, q)]
        expected += [(q, m), (m,), (q, m), (m,), (m,), ()]
        parts = (*self.cell, *self.head)
        if [part.shape for part in parts] != expected:
            raise ValueError("The arrays do not make up a SequenceEncoder: their shapes do not fit together.")
        if len({part.dtype for part in parts}) > 1 or self.dtype not in (np.float32, np.float64):
            raise ValueError("The arrays of a SequenceEncoder must all be of float32, or all of float64.")
        if not all(np.isfinite(part).all() for part in parts):
            raise ValueError("The arrays of a SequenceEncoder must be finite.")
        if (self.cell.threshold < 0).any() or (self.head.threshold < 0).any() or self.head.power <= 0:
            raise ValueError("Thresholds of a SequenceEncoder must not be negative, and its power must be positive.")
        for part in parts:
            part.setflags(write=False)

    def __repr__(self) -> str:
        sizes = f"{self.n_features} features, {self.n_components} components, {self.n_layers} layers"
        return f"{type(self).__name__}({sizes}, {self.dtype})"

    @classmethod
    def from_samples(cls, X: Any, *, n_components: int, n_layers: int, seed: int = 0) -> Self:
        """A network that is worth training: samples are its first atoms.

        A = D, unit vectors along samples chosen by chance. With P = (D'D + 1/2 I)^-1 D', and as much noise, of some
        atoms the codes fade at once, of others slowly: G = diag(g), H' = (1 - g) P. The head is noise.

        Parameters
        ----------
        X : array of shape (n, m)
            Samples of size one, not negative.
        n_components : int
            q.
        n_layers : int
            L.
        seed : int
            Of the choice and of the noise.
        """
        X, rng = as_floats(X), np.random.default_rng(seed)
        q, m = check_count(n_components, "n_components"), X.shape[1]
        D = X[rng.choice(len(X), q, replace=len(X) < q)].astype(np.float64) + 0.01 * rng.random((q, m))
        D /= np.linalg.norm(D, axis=1, keepdims=True)
        P = np.linalg.solve(D @ D.T + _RIDGE * np.eye(q), D)
        P += P.std() * rng.standard_normal((q, m))
        g = np.repeat(_MEMORIES, -(-q // len(_MEMORIES)))[:q] ** (1 / check_count(n_layers, "n_layers", MOST_LAYERS))
        layer = (D, (1 - g)[:, None] * P, np.full(m, 2.0), np.diag(g), np.full(q, -0.01))
        cell = (np.repeat(part[None], n_layers, axis=0) for part in layer)
        B, F = 0.5 / np.sqrt(q) * rng.standard_normal((2, q, m))
        head = (B, np.zeros(m), F, np.zeros(m), np.full(m, 0.5), np.array(2.0))
        return cls(
            Cell(*(np.ascontiguousarray(part, np.float32) for part in cell)),
            Head(*(np.array(part, np.float32) for part in head)),
        )

    @property
    def n_layers(self) -> int:
        """L."""
        return len(self.cell.threshold)

    @property
    def n_components(self) -> int:
        """Atoms, q."""
        return int(self.cell.decoder.shape[1])

    @property
    def n_features(self) -> int:
        """Features of a sample, m."""
        return int(self.cell.decoder.shape[2])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of its numbers."""
        return np.dtype(self.cell.decoder.dtype)

    @property
    def n_weights(self) -> int:
        """Numbers that are trained."""
        return sum(part.size for part in (*self.cell, *self.head))

    def encode(self, X: Any, *, state: Any = None, backend: str = "numba") -> Array:
        """Codes of the samples of a sequence; the last one is the state it goes on from.

        Parameters
        ----------
        X : array of shape (n, m)
            Samples in their order, of size one and not negative.
        state : array of shape (q,), optional
            Where the sequence goes on; None for its beginning.
        backend : {"numba", "numpy"}
            Compiled, or plain: the same numbers up to rounding.

        Returns
        -------
        array of shape (n, q)
        """
        check_choice(backend, "backend", BACKENDS)
        with np.errstate(over="ignore"):
            X = np.ascontiguousarray(as_floats(X), self.dtype)
        if X.ndim != 2 or X.shape[1] != self.n_features or not np.isfinite(X).all():
            raise ValueError(f"X must have {self.n_features} columns of finite numbers, got shape {X.shape}.")
        q = self.n_components
        state = np.zeros(q, self.dtype) if state is None else np.array(as_floats(state, "state"), self.dtype)
        if state.shape != (q,) or not np.isfinite(state).all():
            raise ValueError(f"state must be {q} finite numbers, got an array of shape {state.shape}.")
        codes = np.empty((len(X), q), self.dtype)
        if backend == "numba":
            carry_codes(X, self.cell, state, codes)
        else:
            for x, code in zip(X, codes, strict=True):
                with np.errstate(over="ignore", invalid="ignore"):
                    code[:] = state = carry(self.cell, x[None], state[None])[0]
        return within_range(codes, type(self).__name__)

    def separate(self, X: Any, *, state: Any = None, backend: str = "numba") -> SequenceParts:
        """Background and foreground of the samples of a sequence.

        Parameters
        ----------
        X : array of shape (n, m)
            Samples in their order, of size one and not negative.
        state : array of shape (q,), optional
            Where the sequence goes on, from an earlier answer; None for its beginning.
        backend : {"numba", "numpy"}
            Compiled, or plain.
        """
        X = as_floats(X)
        codes = self.encode(X, state=state, backend=backend)
        with np.errstate(over="ignore", invalid="ignore"):
            found = read_out(self.head, X.astype(self.dtype, copy=False), codes)
        last = codes[-1] if len(codes) else np.zeros(self.n_components, self.dtype) if state is None else state
        by = type(self).__name__
        return SequenceParts(*(within_range(part, by) for part in (*found, np.array(last))))

    def gap(self, X: Any, codes: Any, outliers: Any = None) -> Array:
        """Refused: with a bias, a head and codes that are carried on there is no problem whose answer this would be."""
        raise ValueError(
            "A SequenceEncoder has a bias and a head of its own and solves no problem (5), so its answers have no gap; "
            "for certificates use an Encoder."
        )

    def astype(self, dtype: Any) -> "SequenceEncoder":
        """The same network with numbers of another type.

        Parameters
        ----------
        dtype : dtype
            float32 or float64.
        """
        return SequenceEncoder(
            Cell(*(part.astype(dtype) for part in self.cell)), Head(*(part.astype(dtype) for part in self.head))
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the network to a ``.safetensors`` file; `unmingle.load` reads it back.

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
        """Of what was stored; half precision becomes single."""

        def single(part: Array) -> Array:
            return part.astype(np.float32) if part.dtype == np.float16 else part

        numbers = {group: {name: single(part) for name, part in own.items()} for group, own in content.items()}
        return from_store(cls, numbers)

    @classmethod
    def _schema(cls, content: Any) -> Record:
        return SEQUENCE_ENCODER


SEQUENCE_ENCODER = record_of(SequenceEncoder)
"""What a file holds; `SequenceEncoder` itself checks what goes beyond."""
