"""Images and dictionary together: alternate between components of the images as they lie, and images against them.

This is (12) in docs/paper.md::

    min over U, S, O, M of 1/2 ||T_M(X) - US - O||^2 + lam_*/2 (||U||^2 + ||S||^2) + lam ||O||_1

Three things keep it from trivial answers: the rank grows by one in a round, since many components would explain
misaligned images as they are; after each round all transformations are composed with the inverse of their mean, so that
the set neither drifts nor zooms; and what an image does not show is missing, not black.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..core.decomposition.decompose_matrix import solve
from ..core.online.statistics import Statistics, direct_step
from .families import AlignedFrame, Matrix, compose, inverse
from .pyramid import Grid, Image, Pyramid, spline_of
from .search import Model, SearchResult, descend, find_place, n_components_at


@dataclass(frozen=True)
class RoundSettings:
    """How long images and components take turns, and what is learnt from the outcome.

    Tried on drawn faces of known displacement, and on the two sets of RASL's authors (`python -m lab alignment`).
    """

    rounds: int = 6
    """A level has at most this number of rounds with the full rank. More lower the cost by a hundredth, but bring drawn
    faces no nearer to the truth: a displacement in step with a component, such as light from one side, is as good as
    part of it."""
    settled: float = 0.02
    """A level is done when images move by less than this on average, in its pixels."""
    steps: int = 4
    """Each image takes this number of Gauss-Newton steps in a round."""
    tol: float = 1e-3
    """Components between rounds need no gap smaller than this."""
    max_iter: int = 100
    """Components between rounds need no more iterations than this."""
    passes: int = 10
    """The components of the levels take this number of passes of robust regression."""
    usual_share: float = 0.95
    """What is usual is what this share of the deviations of training pixels stays below."""
    costly: float = 2.0
    """An image is costly, and searched for again, at this multiple of the cost of the median training image."""


ROUNDS = RoundSettings()


def align_jointly(
    pyramids: Sequence[Pyramid],
    starts: Matrix,
    plan: Model,
    n_components: int,
    report: Callable[[int, int], bool] = lambda done, total: False,
) -> Matrix:
    """Matrices that align images with each other, (n, 3, 3).

    Cost of a round: an alternating minimisation of (4), and a few Gauss-Newton steps for each image.

    Parameters
    ----------
    pyramids : sequence of Pyramid
        The images.
    starts : array of shape (n, 3, 3)
        Where to start.
    plan : Model
        The frame, the family and the penalties; its components are not looked at.
    n_components : int
        The rank at the end, at most.
    report : callable
        Called with the rounds that are done and the number there may be; a true answer ends the work.
    """
    matrices, rank, done = np.array(starts, dtype=np.float64), 1, 0
    total = n_components + ROUNDS.rounds * len(plan.levels)
    for level in reversed(plan.levels):
        most, rounds = min(n_components_at(level, n_components), len(pyramids)), 0
        while rounds < ROUNDS.rounds:
            moved = _round(level, pyramids, matrices, starts, plan, rank)
            distance = float(np.mean(plan.frame.moves(inverse(matrices) @ moved)))
            matrices, done = moved, done + 1
            if report(done, total):
                return matrices
            if rank >= most:
                rounds = ROUNDS.rounds if distance < ROUNDS.settled * 2**level.number else rounds + 1
            rank = max(min(rank + 1, most), 1)
    return matrices


def _round(
    level: Grid, pyramids: Sequence[Pyramid], matrices: Matrix, starts: Matrix, plan: Model, rank: int
) -> Matrix:
    """One round: components of the frames as they are, each image against them, and the mean taken out."""
    lam, lam_star = plan.penalties(level)
    codes, atoms = solve_factors(level.cut_all(pyramids, matrices), rank, lam_star, lam)
    sources = (pyramid.levels[level.number] for pyramid in pyramids)
    found = [
        descend(level, image, atoms, SearchResult(matrix, code), (lam, lam_star), most=ROUNDS.steps)
        for image, matrix, code in zip(sources, matrices, codes, strict=True)
    ]
    return remove_mean_motion(plan.frame, plan.family, np.stack([one.matrix for one in found]), starts)


def remove_mean_motion(frame: AlignedFrame, family: str, matrices: Matrix, starts: Matrix) -> Matrix:
    """Matrices composed with the inverse of the group mean of what they changed of their starts."""
    changes = inverse(starts) @ matrices
    return compose(starts, changes, inverse(frame.mean(family, changes)))


def solve_factors(X: Image, rank: int, lam_star: float, lam: float) -> tuple[Image, Image]:
    """Codes and components of (4), both (., rank); components that the data do not ask for are 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        part = solve(
            X,
            n_components=rank,
            rank_penalty=lam_star,
            outlier_penalty=lam,
            method="alternating",
            tol=ROUNDS.tol,
            max_iter=ROUNDS.max_iter,
        )
    if not len(part.components):
        raise ValueError("rank_penalty is so large that the images have nothing in common; make it smaller.")
    return np.ascontiguousarray(part.codes, np.float32), np.ascontiguousarray(part.components, np.float32)


