"""Encoders: networks of fixed depth whose layers are passes of Algorithm 1.

A layer finds the outliers o of a sample x through a code c of what is left without them::

    c <- G c + H' (x - o),   d = A c,   o <- soft(x - d, t)

and a readout gives the code s = H (x - o) in the end. With A = U, H' = H = (U'U + lam_* I)^-1 U', t = lam and G = 0 a
layer is one pass of Algorithm 1. Once these numbers are free, they can be trained to come nearer to the answer, or to a
better one, in the same time.
"""

from ._answers import exact_answer, robust_weights
from ._description import departure, describe, relative_difference
from ._encoder import BEYOND, STRUCTURES, Encoder
from ._layers import Layers, Signs, clip_towards, propagate, stretched
from ._left_out import as_left_out
from ._sequence import FLOOR, SEQUENCE_ENCODER, Cell, Head, SequenceEncoder, SequenceParts, carry, read_out
from ._stored import ENCODER, LAYERS, MOST_LAYERS

__all__ = [
    "BEYOND",
    "ENCODER",
    "FLOOR",
    "LAYERS",
    "MOST_LAYERS",
    "SEQUENCE_ENCODER",
    "STRUCTURES",
    "Cell",
    "Encoder",
    "Head",
    "Layers",
    "SequenceEncoder",
    "SequenceParts",
    "Signs",
    "as_left_out",
    "carry",
    "clip_towards",
    "departure",
    "describe",
    "exact_answer",
    "propagate",
    "read_out",
    "relative_difference",
    "robust_weights",
    "stretched",
]
