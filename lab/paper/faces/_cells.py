"""What is trained and tested on faces: methods, and the costs of their answers."""

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmingle.core.decomposition.decompose_matrix import decompose
from unmingle.core.encoder.answers import exact_answer
from unmingle.core.encoder.encoder import Encoder
from unmingle.core.objective import projection

Array = NDArray[np.float32]

RANK_PENALTY, OUTLIER_PENALTY = 0.1, 0.01
STEPS, BATCH = 1000, 64


class Column(NamedTuple):
    """A column of the table."""

    loss: str | None
    """None: not trained."""
    update_dictionary: bool = False
    start: str = "svd"
    """Which dictionary it starts from."""


METHODS = {
    "untrained": Column(None),
    "imitation": Column("imitation"),
    "unsupervised": Column("unsupervised"),
    "unsupervised + U": Column("unsupervised", True, "(4)"),
    "unsupervised + U, from SVD": Column("unsupervised", True),
}


class Case(NamedTuple):
    """Faces to learn from and to be tested on, with the two dictionaries to start from."""

    train: Array
    test: Array
    dictionaries: dict[str, Array]

    @classmethod
    def of(cls, train: Array, test: Array, n_components: int) -> "Case":
        """Find the dictionaries: singular vectors, scaled as in (3), and the solution of (4)."""
        from threadpoolctl import threadpool_limits

        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            _, values, right = np.linalg.svd(train, full_matrices=False)
            svd = np.sqrt(values[:n_components])[:, None] * right[:n_components]
            part = decompose(
                train, n_components=n_components, rank_penalty=RANK_PENALTY, outlier_penalty=OUTLIER_PENALTY,
                random_state=0,
            )  # fmt: skip
        return cls(train, test, {"svd": svd, "(4)": part.components})

    def costs(self, components: Array, codes: Array, outliers: Array) -> dict[str, float]:
        """Mean f over the test faces, and F = f + lam_*/(2 n) ||U||^2 with n training faces."""
        f = float(np.mean(projection(self.test, components, codes, outliers, RANK_PENALTY, OUTLIER_PENALTY)))
        return {"f": f, "F": f + RANK_PENALTY * float(np.sum(components**2)) / (2 * len(self.train))}

    def exact(self, dictionary: str) -> dict[str, float]:
        """Costs of the exact robust projection onto a dictionary."""
        problem = _untrained(self.dictionaries[dictionary], 1)
        return self.costs(self.dictionaries[dictionary], *exact_answer(problem, self.test))

    def trained(self, method: Column, n_layers: int, max_steps: int, seed: int) -> Encoder:
        """An encoder trained on the training faces, or not at all."""
        start = _untrained(self.dictionaries[method.start], n_layers)
        if method.loss is None:
            return start
        from unmingle import learn

        return learn.train(
            start, self.train, loss=method.loss, update_dictionary=method.update_dictionary, max_steps=max_steps,
            batch_size=BATCH, random_state=seed,
        ).encoder  # fmt: skip

    def cell(self, method: Column, n_layers: int, max_steps: int, seed: int) -> dict[str, float]:
        """Costs of such an encoder."""
        encoder = self.trained(method, n_layers, max_steps, seed)
        return self.costs(encoder.components, *encoder.encode(self.test))


def _untrained(components: Array, n_layers: int) -> Encoder:
    return Encoder.from_components(
        components, rank_penalty=RANK_PENALTY, outlier_penalty=OUTLIER_PENALTY, n_layers=n_layers
    )
