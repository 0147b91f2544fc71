"""What takes part in comparison "stream": models that learn block by block."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

from unmingle import OnlineRobustPCA

from .plain_online import Array, PlainOnlineRobustPCA

RANK = 10
FORGETTING = 0.99
PENALTY = 0.1
BLOCK_SIZE = 100
OURS, OURS_32, OURS_DEFAULT = "unmingle, block", "unmingle, block, float32", "unmingle, defaults"
INCREMENTAL = "IncrementalPCA"
HYPERSPY = "hyperspy"


@dataclass(frozen=True)
class Learner:
    """A model at work."""

    learn: Callable[[Array], object]
    components: Callable[[], Array]
    low_rank: Callable[[Array], Array]
    """The low-rank part of samples, without learning from them."""


@dataclass(frozen=True)
class Follower:
    """A way to follow a stream: `make()` gives a model that has seen nothing."""

    name: str
    make: Callable[[], Learner]
    settings: str = ""
    package: str = "unmingle"
    dtype: Any = np.float64
    limit: int | None = None
    """Slow ones see only so many samples of the race."""
    slow: bool = False
    """Left out of a quick run."""


def ours(name: str, settings: str, dtype: Any = np.float64, slow: bool = False, **options: Any) -> Follower:
    def make() -> Learner:
        model = OnlineRobustPCA(random_state=0, **options)
        return Learner(model.partial_fit, lambda: model.components_, lambda X: model.decompose(X).low_rank)

    return Follower(name, make, settings, dtype=dtype, slow=slow)


def with_forgetting() -> Follower:
    settings = f"n_components={RANK}, forgetting={FORGETTING}, other defaults"
    return ours(OURS, settings, n_components=RANK, forgetting=FORGETTING)


def our_variants() -> list[Follower]:
    changes: dict[str, tuple[str, Any]] = {
        "unmingle, direct": ("dictionary_step", "direct"),
        "unmingle, recursive": ("dictionary_step", "recursive"),
        "unmingle, block, forgetting 0.995": ("forgetting", 0.995),
        "unmingle, block, forgetting auto": ("forgetting", "auto"),
    }
    given = {"n_components": RANK, "forgetting": FORGETTING}
    others = [
        ours(name, f"as {OURS}, {key}={value!r}", slow=True, **given | {key: value})
        for name, (key, value) in changes.items()
    ]
    return [with_forgetting(), *others, ours(OURS_32, f"as {OURS}, on float32 samples", np.float32, **given)]


def by_default() -> Follower:
    return ours(OURS_DEFAULT, "nothing set: number of components and forgetting are found")


def incremental() -> Follower:
    def make() -> Learner:
        from sklearn.decomposition import IncrementalPCA

        model = IncrementalPCA(RANK)
        return Learner(
            model.partial_fit, lambda: model.components_, lambda X: model.inverse_transform(model.transform(X))
        )

    return Follower(INCREMENTAL, make, f"IncrementalPCA({RANK}), not robust", "scikit-learn")


def dictionary_learning() -> Follower:
    def make() -> Learner:
        from sklearn.decomposition import MiniBatchDictionaryLearning

        options = {"alpha": 1.0, "fit_algorithm": "cd", "transform_algorithm": "lasso_cd", "random_state": 0}
        model = MiniBatchDictionaryLearning(RANK, batch_size=BLOCK_SIZE, **options)
        return Learner(model.partial_fit, lambda: model.components_, lambda X: model.transform(X) @ model.components_)

    settings = f'{RANK} atoms, fit_algorithm="cd" ("lars" is 10 times slower), transform_algorithm="lasso_cd", alpha=1'
    return Follower("MiniBatchDictionaryLearning", make, f"{settings}, not robust", "scikit-learn", slow=True)


def plain(forgetting: float) -> Follower:
    def make() -> Learner:
        model = PlainOnlineRobustPCA(RANK, PENALTY, forgetting)
        return Learner(model.partial_fit, lambda: model.components_, model.low_rank)

    fading = "" if forgetting == 1 else f", forgetting {forgetting}"
    settings = f"Feng et al., sample by sample, both penalties {PENALTY}, codes to 1e-6 or 100 iterations{fading}"
    return Follower(f"plain NumPy{fading}", make, settings, "numpy", slow=forgetting == 1)


def orpca(
    method: str,
    *,
    lambda2: float = PENALTY,
    in_blocks: bool = False,
    rate: float = 1.0,
    limit: int | None = None,
    slow: bool = True,
) -> Follower:
    """hyperspy's ORPCA. Its lambda1 is 0.1 by default, lambda2 1 and the learning rate 1."""

    def make() -> Learner:
        from hyperspy.learn import _rpca

        options = {"lambda1": PENALTY, "lambda2": lambda2, "subspace_learning_rate": rate, "random_state": 0}
        model = _rpca.ORPCA(RANK, method=method, **options)

        def learn(X: Array) -> None:
            with _without_progress_bar(_rpca):
                model.partial_fit(X, batch_size=len(X) if in_blocks else None)

        def low_rank(X: Array) -> Array:
            with _without_progress_bar(_rpca):
                return model.transform(X) @ model.components_

        return Learner(learn, lambda: model.components_, low_rank)

    feeding = "blocks" if in_blocks else "one by one"
    name = f"{HYPERSPY} {method}, λ₂ = {lambda2:g}, {feeding}" + (f", rate {rate:g}" if rate != 1 else "")
    settings = f"ORPCA rank {RANK}, lambda1={PENALTY}, lambda2={lambda2:g}, "
    settings += f"subspace_learning_rate={rate:g}, batch_size={'the block' if in_blocks else None}, no progress bar"
    return Follower(name, make, settings, HYPERSPY, limit=limit, slow=slow)


def _without_progress_bar(module: Any) -> Any:
    return patch.object(module, "progressbar", lambda samples, **_: samples)


def orpca_variants(methods: tuple[str, ...] = ("CF", "BCD", "SGD", "MomentumSGD")) -> list[Follower]:
    """Every method with small penalties and with its defaults, one by one and in blocks, and other learning rates.

    Rates below 0.5 or above 2 did worse in trials. Limited are those that take a minute.
    """
    rates = [orpca(method, rate=rate) for method in methods[2:] for rate in (0.5, 2.0)]
    return [
        *(orpca(method, lambda2=1.0, in_blocks=True, slow=method != "CF") for method in methods),
        *(orpca(method, lambda2=1.0) for method in methods),
        *(orpca(method, slow=method != "SGD") for method in methods),
        *(orpca(method, in_blocks=True, limit=4000 if method in ("CF", "BCD") else None) for method in methods),
        *rates,
    ]
