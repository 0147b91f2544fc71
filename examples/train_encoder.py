"""Train an encoder
===================

Train a small network to find outliers in a fixed time, and see how near it comes to the exact answer.

The data are made spectra: sums of six broad bands that overlap, with spikes. For such data the untrained layers, passes
of an iterative algorithm, are still far from the answer, and training pays: in seconds, from a few hundred samples.

Needs torch. Run: python examples/train_encoder.py
"""

import numpy as np

import unmingle
from unmingle.core.encoder.answers import exact_answer

places = np.linspace(0, 1, 80)
rng = np.random.default_rng(0)
bands = sum(rng.random((6, 1)) * np.exp(-(((places - rng.random((6, 1))) / 0.08) ** 2)) for _ in range(4))


def spectra(n):
    X = rng.gamma(1.0, 1.0, (n, 6)) @ bands + 0.02 * rng.random((n, 80))
    spikes = rng.random(X.shape) < 0.1
    X[spikes] += rng.uniform(0.5, 3, spikes.sum())
    return X


train, new = spectra(500), spectra(300)


def above_exact(encoder):
    """Mean cost of new samples, as a share above the least possible."""
    least = encoder.cost(new, *exact_answer(encoder, new)[:2]).mean()
    return 100 * (encoder.cost(new, *encoder.encode(new)).mean() / least - 1)


SHORT = unmingle.learn.Training(max_steps=300)
print("cost of new spectra above the least possible   untrained   trained")
for name, model in {
    "LearnedRobustPCA, 2 layers": unmingle.LearnedRobustPCA(6, n_layers=2, random_state=0),
    "LearnedRobustPCA, 5 layers": unmingle.LearnedRobustPCA(6, n_layers=5, random_state=0),
    "LearnedRobustNMF, 5 layers": unmingle.LearnedRobustNMF(6, n_layers=5, tied=False, training=SHORT, random_state=0),
}.items():
    encoder = model.fit(train).encoder_
    print(f"{name:45} {above_exact(encoder.untrained()):8.1f} % {above_exact(encoder):8.1f} %")

print("\nModel card of the last network:")
for name, value in model.card_.items():
    print(f"  {name}: {value}")
