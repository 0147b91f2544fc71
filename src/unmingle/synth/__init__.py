"""Made data with known truth: matrices and streams, tables of sensors, faces, films and songs."""

from typing import TYPE_CHECKING

from .._lazy import lazy_names

if TYPE_CHECKING:
    from ._canvas import Scene as Scene
    from ._crowd import crowd_scene as crowd_scene
    from ._faces import Faces as Faces
    from ._faces import displaced_faces as displaced_faces
    from ._low_rank import Mixture as Mixture
    from ._low_rank import StreamBlock as StreamBlock
    from ._low_rank import low_rank_plus_sparse as low_rank_plus_sparse
    from ._low_rank import nonnegative_stream as nonnegative_stream
    from ._low_rank import subspace_stream as subspace_stream
    from ._readings import Readings as Readings
    from ._readings import sensor_readings as sensor_readings
    from ._shaking import shaking_scene as shaking_scene
    from ._song import Song as Song
    from ._song import song as song
    from ._street import surveillance_scene as surveillance_scene
    from ._water import water_scene as water_scene

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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Faces": "_faces",
        "Mixture": "_low_rank",
        "Readings": "_readings",
        "Scene": "_canvas",
        "Song": "_song",
        "StreamBlock": "_low_rank",
        "crowd_scene": "_crowd",
        "displaced_faces": "_faces",
        "low_rank_plus_sparse": "_low_rank",
        "nonnegative_stream": "_low_rank",
        "sensor_readings": "_readings",
        "shaking_scene": "_shaking",
        "song": "_song",
        "subspace_stream": "_low_rank",
        "surveillance_scene": "_street",
        "water_scene": "_water",
    },
)
