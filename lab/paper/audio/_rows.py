"""The rows of the table: how each method takes a song apart."""

import warnings
from collections.abc import Callable, Mapping
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmingle.apps.audio import Method, Parts, Stems
from unmingle.apps.audio.nonnegative import Adaptive, RepeatedSpectra
from unmingle.apps.audio.settings import SHIPPED
from unmingle.apps.audio.stft import magnitudes
from unmingle.core.decomposition.decompose_matrix import decompose, pursue
from unmingle.core.penalties import from_noise, noise_level

from ._clips import KnownSong
from ._hearing import HIGH_PASS, VARIANTS, masked, streamed
from ._plain import plain_alm, pursuit_cost

Array = NDArray[Any]
Learned = Mapping[str, Method]

TOL, MOST = 1e-4, 5000
"""Relative duality gap of the exact rows, and their iterations at most."""


class SeparatedClip(NamedTuple):
    """Voice and music by the names of the masks."""

    stems: dict[str, Stems]
    seconds: float
    """Of one processor, for one of them."""
    cost: float | None = None
    """Of (1), for rows that make it small."""


class Solved(NamedTuple):
    """Magnitudes of voice and music."""

    parts: Parts
    problem: tuple[Array, float] | None = None
    """X and lam of (1), for rows that solve it."""


class TableRow(NamedTuple):
    """A method."""

    solve: Callable[[KnownSong, Learned], Solved]
    settings: str
    causal: bool = False
    learned: bool = False
    """Whether it has learnt from other songs."""


def _ideal(song: KnownSong, learned: Learned) -> Solved:
    return Solved(Parts(magnitudes(song.voice, song.rate), magnitudes(song.music, song.rate)))


def _plain(song: KnownSong, learned: Learned) -> Solved:
    X, lam = _problem(song)
    L, O = plain_alm(X, lam)  # noqa: E741
    return Solved(Parts(O, L), (X, lam))


def _pursuit(tol: float) -> Callable[[KnownSong, Learned], Solved]:
    def solve(song: KnownSong, learned: Learned) -> Solved:
        X, lam = _problem(song)
        found = pursue(X, outlier_penalty=lam, tol=tol, max_iter=MOST)
        return Solved(Parts(found.outliers, found.low_rank), (X, lam))

    return solve


def _proximal(song: KnownSong, learned: Learned) -> Solved:
    X = _problem(song)[0]
    lam_star, lam = from_noise(noise_level(X, np.random.default_rng(0)), *X.shape)
    found = decompose(X, rank_penalty=lam_star, outlier_penalty=lam, tol=TOL, max_iter=MOST)
    return Solved(Parts(found.outliers, found.low_rank))


def _factors(song: KnownSong, learned: Learned) -> Solved:
    return Solved(RepeatedSpectra().parts(magnitudes(song.mixture, song.rate)))


def _learned(name: str, settings: str) -> TableRow:
    def solve(song: KnownSong, learned: Learned) -> Solved:
        method = learned[name]
        if method.streams:
            return Solved(streamed(method, song.mixture, song.rate))
        return Solved(method.parts(magnitudes(song.mixture, song.rate)))

    return TableRow(solve, settings, causal=True, learned=True)


def _adaptive(song: KnownSong, learned: Learned) -> Solved:
    return Solved(streamed(Adaptive(), song.mixture, song.rate))


def _problem(song: KnownSong) -> tuple[Array, float]:
    """X and lam of (1)."""
    X = magnitudes(song.mixture, song.rate).astype(np.float64)
    return X, float(1 / np.sqrt(max(X.shape)))


NOTHING, ONLY_HIGH_PASS = "none", f"{HIGH_PASS:g} Hz"
"""What is done to the mixture in the row that does not look at it."""
MIXTURE, ADMOM, EXACT, TIGHTER = "mixture", "ADMoM RPCA", "exact (1)", "exact (1), ten times tighter"
UNTRAINED, UNSUPERVISED, SUPERVISED = "untrained encoder", "unsupervised encoder", "supervised encoder"
OURS_AND_GRU = ("our network, few steps", "GRU, few steps")
VOICE, PHONE = SHIPPED
ROWS: dict[str, TableRow] = {
    "ideal mask": TableRow(_ideal, "magnitudes of the true sources"),
    ADMOM: TableRow(_plain, "(1), lam = 1 / sqrt(max(n, m)), plain inexact ALM: residual 1e-7, growth 1.5"),
    EXACT: TableRow(_pursuit(TOL), f"(1), same lam, relative duality gap {TOL:g}"),
    "proximal RPCA": TableRow(_proximal, f"(2), penalties from the noise of the clip, relative duality gap {TOL:g}"),
    "robust NMF": TableRow(_factors, "unmingle audio --method nmf: 25 spectra of the clip, penalties by its level"),
    "adapt to this song": TableRow(
        _adaptive, "unmingle audio --method adapt: 25 spectra, learnt while the clip plays", True
    ),
    UNTRAINED: _learned(UNTRAINED, "20 tied layers, 25 spectra of training mixtures, one frame: the paper's setting"),
    UNSUPERVISED: _learned(UNSUPERVISED, "the same, trained on training mixtures"),
    SUPERVISED: _learned(SUPERVISED, "as many layers and spectra, trained on the sources of training mixtures"),
    OURS_AND_GRU[0]: _learned(OURS_AND_GRU[0], "the recurrence of voice with 313 thousand numbers, trained here"),
    OURS_AND_GRU[1]: _learned(OURS_AND_GRU[1], "a GRU with as many numbers, steps and songs"),
    PHONE: _learned(PHONE, "unmingle audio --method phone: a small network that comes with unmingle"),
    VOICE: _learned(VOICE, "unmingle audio: the network that comes with unmingle"),
    TIGHTER: TableRow(_pursuit(TOL / 10), f"(1), relative duality gap {TOL / 10:g}"),
}
"""Rows by their names, the slowest last."""


def answer(name: str, song: KnownSong, learned: Learned) -> SeparatedClip:
    """Voice and music by a method, under each mask.

    Parameters
    ----------
    name : str
        "mixture", or a name in `ROWS`.
    song : KnownSong
        What to take apart.
    learned : dict
        Methods that have learnt from other songs, by the names of their rows.
    """
    if name == MIXTURE:
        return _nothing(song)
    begin = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ROWS[name].solve(song, learned)
    stems = {}
    for variant in VARIANTS:
        again = process_time()
        stems[variant] = masked(song, found.parts, variant)
    end = process_time()
    seconds = end - begin - (len(VARIANTS) - 1) * (end - again)
    cost = None if found.problem is None else pursuit_cost(found.problem[0], found.parts.music, found.problem[1])
    return SeparatedClip(stems, seconds, cost)


def _nothing(song: KnownSong) -> SeparatedClip:
    """The mixture itself for both, and what a high-pass alone does."""
    heard = magnitudes(song.mixture, song.rate)
    begin = process_time()
    passed = masked(song, Parts(np.ones_like(heard), np.zeros_like(heard)), f"Wiener, {HIGH_PASS:g} Hz")
    return SeparatedClip({NOTHING: Stems(song.mixture, song.mixture), ONLY_HIGH_PASS: passed}, process_time() - begin)
