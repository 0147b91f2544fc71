"""How `LearnedRobustPCA` follows a stream: a window of samples that moves on."""

from typing import Any, Self

import numpy as np

from .._rollback import unchanged_on_error
from .._threads import suited_to
from .._types import Array
from .._validation import check_count, check_matrix, check_optional_forgetting
from ..core.encoder.answers import robust_weights
from ..core.encoder.encoder import Encoder
from ..core.linalg.units import Units
from ..core.online.statistics import Statistics, direct_step
from ..core.solvers.nonnegative import nonnegative_components
from .base import RobustTransformer
from .window import Rows, Window

_STEPS_PER_WINDOW = 10
"""Training steps whenever the window has moved on."""


class WindowLearner(RobustTransformer):
    """An estimator with a trained encoder that learns from a stream as it learns from one matrix, window by window."""

    _window: Window
    _units: Units
    """Those of training: the largest entry is about one."""
    _reach: float
    """Entries are cut to [-reach, reach]."""

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one more block of a stream: the window moves on, and training with it.

        Whenever ``window_step`` samples have come, the dictionary takes them in if ``update_dictionary``, with the past
        fading by ``forgetting``, and the encoder is trained a little on the last ``window`` samples. The first samples
        are learnt from as by `fit`. A model saved in mid-stream holds the samples of its window, one that was only
        fitted holds none.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing.
        y : array of shape (n_samples, 2, n_features), optional
            As in `fit`.
        """
        with unchanged_on_error(self):
            return self._taken_in(X, y)

    def _taken_in(self, X: Any, y: Any) -> Self:
        step = check_count(self.window_step, "window_step")
        X = self._validated(X, reset=not hasattr(self, "n_features_in_"))
        news = Rows(X, self._sources(X, y))
        if hasattr(self, "encoder_") and len(self._window.rows.sources) != len(news.sources):
            raise ValueError("loss was changed to or from 'source' in mid-stream; call fit to start again.")
        with suited_to(X.size):
            if not hasattr(self, "encoder_") or self._window.starting:
                news = self._begin(news)
            waiting = self._window.fresh.followed_by(news)
            while len(waiting.X) >= step:
                self._follow(waiting.take(slice(step)))
                waiting = waiting.take(slice(step, None))
        self._window = self._window._replace(fresh=waiting)
        return self

    def _begin(self, news: Rows) -> Rows:
        """Learn from the first samples of a stream, again whenever they have become half as many more."""
        size = check_count(self.window, "window")
        before = self._window.rows if hasattr(self, "encoder_") else news.take(slice(0))
        n_learnt = self._window.n_learnt if hasattr(self, "encoder_") else 0
        room = size - len(before.X)
        rows = before.followed_by(news.take(slice(room)))
        if len(rows.X) >= min(1.5 * n_learnt, size):
            check_matrix(rows.X)
            self._learn(rows)
        self.n_samples_seen_ = len(rows.X)
        nothing = Statistics.empty(*self.components_.shape)
        self._window = self._window._replace(rows=rows, past=nothing, starting=len(rows.X) < size)
        return news.take(slice(room, None))

    def _follow(self, block: Rows) -> None:
        """Move the window on by a block: dictionary, then layers.

        Samples in the window are encoded anew each time, those that leave it enter the sums for good: codes made with
        an old dictionary would hold the new one back.
        """
        known = self._window.rows.followed_by(block)
        leaving, rows = known.take(slice(-self.window)), known.take(slice(-self.window, None))
        past = self._window.past.merge(self._sums(leaving))
        encoder = self.encoder_
        if self.update_dictionary:
            unit = self.encoder_.rescaled(1 / self._units.root)
            now = past.merge(self._sums(rows))
            encoder = unit.moved_to(_best_components(now, unit)).rescaled(self._units.root)
        self.n_samples_seen_ += len(block.X)
        if not np.isnan(rows.X).all():
            seed = [self._seed, self.n_samples_seen_]
            encoder = self._train(encoder, rows, _STEPS_PER_WINDOW, 0.0, seed).encoder
        self._adopt(encoder)
        self._window = self._window._replace(rows=rows, past=past)
        self._rows, self._stale = None, True

    def _seen_lately(self) -> Array | None:
        return self._window.rows.X

    def _sums(self, rows: Rows) -> Statistics:
        """Statistics of samples as the network encodes them, in units of training."""
        unit, scaled = self.encoder_.rescaled(1 / self._units.root), rows.within(self._reach).to_units(self._units)
        codes, outliers = unit.encode(scaled.X)
        low_rank = codes @ unit.components.astype(codes.dtype)
        cleaned = scaled.sources[0] if scaled.sources else scaled.X - outliers
        share = np.sqrt(robust_weights(unit, scaled.X))[:, None].astype(codes.dtype)
        return Statistics.of(share * codes, share * np.where(np.isnan(cleaned), low_rank, cleaned), self._fading())

    def _fading(self) -> float:
        """What every sample of a stream multiplies the weight of the past by."""
        return check_optional_forgetting(self.forgetting) or 1 - 1 / self.window


def _best_components(sums: Statistics, encoder: Encoder) -> Array:
    """The dictionary that is best for sums over codes of an encoder, (9), with its signs."""
    if encoder.nonnegative_codes:
        return nonnegative_components(sums.A, sums.B, encoder.components, encoder.rank_penalty)
    return direct_step(sums, encoder.rank_penalty)
