"""The demo: a street with known truth, separated, compared with simpler ways, and reported."""

from ._demo import Demo, comparison, figures, run, write_report

__all__ = ["Demo", "comparison", "figures", "run", "write_report"]
