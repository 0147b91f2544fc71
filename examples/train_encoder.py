"""Train an encoder
===================

Train a small network to find outliers in a fixed time, and see how near it comes to the exact answer.

Needs unmingle[train]. Run: python examples/train_encoder.py
"""

import numpy as np

import unmingle

made = unmingle.synth.low_rank_plus_sparse(1500, 200, 5, noise=0.05, random_state=0)
train, new, truth = made.X[:1000], made.X[1000:], made.low_rank[1000:]


def report(name, codes, outliers, encoder):
    cost = encoder.cost(new, codes, outliers).mean()
    error = np.linalg.norm(codes @ encoder.components - truth) / np.linalg.norm(truth)
    print(f"{name:22} cost {cost:7.3f}   error of the low-rank part {100 * error:5.2f} %")


for n_layers in (1, 2, 5):
    model = unmingle.LearnedRobustPCA(5, n_layers=n_layers, random_state=0).fit(train)
    untrained = model.encoder_.untrained()
    report(f"{n_layers} layers, untrained", *untrained.encode(new), untrained)
    report(f"{n_layers} layers, trained", *model.encoder_.encode(new), model.encoder_)

arrived = unmingle.Encoder.from_components(
    model.components_, rank_penalty=model.rank_penalty_, outlier_penalty=model.outlier_penalty_, n_layers=500
)
report("500 layers: exact", *arrived.encode(new), arrived)
print("\nModel card of the last network:")
for name, value in model.card_.items():
    print(f"  {name}: {value}")
