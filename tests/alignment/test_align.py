"""Images with each other: drawn faces with known displacements."""

from dataclasses import replace

import numpy as np
import pytest

import unmingle
from unmingle.alignment.families import FAMILIES, AlignedFrame, inverse
from unmingle.synth import displaced_faces

KINDS = {
    "translation": ({}, 0.1),
    "euclidean": ({"turn": 8.0}, 0.2),
    "similarity": ({"turn": 8.0, "zoom": 0.08}, 0.2),
    "affine": ({"turn": 8.0, "zoom": 0.08}, 0.3),
    "projective": ({"turn": 8.0, "zoom": 0.08}, 0.7),
}
"""What faces do, and how far nine in ten of them may be off, in pixels at a corner."""
SHAPE = (48, 40)
REST = np.array([[1.0, 0, 8.0], [0, 1, 8.0], [0, 0, 1]])
"""Where the frame is in an image of a face at rest."""
ARGUMENTS = {"shape": SHAPE, "n_components": 5}


def errors(done, faces, ok=slice(None)):
    """How far corners of the frame are from where they should be, in pixels.

    Nobody can know what all faces have in common, nor what goes along with light, eyes or mouth: a displacement in step
    with a component is part of it. So the errors are those that remain after a regression on the moods.
    """
    frame, matrices = AlignedFrame(*SHAPE), faces.matrices[ok]
    changes = inverse(REST) @ inverse(matrices) @ done.matrices[ok]
    parameters = frame.to_parameters("projective", changes)
    known = np.c_[np.ones(len(matrices)), faces.moods[ok]]
    return frame.moves(frame.to_matrix("projective", parameters - known @ np.linalg.lstsq(known, parameters)[0]))


@pytest.mark.parametrize("family", FAMILIES)
def test_displacements_are_found(family):
    faces = displaced_faces(30, covered=0.3, random_state=1, **KINDS[family][0])
    done = unmingle.align(faces.images, family, **ARGUMENTS)
    assert done.ok.all()
    assert np.quantile(errors(done, faces), 0.9) < KINDS[family][1]


def test_parts_add_up_and_covers_are_outliers():
    faces = displaced_faces(30, covered=0.3, random_state=2)
    done = unmingle.align(faces.images, **ARGUMENTS)
    rest = done.images - done.low_rank - done.outliers
    assert np.nanmax(np.abs(rest)) <= 0.01 + 1e-6
    assert done.codes.shape[0] == 30
    assert done.codes.shape[1] <= 5
    frame = AlignedFrame(*SHAPE)
    for number in np.flatnonzero(faces.covered.any(axis=(1, 2))):
        left, top = np.rint(done.matrices[number, :2, 2]).astype(int)
        cover = faces.covered[number][top : top + frame.height, left : left + frame.width]
        found = np.abs(done.outliers[number]) > 0.1
        assert found[cover].mean() > 0.8
        assert found[~cover].mean() < 0.05


def test_cost_falls_below_that_of_images_as_they_are():
    faces = displaced_faces(30, random_state=3)
    top, left = (64 - 48) // 2, (56 - 40) // 2
    frames = faces.images[:, top : top + 48, left : left + 40].reshape(30, -1).astype(np.float64)
    penalties = {"rank_penalty": 0.1, "outlier_penalty": 0.01}
    done = unmingle.align(faces.images, **ARGUMENTS, **penalties)
    part = unmingle.decompose(frames, n_components=5, **penalties)
    still = unmingle.core.objective.projection(frames, part.components, part.codes, part.outliers, 0.1, 0.01)
    assert np.mean(done.cost < still) == 1.0
    assert done.cost.mean() < 0.6 * still.mean()


def test_mean_transformation_stays_where_it_was():
    faces = displaced_faces(20, turn=5.0, zoom=0.05, random_state=4)
    done = unmingle.align(faces.images, "similarity", **ARGUMENTS)
    frame = AlignedFrame(*SHAPE)
    start = np.array([[1.0, 0, 8.0], [0, 1, 8.0], [0, 0, 1]])
    assert frame.moves(frame.mean("similarity", inverse(start) @ done.matrices)) < 1e-6


def test_bytes_numbers_and_scales_give_the_same(rng):
    faces = displaced_faces(12, random_state=5)
    bytes_ = np.rint(255 * faces.images).astype(np.uint8)
    one = unmingle.align(bytes_, **ARGUMENTS)
    other = unmingle.align(bytes_ / 255.0, **ARGUMENTS)
    np.testing.assert_allclose(one.matrices, other.matrices, atol=1e-3)
    large = unmingle.align(bytes_ * 1000.0, outlier_penalty=2550.0, **ARGUMENTS)
    np.testing.assert_allclose(one.matrices, large.matrices, atol=5e-3)
    np.testing.assert_allclose(255000 * one.low_rank, large.low_rank, atol=0.005 * 255000)


