"""Songs with known voice and music, for tests of training."""

import numpy as np
import soundfile

from unmingle import synth

RATE = 16000


def write_stems(folder, names=("anna_1_01", "anna_2_01", "bert_1_01"), seconds=2):
    """Made songs as files of two channels, music to the left."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, name in enumerate(names):
        song = synth.song(5.0, RATE, random_state=seed)
        both = np.stack([song.music, song.voice], axis=1)[-seconds * RATE :]
        soundfile.write(folder / f"{name}.wav", both / np.abs(both).max(), RATE)
    return folder
