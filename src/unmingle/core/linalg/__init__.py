"""Low-rank matrices, singular value thresholding, bounds on the spectral norm, units of data."""
