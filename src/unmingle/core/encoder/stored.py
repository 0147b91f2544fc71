"""What a file holds of an encoder."""

from ..._schema import FLOATS, POSITIVE, Array, Count, Flag, Record

MOST_LAYERS = 10_000
"""More would not end in a reasonable time; Algorithm 1 does not need so many."""
LAYERS = Count(1, MOST_LAYERS)
ENCODER = Record(
    {
        "components": Array(FLOATS, "q", "m", alike="encoder"),
        "outlier_penalty": Array(FLOATS, "m", low=0.0, alike="encoder"),
        "threshold": Array(FLOATS, "depth", "m", low=0.0, alike="encoder"),
        "decoder": Array(FLOATS, "depth", ("q", "m"), "m", alike="encoder"),
        "encoder": Array(FLOATS, "depth", ("q", 0), "m", alike="encoder"),
        "feedback": Array(FLOATS, "depth", "q", "q", alike="encoder"),
        "readout": Array(FLOATS, "q", "m", alike="encoder"),
        "readout_feedback": Array(FLOATS, "q", "q", alike="encoder"),
        "rank_penalty": POSITIVE,
        "n_layers": LAYERS,
        "nonnegative_codes": Flag(),
        "nonnegative_outliers": Flag(),
    }
)
"""How the arrays fit together beyond that, `Encoder` itself checks."""
