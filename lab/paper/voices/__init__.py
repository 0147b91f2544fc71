"""Networks for voices, on songs and singers left out: against a GRU of the same size, and part by part."""

from ..voice_networks import ABLATIONS, RIVALS, Candidate
from ._run import reproduce_voices

__all__ = ["ABLATIONS", "RIVALS", "Candidate", "reproduce_voices"]
