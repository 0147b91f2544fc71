"""Solvers: generators of iterates. None of them decides when to stop; `unmingle.iterate.run` does."""

from .alternating import alternating
from .pcp import pcp
from .projection import algorithm_1, newton
from .proximal import proximal

__all__ = ["algorithm_1", "alternating", "newton", "pcp", "proximal"]
