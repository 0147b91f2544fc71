"""Solvers: generators of iterates, and measures of how good these are.

None of them decides when to stop; `unmingle.core.iterate.run` does.
"""
