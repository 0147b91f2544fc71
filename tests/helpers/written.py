from pathlib import Path

import numpy as np

from unmingle.media import open_frames, open_writer


def scene(n=20, height=48, width=64, channels=1):
    y, x, c = np.mgrid[:height, :width, :channels]
    frames = np.stack([127 + 100 * np.sin((x + 2 * t) / 9 + y / 7 + 0.3 * c) for t in range(n)])
    return np.rint(frames).astype(np.uint8).squeeze(axis=3) if channels == 1 else np.rint(frames).astype(np.uint8)


def write(path, frames, **options):
    with open_writer(path, **options) as writer:
        for pixels in frames:
            writer.write(pixels)
    assert writer.n_written == len(frames)
    return Path(path)


def read(path, **options):
    with open_frames(path, **options) as frames:
        return np.stack([frame.pixels for frame in frames])
