"""How to follow a stream."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TrackerSettings:
    """How to follow a stream; None leaves the choice to the data."""

    n_components: int | None = None
    rank_penalty: float | None = None
    outlier_penalty: Any = None
    forgetting: float | None = None
    dictionary_step: str = "block"
    """"block", "direct" or "recursive"; "nonnegative" for components, codes and outliers without negative entries."""
    start_size: int = 100
    n_layers: int | None = None
    """Passes of Algorithm 1 by which samples are encoded; None: exactly."""
