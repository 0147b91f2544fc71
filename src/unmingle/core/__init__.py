"""The mathematics, for those who build on it: problems, solvers, penalties, encoders, statistics of streams."""
