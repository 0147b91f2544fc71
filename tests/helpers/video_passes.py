"""Calls of the compiled passes over a frame, for tests."""

from typing import Any, NamedTuple

import numpy as np
from scipy import ndimage

from unmingle.kernels.video_detection import Scenery, Workspace, detect_in_frame, zeros_for
from unmingle.kernels.video_learning import LearningState, learn_from_frame
from unmingle.media import Planes

F = np.float32


def scene(rng, height=24, width=40, q=3, dtype=np.uint8):
    """A frame with its atoms, codes and variances; a patch of it is foreground."""
    m = height * width
    smooth = ndimage.gaussian_filter(rng.random((q, height, width)), (0, 4, 4)).reshape(q, m)
    components = (0.2 / q + 3.0 * np.abs(smooth - 0.5) / q).astype(F)
    codes = rng.uniform(0.5, 1.0, q).astype(F)
    picture = (codes @ components + rng.normal(0, 0.01, m)).reshape(height, width)
    picture[5:15, 10:24] += 0.3
    white = 1.0 if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
    frame = np.clip(picture, 0, 1) * white
    frame = frame.astype(dtype) if white == 1.0 else np.rint(frame).astype(dtype)
    return frame, F(1 / white), components, codes, rng.uniform(1e-4, 4e-4, m).astype(F)


def ridge_step(components, lam_star=0.1):
    gram = components.astype(float) @ components.T
    return np.linalg.inv(gram + lam_star * np.eye(len(gram))).astype(F)


def in_words(mask):
    """A mask in words of eight pixels, where those fit its rows."""
    return np.empty(0, np.uint64) if mask.shape[1] % 8 else mask.reshape(-1).view(np.uint64)


def look(frame, scale, components, codes, variance, side=7, least_area=1, region=None, light=(1.0, 1.0, True)):
    """A look at a frame, (height, width), or at planes; nothing has so much texture that it is taken for light."""
    coloured = isinstance(frame, Planes)
    height, width = frame.shape[:2]
    flat, size = frame.values if coloured else frame.reshape(-1), height * width
    places = (flat.size - size) // 2
    background, mask = np.empty_like(flat), np.empty((height, width), bool)
    canvas = Workspace(
        square=(0,) * side,
        region=None if region is None else region.reshape(-1).view(np.uint8),
        light=light,
        least_area=least_area,
        deviation=np.empty(flat.size, frame.dtype),
        marked=np.empty(size, np.uint16),
        colour=np.empty(places, F) if coloured else None,
        counts=np.empty(size, np.uint16),
        strong=np.empty(size, bool),
        near=np.empty(size + places, np.uint8),
    )
    known = Scenery(
        scale=scale,
        white=None if frame.dtype.kind == "f" else float(np.iinfo(frame.dtype).max),
        atoms=components,
        codes=codes,
        variance=variance,
        least=(1e-5, 1e-5),
        stride=1,
        sample=None,
        sampled=components,
        step=ridge_step(components),
        lam_star=0.1,
        lam=0.03,
        zeros=zeros_for(len(codes)),
    )
    found = mask.reshape(-1)
    boxes, textured, stayed = detect_in_frame(
        flat, height, width, (4.0, 9.0), 0, background, found, in_words(mask), *canvas, *known
    )
    return Look(background, canvas.deviation, mask, canvas.near.astype(bool), boxes, (textured, stayed))


class Look(NamedTuple):
    background: Any
    deviation: Any
    mask: Any
    near: Any
    boxes: Any
    cells: Any


def learning_state(frame, scale, components, codes, variance, last=None, seen=100, waited=0, sample=()):
    """What is known before a frame is learnt."""
    x = frame.values if isinstance(frame, Planes) else frame.reshape(-1)
    return LearningState(
        lam_star=0.1,
        least=(1e-5, 1e-5),
        rates=(0.1, 0.01, 1.0, 1.0),
        scale=scale,
        white=None if frame.dtype.kind == "f" else float(np.iinfo(frame.dtype).max),
        codes=codes,
        atoms=components.copy(),
        squares=np.diag(np.arange(2.0, 2.0 + len(codes))),
        variance=variance.copy(),
        last=x.copy() if last is None else last.reshape(-1).copy(),
        last_deviation=np.zeros_like(x),
        seen=np.full(frame.shape[:2], seen, np.uint16).reshape(-1),
        waited=np.full(frame.shape[:2], waited, np.uint16).reshape(-1),
        sample=np.array(sample, np.int32) if len(sample) else None,
        sampled=np.zeros((len(codes), len(sample)), F),
        zeros=zeros_for(len(codes)),
    )


def learn(frame, scale, components, codes, variance, near, *, patience=0, last=None, sample=(), seen=100, **given):
    """Learn a frame; returns copies of what changed."""
    x = frame.values if isinstance(frame, Planes) else frame.reshape(-1)
    memory = learning_state(frame, scale, components, codes, variance, last, seen, given.get("waited", 0), sample)
    near = near.reshape(-1).astype(np.uint8)
    deviation = given.get("deviation", np.zeros_like(x))
    counted = learn_from_frame(
        x, *frame.shape[:2], deviation, near, 2, patience, given.get("forgetting", 0.98), 0.0, given.get("lam", 1e3),
        9.0, *memory,
    )  # fmt: skip
    return memory, counted[:3]
