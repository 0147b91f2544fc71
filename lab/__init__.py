"""The laboratory: whatever reproduces the paper, the benchmarks and checks on real data; not part of the wheel.

`python -m lab` lists what there is.
"""
