"""The demo: a street and a song with known truth, separated, compared with simpler ways, and reported."""

from ._page import write_report
from ._run import Demo, comparison, figures, foreground, run

__all__ = ["Demo", "comparison", "figures", "foreground", "run", "write_report"]
