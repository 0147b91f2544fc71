"""A low-rank part freed of its penalties: robust factor analysis, starting from what was found with them."""

from dataclasses import dataclass
from math import erf, exp, pi, sqrt

import numpy as np

from ..._types import Array
from ..linalg.norms import leading_direction
from ..linalg.systems import regularised
from .columns import column_scales
from .model import ROUNDS, CellModel, Refit, cell_weights, nonnegative_codes, row_blocks, standard_deviations
from .tails import TailLaws


@dataclass(frozen=True)
class _ColumnNoise:
    """How the noise of a column is measured, and how small it may be."""

    clip: float = 3.0
    """Noise is measured within this many standard deviations."""
    least: float = 0.05
    """It is at least this share of the scale of its column."""
    least_of_equal: float = 0.85
    """It is at least this share of the scale where more than half of the column is one value."""
    rounding: float = 1e-9
    """It is at least this share of the scale where there is no noise, only rounding."""

    @property
    def clipped_spread(self) -> float:
        """Standard deviation of normal noise that is cut off beyond the clip, over sigma."""
        return sqrt(1 - 2 * self.clip * exp(-(self.clip**2) / 2) / sqrt(2 * pi) / erf(self.clip / sqrt(2)))


@dataclass(frozen=True)
class _ComponentChoice:
    """How the number of components is chosen, and when data count as free of noise."""

    trial_rounds: int = 2
    """Rounds of each kind for a number of components that is tried."""
    worth: float = 0.97
    """One more component must lower the squared error of cells left out by this factor."""
    explained: float = 0.8
    """Where there is no noise, this share of the cells must be explained to the last digit."""
    alike: float = 1e-12
    """Codes whose variance is below this share of their mean square are one number and rounding."""


_NOISE, _CHOICE = _ColumnNoise(), _ComponentChoice()
_WITHIN = _NOISE.clipped_spread
_NO_LAWS = TailLaws(np.zeros(0), np.zeros(0))


