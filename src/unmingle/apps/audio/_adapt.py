"""Adapt to this song: spectra of the accompaniment learnt while it plays."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..._schema import LEAST, Count, Either, Number, OneOf, Record, Rule
from ..._schema import Array as Rows
from ..._validation import check_count
from ._method import Method, Parts
from ._stft import BINS

Array = NDArray[Any]


class Adaptive(Method):
    """Nonnegative components that follow the song, by the tracker of streams; nothing is trained beforehand."""

    name: ClassVar = "adapt"
    summary: ClassVar = "learns the accompaniment of this song while it plays, frame by frame"
    streams: ClassVar = True

    def __init__(self, n_components: int = 25, batch: int = 8, start_size: int = 32, forgetting: Any = "auto") -> None:
        self.n_components, self.batch = check_count(n_components, "n_components"), check_count(batch, "batch")
        self.start_size, self.forgetting = start_size, forgetting
        self.reset()

    def reset(self) -> None:
        """Forget the song."""
        self.model = _tracker()(
            self.n_components, start_size=self.start_size, batch_size=self.batch, forgetting=self.forgetting
        )
        self.waiting: list[Array] = []

    def parts(self, magnitudes: Array) -> Parts:
        """The parts of each frame, by what the frames before it taught; all is music before the first lesson."""
        voice, music = np.zeros_like(magnitudes), magnitudes.copy()
        done = 0
        while done < len(magnitudes):
            rows = slice(done, done + self.batch - len(self.waiting))
            block = magnitudes[rows]
            if hasattr(self.model, "components_") and len(self.model.components_):
                part = self.model.decompose(block)
                voice[rows], music[rows] = part.outliers, part.low_rank
            self.waiting.extend(block)
            if len(self.waiting) == self.batch:
                lesson = np.stack(self.waiting)
                if lesson.any():
                    self.model.partial_fit(lesson)
                self.waiting = []
            done = rows.stop
        return Parts(voice, music)

    def _to_store(self) -> dict[str, Any]:
        content: dict[str, Any] = {name: getattr(self, name) for name in _SETTINGS}
        if self.waiting:
            content["waiting"] = np.stack(self.waiting)
        if hasattr(self.model, "components_"):
            content["model"] = self.model._to_store()
        return content

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        method = cls(**{name: content[name] for name in _SETTINGS})
        method.waiting = list(content.get("waiting", ()))
        if len(method.waiting) >= method.batch:
            raise ValueError(f"at most {method.batch - 1} frames wait for the next lesson, not {len(method.waiting)}")
        if "model" in content:
            method.model = _tracker()._from_store(content["model"])
        return method

    @classmethod
    def _schema(cls, content: Any) -> Rule:
        frames = Rows(("float32",), "waiting", ("m", "bins"), low=0.0)
        model = _tracker()._schema(content.get("model")) if isinstance(content, dict) else Record({})
        return Record(_SETTINGS, {"waiting": frames, "model": model})


def _tracker() -> Any:
    """Imported when first used: scikit-learn takes 85 MB, which other methods do not need."""
    from ...estimators import OnlineRobustNMF

    return OnlineRobustNMF


_SETTINGS: dict[str, Rule] = {
    "n_components": Count(1, BINS),
    "batch": Count(1, 1000),
    "start_size": Count(1, 10_000),
    "forgetting": Either(OneOf("auto"), Number(LEAST, 1.0)),
}
