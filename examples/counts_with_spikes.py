"""Counts of visitors, and what is not a visitor
================================================

Counts of visitors in twelve weeks, by the hour: which habits they are made of, and which counts are not visitors.

Counts are nonnegative and add up, so habits, their sizes on each day, and spikes are nonnegative too. Run it with
``python examples/counts_with_spikes.py``.
"""
# sphinx_gallery_thumbnail_path = "table.png"

import numpy as np

import unmingle

rng = np.random.default_rng(0)
hours, days = np.arange(24), np.arange(84)


def habit(hour: float, spread: float) -> np.ndarray:
    """Visitors by the hour, at most one."""
    return np.exp(-0.5 * ((hours - hour) / spread) ** 2)


habits = np.array([habit(8.5, 1.2), habit(12.5, 1.5), habit(18.0, 2.5)])
weekend = days % 7 >= 5
size = np.stack([np.where(weekend, 10, 150), np.where(weekend, 120, 60), np.where(weekend, 140, 90)], axis=1)
expected = (size * rng.gamma(20, 1 / 20, size.shape)) @ habits + 2
counts = rng.poisson(expected).astype(float)
spikes = rng.random(counts.shape) < 0.01
counts[spikes] += rng.integers(150, 600, spikes.sum())  # a school class, or a door that counts twice
counts[30, 9:14] = np.nan  # the counter was off

model = unmingle.RobustNMF(3, random_state=0).fit(counts)
part = model.decompose(counts)
print(f"{model.n_components_} habits, stationarity {model.stationarity_:.0e}; codes certified to {part.gap:.0e}")
for number, atom in enumerate(model.components_):
    around = hours[atom > 0.5 * atom.max()]
    share = part.codes[weekend, number].mean() / part.codes[~weekend, number].mean()
    print(f"habit {number}: mostly from {around[0]} to {around[-1] + 1} h; on weekends {share:.1f} times as much")

hole = part.low_rank[30, 9:14]
print("the counter was off:", " ".join(f"{count:.0f}" for count in hole), "instead of", expected[30, 9:14].round())
found = part.outliers > 75
print(f"{spikes.sum()} spikes made, {found.sum()} found, {(found & spikes).sum()} of them right")
for day, hour in np.argwhere(found)[:5]:
    print(f"day {day:2d}, {hour:2d} h: {counts[day, hour]:3.0f} counted, {part.low_rank[day, hour]:5.1f} expected")
