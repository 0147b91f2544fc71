"""Models of tables: what is normal, learnt from all rows."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.iterate import Callback
from ._settings import ModelSettings
from .reading import read_source
from .table import NamedTable, framed

if TYPE_CHECKING:
    from ...estimators.robust_nmf import RobustNMF
    from ...estimators.robust_pca import RobustPCA


def fit_table(
    source: Any,
    settings: ModelSettings = ModelSettings(),  # noqa: B008 (frozen)
    *,
    progress: Callback | None = None,
) -> "RobustPCA | RobustNMF":
    """Learn a table: all columns weighed alike, with their names, and the noise of every column.

    Parameters
    ----------
    source : path, DataFrame, array or NamedTable
        The table.
    settings : ModelSettings
        How to read it and what to learn.
    progress : callable, optional
        Called with an `unmingle.core.iterate.Progress` after each iteration.

    Returns
    -------
    RobustPCA or RobustNMF
        The fitted model; its method ``save`` writes it to a file.
    """
    from ...estimators.robust_nmf import RobustNMF
    from ...estimators.robust_pca import RobustPCA

    table = read_for_fit(source, settings)
    model = (RobustNMF if settings.nonnegative else RobustPCA)(
        scale="columns",
        debias=True,
        n_components=settings.n_components,
        rank_penalty=settings.rank_penalty,
        outlier_penalty=settings.outlier_penalty,
        random_state=settings.random_state,
    )
    X = framed(table.values, table.columns) if table.named else np.asarray(table.values, np.float64)
    return model.fit(X, callback=progress)


def read_for_fit(source: Any, settings: ModelSettings) -> NamedTable:
    """The table to learn from: what is normal takes two rows and two columns at least."""
    return read_source(source, settings.reading, nonnegative=settings.nonnegative, min_shape=(2, 2))
