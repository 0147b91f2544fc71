"""The experiments of the paper, on one's own copy of the data: figures in the documentation come from here.

Each has a folder of its own, with data, run and page; `EXPERIMENTS` has them all by their names.
"""

from ._experiment import Experiment
from ._folder import DataMissing, data_folder

__all__ = ["EXPERIMENTS", "DataMissing", "Experiment", "data_folder"]

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("table1", "encoders on new faces", "faces._table1"),
        Experiment("online", "faces in the order of time", "faces._online"),
        Experiment("nonnegative", "encoders of spectrograms and faces", "nonnegative._run"),
        Experiment("audio", "voice and music of songs", "audio._run"),
        Experiment("voices", "networks for voices on songs and singers left out", "voices._run"),
        Experiment("video", "masks of films", "video._run"),
        Experiment("alignment", "aligning faces", "alignment._run"),
    )
}
