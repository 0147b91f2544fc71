"""Encoders of nonnegative data: spectrogram frames of songs left out, and faces."""

from ._data import Case, read_cases

__all__ = ["Case", "read_cases"]
