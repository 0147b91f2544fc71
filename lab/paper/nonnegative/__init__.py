"""Encoders of nonnegative data: spectrogram frames of songs left out, and faces."""

from ._data import NonnegativeCase, read_cases

__all__ = ["NonnegativeCase", "read_cases"]
