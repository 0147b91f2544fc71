import numpy as np

import unmingle
from unmingle.apps.video import Box, Separation, Stream


def watched(frame, n=60, **settings):
    """A stream that has seen a scene for a while."""
    stream = Stream(**settings)
    for _ in range(n):
        found = stream.push(frame())
    assert not found.mask.any()
    return stream


def pushed(stream, frames):
    return [stream.push(frame) for frame in frames]


def same(one, other):
    arrays = [(a.mask, b.mask) for a, b in zip(one, other, strict=True)]
    arrays += [(a.background, b.background) for a, b in zip(one, other, strict=True)]
    return all(np.array_equal(a, b) for a, b in arrays) and [a.boxes for a in one] == [b.boxes for b in other]


def network(frames):
    """Five layers for the background of some frames."""
    model = unmingle.RobustPCA(n_components=4).fit(frames[:60:2].reshape(30, -1) / 255)
    components = model.components_.astype(np.float32)
    return unmingle.Encoder.from_components(components, rank_penalty=0.1, outlier_penalty=0.03, n_layers=5)


def with_square(frame, top=20, left=30, side=16, step=100, opaque=True):
    """A frame with a thing before it, which hides what is behind it unless it only lights it."""
    covered = frame.astype(int)
    square = covered[top : top + side, left : left + side]
    square[:] = (square.mean().astype(int) if opaque else square) + step
    return np.clip(covered, 0, 255).astype(np.uint8)


def found(time, score=0.0, box=(2, 3, 6, 9), state="watching", shape=(8, 12)):
    frame = np.full(shape, 100, np.uint8)
    mask = np.zeros(shape[:2], bool)
    boxes = (Box(*box, 24),) if score else ()
    return Separation(0, time, frame, frame, mask, boxes, score, state)
