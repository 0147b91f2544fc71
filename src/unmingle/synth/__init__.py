"""Synthetic data with known truth."""

from ._canvas import Scene
from ._crowd import crowd_scene
from ._faces import Faces, displaced_faces
from ._matrices import Mixture, low_rank_plus_sparse
from ._readings import Readings, sensor_readings
from ._shaking import shaking_scene
from ._song import Song, song
from ._streams import StreamBlock, nonnegative_stream, subspace_stream
from ._street import surveillance_scene
from ._water import water_scene

__all__ = [
    "Faces",
    "Mixture",
    "Readings",
    "Scene",
    "Song",
    "StreamBlock",
    "crowd_scene",
    "displaced_faces",
    "low_rank_plus_sparse",
    "nonnegative_stream",
    "sensor_readings",
    "shaking_scene",
    "song",
    "subspace_stream",
    "surveillance_scene",
    "water_scene",
]
