"""The demo: a street with known truth, separated, compared with simpler ways, and reported."""

from ._page import write_report
from ._run import Demo, comparison, figures, run

__all__ = ["Demo", "comparison", "figures", "run", "write_report"]