def learn_model(
    pyramids: Sequence[Pyramid], images: Sequence[Image], matrices: Matrix, plan: Model, n_components: int
) -> tuple[Model, Statistics, Image]:
    """The model of aligned images, (4) for the frames and regression on the same codes for the levels; sums, and codes.

    Parameters
    ----------
    pyramids, images : sequence
        The images, twice.
    matrices : array of shape (n, 3, 3)
        Where the frame is in each.
    plan : Model
        The frame, the family and the penalties; its components are not looked at.
    n_components : int
        The rank, at most.
    """
    fine = plan.levels[0]
    frames = np.stack(
        [fine.cut(spline_of(image), matrix, cubic=True) for image, matrix in zip(images, matrices, strict=True)]
    )
    codes, atoms = solve_factors(frames, min(n_components, len(frames)), plan.rank_penalty, plan.outlier_penalty)
    cleaned = [remove_outliers(frames, codes @ atoms, plan.outlier_penalty)]
    gram = codes.T @ codes + np.float32(plan.rank_penalty) * np.eye(codes.shape[1], dtype=np.float32)
    encoder = np.linalg.solve(gram, codes.T).astype(np.float32)
    for level in plan.levels:
        cut, lam = level.cut_all(pyramids, matrices), plan.penalties(level)[0]
        part = remove_outliers(cut, codes @ (encoder @ np.nan_to_num(cut)), lam)
        for _ in range(ROUNDS.passes):
            part = remove_outliers(cut, codes @ (encoder @ part), lam)
        cleaned.append(part)
    statistics = Statistics.of(codes, np.concatenate(cleaned, axis=1))
    components = direct_step(statistics, plan.rank_penalty).astype(np.float32)
    usual = usual_misfit_of(frames - codes @ components[:, : frames.shape[1]])
    code = np.median(codes, axis=0)
    model = replace(plan, components=components, code=code, usual_misfit=max(usual, plan.outlier_penalty))
    ends = (find_place(model, *one, coarsest=0) for one in zip(pyramids, matrices, codes, strict=True))
    model = replace(model, costly=ROUNDS.costly * float(np.median([end.cost for end in ends])))
    return model, statistics, codes


def remove_outliers(X: Image, low_rank: Image, lam: float) -> Image:
    """Give x - o with the best outliers o = soft(x - Us, lam); the low-rank part itself where x is missing."""
    return low_rank + np.nan_to_num(np.clip(X - low_rank, -lam, lam))


def usual_misfit_of(misfit: Image) -> float:
    """What 95 % of the deviations of training pixels are below."""
    known = np.abs(misfit[~np.isnan(misfit)])
    return float(np.quantile(known, ROUNDS.usual_share))
