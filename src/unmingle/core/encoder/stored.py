"""What a file holds of an encoder."""

from ..._rules import FLOATS, POSITIVE, ArrayOf, Count, Flag, Record

MOST_LAYERS = 10_000
"""More would not end in a reasonable time; Algorithm 1 does not need so many."""
LAYERS = Count(1, MOST_LAYERS)
ENCODER = Record(
    {
        "components": ArrayOf(FLOATS, "q", "m", alike="encoder"),
        "outlier_penalty": ArrayOf(FLOATS, "m", low=0.0, alike="encoder"),
        "threshold": ArrayOf(FLOATS, "depth", "m", low=0.0, alike="encoder"),
        "decoder": ArrayOf(FLOATS, "depth", ("q", "m"), "m", alike="encoder"),
        "encoder": ArrayOf(FLOATS, "depth", ("q", 0), "m", alike="encoder"),
        "feedback": ArrayOf(FLOATS, "depth", "q", "q", alike="encoder"),
        "readout": ArrayOf(FLOATS, "q", "m", alike="encoder"),
        "readout_feedback": ArrayOf(FLOATS, "q", "q", alike="encoder"),
        "rank_penalty": POSITIVE,
        "n_layers": LAYERS,
        "nonnegative_codes": Flag(),
        "nonnegative_outliers": Flag(),
    }
)
"""How the arrays fit together beyond that, `Encoder` itself checks."""
