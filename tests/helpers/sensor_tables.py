"""A small table of sensors with one fault and one gap, in all the forms that people keep tables in."""

import numpy as np
import pandas as pd

FAULT, GAP = (12, "c"), (20, "e")
"""Row, counted from 0, and column."""


def readings(n=40):
    """Six columns of one habit; numbers with two decimals."""
    rng = np.random.default_rng(7)
    habit = 20 + 5 * np.sin(np.arange(n) / 4)
    values = habit[:, None] * [1.0, 2.0, 0.5, 3.0, 1.5, 10.0] + 0.05 * rng.standard_normal((n, 6))
    frame = pd.DataFrame(values.round(2), columns=list("abcdef"))
    frame.loc[FAULT] = 99.25
    frame.loc[GAP] = np.nan
    return frame


def truth(row, column, n=40):
    """What should stand in a cell."""
    return (20 + 5 * np.sin(row / 4)) * dict(zip("abcdef", [1.0, 2.0, 0.5, 3.0, 1.5, 10.0], strict=True))[column]