def test_colours_are_aligned_by_their_grey():
    faces = displaced_faces(12, random_state=6)
    tinted = np.stack([faces.images, 0.8 * faces.images, 0.5 * faces.images], axis=-1)
    done = unmingle.align(tinted, **ARGUMENTS)
    assert done.images.shape == (12, *SHAPE, 3)
    assert errors(done, faces).max() < 0.1
    np.testing.assert_allclose(done.images[..., 2] / done.images[..., 0], 0.5, rtol=0.05)


def test_what_is_not_known_is_left_out():
    faces = displaced_faces(20, random_state=7)
    images = faces.images.copy()
    images[::2, 20:26, 30:36] = np.nan
    images[3, :10] = np.inf
    done = unmingle.align(images, **ARGUMENTS)
    assert errors(done, faces).max() < 0.1
    assert np.isnan(done.images[0]).any()
    assert np.isfinite(done.low_rank).all()
    assert np.isfinite(done.cost).all()


@pytest.mark.parametrize("kind", ["boxes", "landmarks", "matrices"])
def test_starts_make_up_for_large_displacements(kind):
    """Faces in larger images of several sizes, at places that only the starts tell."""
    rng, faces = np.random.default_rng(8), displaced_faces(16, random_state=8)
    offsets = rng.integers(0, 60, (16, 2))
    images = []
    for face, (x, y) in zip(faces.images, offsets, strict=True):
        canvas = np.full((130 + x % 7, 125 + y % 5), 0.25, np.float32)
        canvas[y : y + 64, x : x + 56] = face
        images.append(canvas)
    truth = np.tile(np.eye(3), (16, 1, 1))
    truth[:, :2, 2] = offsets
    truth = truth @ faces.matrices
    eyes = np.array([[20.0, 28.0], [36.0, 28.0], [28.0, 44.0]])
    starts = {
        "boxes": np.concatenate([offsets, offsets + np.array([56, 64])], axis=1),
        "landmarks": eyes + offsets[:, None] + rng.uniform(-1, 1, (16, 3, 2)),
        "matrices": np.array([[[1, 0, x + 8], [0, 1, y + 8], [0, 0, 1.0]] for x, y in offsets]),
    }
    done = unmingle.align(images, starts=starts[kind], **ARGUMENTS)
    assert done.ok.all()
    assert errors(done, replace(faces, matrices=truth)).max() < 0.1


def test_unusable_images_are_named_and_the_rest_is_done():
    faces = displaced_faces(12, random_state=9)
    images = [*faces.images, np.zeros((64, 56)), np.ones((1, 1)), np.full((64, 56), np.nan), np.zeros((3, 4, 5, 6))]
    images += ["face.png", np.zeros((0, 4)), faces.images[0][:30, :20]]
    done = unmingle.align(images, **ARGUMENTS)
    assert done.ok.tolist() == [True] * 12 + [False] * 7
    words = [
        "blank",
        "blank",
        "missing (NaN)",
        r"shape (3, 4, 5, 6)",
        "expected numbers|shape",
        "shape",
        "Only",
    ]
    for note, word in zip(done.notes[12:], words, strict=True):
        assert any(part in note for part in word.split("|")), note
    assert np.isnan(done.matrices[12:]).all()
    assert np.isnan(done.cost[12:]).all()
    assert errors(done, faces, slice(12)).max() < 0.1


@pytest.mark.parametrize(
    ("images", "words"),
    [
        ([], "contains no images"),
        (np.zeros((4, 4)), "must have shape"),
        ("faces", "must be a list"),
        (None, "must be a list"),
        ([np.zeros((40, 40))] * 3, "At least 2 images that can be aligned are needed, got 0. It is blank"),
        ([np.zeros((40, 40, 2, 2))], "None of the 1 images can be aligned"),
        ([np.eye(6)] * 3, "too small"),
        ([np.eye(40)], "got 1"),
    ],
)
def test_images_that_cannot_be(images, words):
    with pytest.raises(ValueError, match=words):
        unmingle.align(images)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"transform": "shear"}, "transform"),
        ({"shape": (4, 40)}, "shape must be"),
        ({"shape": 40}, "shape must be"),
        ({"starts": np.zeros((3, 5))}, "starts must be"),
        ({"starts": np.full((12, 4), np.nan)}, "finite"),
        ({"starts": np.zeros((12, 4))}, "right > left"),
        ({"n_components": 0}, "n_components"),
        ({"rank_penalty": -1.0}, "rank_penalty"),
        ({"outlier_penalty": "none"}, "outlier_penalty"),
        ({"rank_penalty": 1e6}, "rank_penalty is so large"),
    ],
)
def test_parameters_are_checked(arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        unmingle.align(displaced_faces(12, random_state=0).images, **arguments)


def test_a_callback_hears_of_rounds_and_may_end_them():
    heard = []
    images = displaced_faces(8, random_state=0).images
    unmingle.align(images, callback=heard.append, **ARGUMENTS)
    assert [progress.done for progress in heard] == list(range(1, len(heard) + 1))
    assert heard[-1].done <= heard[-1].total
    unmingle.align(images, callback=lambda progress: heard.clear() or heard.append(progress) or True, **ARGUMENTS)
    assert [progress.done for progress in heard] == [1]
