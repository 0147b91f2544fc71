"""Settings of training, for `LearnedRobustPCA` and `unmingle train`; this module is read without torch."""

from dataclasses import dataclass
from math import ceil
from typing import Annotated

from .._fields import check_settings
from .._rules import POSITIVE, Count, Number


@dataclass(frozen=True)
class Training:
    """How long an encoder is trained, in which steps, and how much of a stream it sees at once.

    The defaults were chosen on faces and made data, with many samples and with few.

    Examples
    --------
    >>> Training(max_steps=100).steps_for(5000)
    100
    """

    passes: Annotated[float, POSITIVE, "Passes over the data, at most."] = 500.0
    """With few samples the passes count, with more than 200 the steps do."""
    max_steps: Annotated[int, Count(1), "Steps of training, at most."] = 1500
    batch_size: Annotated[int, Count(1), "Samples in each step."] = 64
    step_size: Annotated[float, POSITIVE, "Size of the steps, relative to the numbers that are trained."] = 0.04
    """Of one layer, relative to the mean size of each parameter."""
    validation: Annotated[float, Number(0.0, 1.0, below=True), "Share of the samples that are kept for checking."] = 0.1
    """Those that judge are not learnt from."""
    window: Annotated[int, Count(1), "Samples of a stream that it is trained on."] = 100
    """By ``partial_fit``."""
    window_step: Annotated[int, Count(1), "Samples by which the window of a stream moves on."] = 10

    def __post_init__(self) -> None:
        check_settings(self)
        for name in ("passes", "step_size", "validation"):
            object.__setattr__(self, name, float(getattr(self, name)))  # so that what is saved comes back as it was

    def steps_for(self, n: int) -> int:
        """Steps of training on n samples."""
        per_pass = max(1, round((1 - self.validation) * n) // self.batch_size)
        return min(ceil(self.passes * per_pass), self.max_steps)
