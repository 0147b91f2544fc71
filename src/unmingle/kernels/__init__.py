"""Compiled loops: the passes over the data that the solvers consist of.

Every kernel walks over blocks of rows that stay in the cache: the low-rank part of a block comes from BLAS, the
elementwise work and the sums are fused into one loop, and the product with a basis follows while the block is warm.
A missing entry is NaN in ``X``: its residual is 0, so it pulls at nothing and the cleaned matrix holds its imputation.
Sums may be reordered (they are vectorised), nothing else is relaxed. All kernels release the GIL, write only to their
named outputs, and are compiled on first use and cached on disk.
"""
