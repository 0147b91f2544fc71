"""Find faults of sensors
=========================

Watch forty sensors: learn what is normal from readings that already contain faults, then judge new readings.

Run it with ``python examples/sensor_faults.py``.
"""
# sphinx_gallery_thumbnail_path = "table.png"

import numpy as np

import unmingle

rng = np.random.default_rng(0)
causes, sensors = 3, 40
response = rng.standard_normal((causes, sensors))


def readings(hours: int, faults: float) -> tuple[np.ndarray, np.ndarray]:
    """Readings of every sensor at every hour, a share of them wrong; and where they are wrong."""
    normal = rng.standard_normal((hours, causes)) @ response
    wrong = rng.random(normal.shape) < faults
    noise = 0.05 * rng.standard_normal(normal.shape)
    return np.where(wrong, rng.uniform(-20, 20, normal.shape), normal + noise), wrong


history, _ = readings(hours=500, faults=0.005)
model = unmingle.RobustPCA(random_state=0).fit(history)
print(f"{model.n_components_} causes found, relative gap {model.gap_:.0e}")

today, wrong = readings(hours=24, faults=0.01)
today[7] = rng.uniform(-3, 3, sensors)  # an hour unlike any other
wrong[7] = True
part = model.decompose(today)

print("hours unlike the others:", np.flatnonzero(model.outlier_flags(today, false_alarm_rate=1e-3)))
print("hours with a wrong reading:", np.flatnonzero(wrong.any(axis=1)))
for hour, sensor in np.argwhere(np.abs(part.outliers) > 5):
    read, expected = today[hour, sensor], part.low_rank[hour, sensor]
    print(f"hour {hour:2d}, sensor {sensor:2d}: read {read:6.2f}, expected {expected:6.2f}")
