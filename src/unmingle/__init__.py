"""Splits data into a low-rank part, what repeats, and sparse outliers, what stands out.

Public names are imported when first used, so that ``import unmingle`` itself loads no other package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    from . import apps as apps
    from . import core as core
    from . import distributed as distributed
    from . import export as export
    from . import learn as learn
    from . import media as media
    from . import metrics as metrics
    from . import store as store
    from . import synth as synth
    from .alignment.learning import align as align
    from .alignment.result import Alignment as Alignment
    from .core.decomposition.decompose_matrix import decompose as decompose
    from .core.decomposition.decompose_matrix import penalty_max as penalty_max
    from .core.decomposition.decompose_matrix import pursue as pursue
    from .core.decomposition.result import Decomposition as Decomposition
    from .core.encoder.encoder import Encoder as Encoder
    from .estimators.aligner import Aligner as Aligner
    from .estimators.learned import LearnedRobustPCA as LearnedRobustPCA
    from .estimators.learned_nmf import LearnedRobustNMF as LearnedRobustNMF
    from .estimators.online import OnlineRobustPCA as OnlineRobustPCA
    from .estimators.online_nmf import OnlineRobustNMF as OnlineRobustNMF
    from .estimators.robust_nmf import RobustNMF as RobustNMF
    from .estimators.robust_pca import RobustPCA as RobustPCA

__version__ = "0.1.0"

_MODULE_OF = {
    "Aligner": "estimators.aligner",
    "Alignment": "alignment.result",
    "Decomposition": "core.decomposition.result",
    "Encoder": "core.encoder.encoder",
    "LearnedRobustNMF": "estimators.learned_nmf",
    "LearnedRobustPCA": "estimators.learned",
    "OnlineRobustNMF": "estimators.online_nmf",
    "OnlineRobustPCA": "estimators.online",
    "RobustNMF": "estimators.robust_nmf",
    "RobustPCA": "estimators.robust_pca",
    "align": "alignment.learning",
    "decompose": "core.decomposition.decompose_matrix",
    "penalty_max": "core.decomposition.decompose_matrix",
    "pursue": "core.decomposition.decompose_matrix",
}
_EXTRA_OF = {
    "apps": "",
    "core": "",
    "distributed": "dask",
    "export": "onnx",
    "learn": "train",
    "media": "",
    "metrics": "",
    "store": "",
    "synth": "",
}
"""Submodules, and the extra that installs what they need beyond the core."""
_STORED_BY = {
    "AudioStream": ("apps.audio", "Stream"),
    "SequenceEncoder": ("core.encoder.sequence", "SequenceEncoder"),
    "VideoStream": ("apps.video", "Stream"),
    "VoiceModel": ("apps.audio", "VoiceModel"),
}
"""Kinds of files that classes of submodules write."""

__all__ = sorted([*_MODULE_OF, *_EXTRA_OF, "load"])


def load(path: "str | PathLike[str]") -> Any:
    """Read back what a ``save`` method wrote.

    The kind named in the file is looked up among the public classes; no code is taken from the file.

    Parameters
    ----------
    path : path
        A ``.safetensors`` file.

    Returns
    -------
    object
        An object of the class that was saved.

    Raises
    ------
    unmingle.store.StoreError
        The file is missing, damaged, not one of unmingle's, of a newer format or unknown kind, or incomplete; no other
        error is raised, whatever the file holds.
    """
    store = import_module("unmingle.store")
    stored = store.read(path)
    if stored.kind in _STORED_BY:
        module, name = _STORED_BY[stored.kind]
        known = getattr(import_module(f"{__name__}.{module}"), name)
    else:
        known = __getattr__(stored.kind) if stored.kind in _MODULE_OF else None
    if not hasattr(known, "_from_store"):
        raise store.StoreError(f"{path} holds a {stored.kind!r}, which unmingle {__version__} does not know.")
    return store.restore(path, stored, known)


def __getattr__(name: str) -> Any:
    if name in _EXTRA_OF:
        from ._validation import require

        return require(f"{__name__}.{name}", _EXTRA_OF[name])
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