def refit_cells(
    X: Array, codes: Array, components: Array, *, at_most: int | None = None, nonnegative: bool = False
) -> Refit:
    """Fit the low-rank part again, without its penalties, in the number of components that predicts cells best.

    Rows are x = V's + noise with s ~ N(mu, I) and a noise level sigma_j for each column. With weights w that leave out
    what is missing or stands out, rounds of codes s_i with covariances C_i (`CellModel.row_codes`) and of::

        E_j = sum_i w_ij (s_i s_i' + C_i),   v_j = E_j^-1 sum_i w_ij x_ij s_i

    and sigma_j from the residuals e_ij / sqrt(1 - h_ij) within 3 sigma_j, with leverages
    h_ij = v_j' C_i v_j / sigma_j^2 + s_i' E_j^-1 s_i. Weights are Huber's at first, then 1 within 4 sigma_j. The error
    of cells as if left out, e_ij / (1 - h_ij), tells the number of components: as long as one more, found already or
    the strongest direction of what is left, lowers its mean square by 3 %.

    Nonnegative factors have no prior and keep their number; C_i is left out of E_j.

    sigma_j is at least a twentieth of the scale of its column. Where most of each column is one number, such as in a
    table of equal rows, a fit without that bound is tried first, from those numbers on, and taken if it explains most
    cells to the last digit.

    Cost: about 4 n m q^2 flops for each round, and for each number of components four rounds.

    Parameters
    ----------
    X : array of shape (n, m)
        Data; NaN means missing.
    codes : array of shape (n, q)
        Of the penalised low-rank part.
    components : array of shape (q, m)
        Likewise.
    at_most : int, optional
        Components at most; by default half of the smaller side of X, at least those given.
    nonnegative : bool
        Whether codes and components must not be negative.
    """
    scales = column_scales(X).astype(np.float64)
    data = X.astype(np.float64) / scales
    commonest = _commonest_values(data)
    start = _with_unit_components(codes, components / scales)
    most = max(len(components), min(X.shape) // 2) if at_most is None else min(at_most, *X.shape)
    state = None
    if np.all(np.nan_to_num(commonest, nan=0.0)):
        equal_rows = np.ones((len(X), 1)), commonest[None, :]
        least = np.full(X.shape[1], _NOISE.rounding)
        state = _if_without_noise(data, _fit(data, equal_rows, least, most, nonnegative))
    if state is None:
        least = np.where(np.isnan(commonest), _NOISE.least, _NOISE.least_of_equal)
        state = _fit(data, start, least, most, nonnegative)
    found, model = _judge(data, *state), state[1]
    laws = TailLaws.of(found.deviations, ~np.isnan(X))
    return found._replace(
        model=model._replace(components=model.components * scales, noise=model.noise * scales, laws=laws)
    )


def _with_unit_components(codes: Array, components: Array) -> tuple[Array, Array]:
    """The same product in double precision, its components of norm one: codes of any size do not overflow."""
    norms = np.linalg.norm(components.astype(np.float64), axis=1)
    norms = np.where(norms > 0, norms, 1.0)
    return codes.astype(np.float64) * norms, components.astype(np.float64) / norms[:, None]


def _commonest_values(X: Array) -> Array:
    """The value that more than half of a column has; NaN where there is none."""
    centre = np.nanmedian(np.where(np.isnan(X).all(axis=0), 0.0, X), axis=0)
    return np.where(np.sum(centre == X, axis=0) > 0.5 * np.sum(~np.isnan(X), axis=0), centre, np.nan)


def _fit(X: Array, start: tuple[Array, Array], least: Array, most: int, nonnegative: bool) -> tuple[Array, CellModel]:
    """The fit whose columns have this noise at least."""
    state = _starting_model(X, *start, least, nonnegative)
    if nonnegative:
        return _run_rounds(X, *state, least, (ROUNDS.soft, ROUNDS.hard))
    first = _sort_by_strength(*_run_rounds(X, *state, least, (ROUNDS.soft, _CHOICE.trial_rounds)))
    return _sort_by_strength(*_choose_components(X, first, least, most))


def _if_without_noise(X: Array, found: tuple[Array, CellModel]) -> tuple[Array, CellModel] | None:
    """The fit, if it explains most cells that are not 0 to the last digit."""
    codes, model = found
    rest = np.abs(X - codes @ model.components)[(X != 0) & ~np.isnan(X)]
    return found if np.mean(rest <= _NOISE.rounding) > _CHOICE.explained else None


def _starting_model(
    X: Array, codes: Array, components: Array, least: Array, nonnegative: bool
) -> tuple[Array, CellModel]:
    """Codes of mean square one, and the noise they leave."""
    size = np.sqrt(np.mean(codes**2, axis=0))
    kept = size > 0
    codes, components = codes[:, kept] / size[kept], components[kept] * size[kept, None]
    noise = np.maximum(column_scales(X - codes @ components), least)
    return codes, CellModel(components, noise, codes.mean(axis=0), _NO_LAWS, nonnegative)


def _choose_components(X: Array, found: tuple[Array, CellModel], least: Array, most: int) -> tuple[Array, CellModel]:
    """As many components as predict cells best."""
    codes, model = found
    if len(model.components) == 0:
        return found
    best, least_error = found, np.inf
    for q in range(1, most + 1):
        if q <= len(model.components):
            first = codes[:, :q], model._replace(components=model.components[:q], centre=model.centre[:q])
        else:
            first = _add_component(X, *best)
        trial = _run_rounds(X, *first, least, (_CHOICE.trial_rounds, _CHOICE.trial_rounds))
        error = _judge(X, *trial).error
        if error > _CHOICE.worth * least_error or len(trial[1].components) < q:
            break
        best, least_error = trial, error
        if error <= _NOISE.rounding**2:
            break
    return _run_rounds(X, *best, least, (0, ROUNDS.hard))


def _add_component(X: Array, codes: Array, model: CellModel) -> tuple[Array, CellModel]:
    """One more component: the strongest direction of what is left, beside the noise."""
    rest = np.nan_to_num(np.clip((X - codes @ model.components) / model.noise, -_NOISE.clip, _NOISE.clip), nan=0.0)
    direction, _ = leading_direction(rest, np.random.default_rng(0))
    score = rest @ direction
    size = float(np.sqrt(np.mean(score**2)))
    if size == 0:
        return codes, model
    codes = np.column_stack([codes, score / size])
    components = np.vstack([model.components, size * direction * model.noise])
    return codes, model._replace(components=components, centre=codes.mean(axis=0))


def _run_rounds(
    X: Array, codes: Array, model: CellModel, least: Array, rounds: tuple[int, int]
) -> tuple[Array, CellModel]:
    """The fit after some rounds with falling weights, and some with cells left out."""
    for turn in range(sum(rounds)):
        codes, model = _run_round(X, codes, model, least, soft=turn < rounds[0])
    return codes, model


def _run_round(X: Array, codes: Array, model: CellModel, least: Array, *, soft: bool) -> tuple[Array, CellModel]:
    """Codes of all rows, then components of all columns and their noise."""
    V, sigma = model.components, model.noise
    q, m = V.shape
    if q == 0:
        return codes, model._replace(noise=np.maximum(column_scales(X), least))
    moments, sides = np.zeros((m, q * q)), np.zeros((m, q))
    squares, counts, spread = np.zeros(m), np.zeros(m), np.zeros((q, q))
    found = np.empty_like(codes)
    for rows in row_blocks(len(X), q, m):
        w = cell_weights(X[rows], codes[rows] @ V, sigma, soft=soft)
        x = np.nan_to_num(X[rows], nan=0.0)
        s, C = model.row_codes(x, w, codes[rows])
        found[rows] = s
        e = x - s @ V
        freedom = np.sqrt(1 - np.minimum(model.leverage(C), ROUNDS.largest_leverage))
        within = (w > 0) & (np.abs(e) <= _NOISE.clip * sigma * freedom)
        squares += np.sum((e / freedom) ** 2, axis=0, where=within)
        counts += within.sum(axis=0)
        second = s[:, :, None] * s[:, None, :]
        if not model.nonnegative:
            second += C
        spread += second.sum(axis=0)
        moments += w.T @ second.reshape(len(s), -1)
        sides += (w * x).T @ s
    sigma = np.where(counts > q, np.sqrt(squares / np.maximum(counts, 1)) / _WITHIN, sigma)
    model = model._replace(noise=np.maximum(sigma, least))
    E = regularised(moments.reshape(m, q, q) + 1e-9 * len(X) * np.eye(q))
    if model.nonnegative:
        return _rescale(found, model._replace(components=nonnegative_codes(E, sides, V.T).T))
    return _whiten(found, spread / len(X), model._replace(components=np.linalg.solve(E, sides[:, :, None])[..., 0].T))


def _whiten(codes: Array, second: Array, model: CellModel) -> tuple[Array, CellModel]:
    """The same product, with codes of covariance I; directions in which rows are all alike keep their size."""
    mu = codes.mean(axis=0)
    values, turn = np.linalg.eigh(second - np.outer(mu, mu))
    root = np.sqrt(np.where(values > _CHOICE.alike * np.trace(second), values, 1.0))
    to, back = (turn / root) @ turn.T, (turn * root) @ turn.T
    return codes @ to, model._replace(components=back @ model.components, centre=mu @ to)


def _rescale(codes: Array, model: CellModel) -> tuple[Array, CellModel]:
    """The same product, with codes of mean square one; those that are all 0 stay."""
    size = np.sqrt(np.mean(codes**2, axis=0))
    size = np.where(size > 0, size, 1.0)
    codes = codes / size
    return codes, model._replace(components=model.components * size[:, None], centre=codes.mean(axis=0))


def _sort_by_strength(codes: Array, model: CellModel) -> tuple[Array, CellModel]:
    """The same product, its parts apart from each other and the strongest beside the noise first."""
    V, sigma = model.components, model.noise
    if len(V) == 0:
        return codes, model
    left, upper = np.linalg.qr(codes)
    right, lower = np.linalg.qr((V / sigma).T)
    turn, values, back = np.linalg.svd(upper @ lower.T, full_matrices=False)
    size = np.sqrt(len(codes))
    codes = size * left @ turn
    components = values[:, None] / size * (back @ right.T) * sigma
    return codes, model._replace(components=components, centre=codes.mean(axis=0))


def _judge(X: Array, codes: Array, model: CellModel) -> Refit:
    """Deviations of all cells, and the error of those that do not stand out."""
    V, sigma = model.components, model.noise
    q, m = V.shape
    used = cell_weights(X, codes @ V, sigma, soft=False)
    leverage = np.zeros(X.shape)
    if q:
        codes, moments = codes.copy(), np.zeros((m, q * q))
        for rows in row_blocks(len(X), q, m):
            codes[rows], C = model.row_codes(np.nan_to_num(X[rows], nan=0.0), used[rows], codes[rows])
            leverage[rows] = model.leverage(C)
            second = codes[rows, :, None] * codes[rows, None, :] + C
            moments += used[rows].T @ second.reshape(len(C), -1)
        inverse = np.linalg.inv(regularised(moments.reshape(m, q, q) + 1e-9 * len(X) * np.eye(q)))
        for rows in row_blocks(len(X), q, m):
            s = codes[rows]
            leverage[rows] += (s[:, :, None] * s[:, None, :]).reshape(len(s), -1) @ inverse.reshape(m, -1).T
    left_out = np.nan_to_num(X - codes @ V, nan=0.0) / (1 - np.minimum(leverage, ROUNDS.largest_leverage))
    error = float(np.mean(left_out**2, where=used > 0)) if used.any() else 0.0
    return Refit(codes, standard_deviations(X, codes @ V, sigma, used, leverage), model, error)
