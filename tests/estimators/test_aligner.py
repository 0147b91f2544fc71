"""`Aligner`: new images aligned with what was learnt, streams, and files."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import unmingle
from unmingle.alignment import AlignedFrame, compose, inverse
from unmingle.synth import displaced_faces

SHAPE = (48, 40)
FRAME = AlignedFrame(*SHAPE)
KINDS = {
    "translation": {"shift": 4.0},
    "euclidean": {"turn": 12.0},
    "similarity": {"turn": 12.0, "zoom": 0.12},
    "affine": {"turn": 10.0, "zoom": 0.1},
    "projective": {"turn": 8.0, "zoom": 0.08},
}


def shifts(done):
    return done.matrices[:, :2, 2]


@pytest.fixture(scope="module")
def learnt():
    faces = displaced_faces(40, covered=0.2, random_state=0)
    return unmingle.Aligner(shape=SHAPE, n_components=5).fit(faces.images)


@pytest.mark.parametrize("family", KINDS)
def test_the_same_face_is_found_wherever_it_is(family):
    """Drawn again with the same moods at another place, a face has an answer that went along."""
    model = unmingle.Aligner(family, shape=SHAPE, n_components=5)
    model.fit(displaced_faces(40, random_state=0, **KINDS[family]).images)
    still = displaced_faces(20, random_state=1, shift=0.0)
    away = displaced_faces(20, random_state=1, **KINDS[family])
    np.testing.assert_array_equal(still.moods, away.moods)
    one, other = model.transform(still.images), model.transform(away.images)
    assert one.ok.all()
    assert other.ok.all()
    off = FRAME.moves(other.matrices, compose(away.matrices, inverse(still.matrices), one.matrices))
    assert np.median(off) < (0.05 if family == "translation" else 0.15)
    assert off.max() < (0.15 if family == "translation" else 0.5)


def test_covers_do_not_move_faces(learnt):
    bare, hidden = (displaced_faces(20, covered=share, random_state=2) for share in (0.0, 1.0))
    np.testing.assert_array_equal(bare.matrices, hidden.matrices)
    one, other = learnt.transform(bare.images), learnt.transform(hidden.images)
    assert np.median(np.abs(shifts(one) - shifts(other))) < 0.03
    assert np.abs(shifts(one) - shifts(other)).max() < 0.2
    assert (other.cost > one.cost).all()


def test_each_image_is_aligned_on_its_own(learnt):
    images = displaced_faces(6, random_state=3).images
    together = learnt.transform(images)
    for number, image in enumerate(images):
        np.testing.assert_array_equal(learnt.transform(image[None]).matrices[0], together.matrices[number])


def test_more_starts_find_faces_far_away(learnt):
    canvas = np.full((4, 110, 100), 0.25, np.float32)
    face = displaced_faces(1, shift=0.0, random_state=4).images[0]
    places = np.array([[22, 23], [34, 23], [10, 23], [22, 36]])
    for image, (x, y) in zip(canvas, places, strict=True):
        image[y : y + 64, x : x + 56] = face
    once = learnt.transform(canvas)
    many = clone(learnt).set_params(n_starts=5)
    many._learned, many.n_images_seen_ = learnt._learned, learnt.n_images_seen_
    found = many.transform(canvas)
    expected = shifts(found)[0] + places - places[0]
    assert np.abs(shifts(found) - expected).max() < 0.2
    assert np.abs(shifts(once) - expected).max() > 2.0


def test_what_is_no_face_is_not_ok(learnt):
    rng = np.random.default_rng(5)
    y, x = np.mgrid[:64, :56]
    strange = [
        rng.random((64, 56)),
        0.5 + 0.5 * np.sin(x / 3.0 + y / 5.0),
        displaced_faces(1, random_state=6).images[0][::-1],
        np.zeros((64, 56)),
        np.full((64, 56), np.nan),
        np.eye(3),
    ]
    done = learnt.transform([*strange, displaced_faces(1, random_state=6).images[0]])
    assert done.ok.tolist() == [False] * 6 + [True]
    assert all(done.notes[:6])
    assert not done.notes[6]


def test_files_give_back_the_same_numbers(learnt, tmp_path):
    images = displaced_faces(8, random_state=7).images
    learnt.save(tmp_path / "aligner.safetensors")
    loaded = unmingle.load(tmp_path / "aligner.safetensors")
    assert loaded.get_params() == learnt.get_params()
    assert (loaded.shape_, loaded.n_components_, loaded.n_images_seen_) == (SHAPE, 5, 40)
    one, other = learnt.transform(images), loaded.transform(images)
    np.testing.assert_array_equal(one.matrices, other.matrices)
    np.testing.assert_array_equal(one.low_rank, other.low_rank)
    learnt_more, loaded_more = (model.partial_fit(images).transform(images) for model in (clone_of(learnt), loaded))
    np.testing.assert_array_equal(learnt_more.matrices, loaded_more.matrices)


def clone_of(model):
    copy = clone(model)
    copy._learned, copy.n_images_seen_ = model._learned, model.n_images_seen_
    return copy


def test_landmarks_are_kept_in_files(tmp_path):
    faces = displaced_faces(20, random_state=8)
    eyes = np.array([[20.0, 28.0], [36.0, 28.0], [28.0, 44.0]])
    points = np.einsum("nij,kj->nki", faces.matrices, np.c_[eyes, np.ones(3)])[..., :2]
    unmingle.Aligner(shape=SHAPE, n_components=4).fit(faces.images, starts=points).save(tmp_path / "a.safetensors")
    loaded = unmingle.load(tmp_path / "a.safetensors")
    done = loaded.transform(faces.images, starts=points)
    assert done.ok.all()
    with pytest.raises(ValueError, match="2 landmarks, but the model has learnt with 3"):
        loaded.transform(faces.images, starts=points[:, :2])


def test_a_stream_follows_a_face_that_changes():
    """A mouth that was never seen becomes part of the components, and is no outlier any more."""
    faces = displaced_faces(120, random_state=9)
    plain = faces.images
    spot = np.exp(-((np.arange(64)[:, None] - 44) ** 2 + (np.arange(56) - 28) ** 2) / 20)
    changed = np.clip(displaced_faces(120, shift=0.5, random_state=10).images - 0.08 * spot, 0, 1)
    model = unmingle.Aligner(shape=SHAPE, n_components=5, forgetting=0.97).partial_fit(plain[:40])
    usual = np.abs(model.transform(plain[100:]).outliers).mean()
    before = np.abs(model.transform(changed[100:]).outliers).mean()
    for start in range(0, 100, 10):
        model.partial_fit(changed[start : start + 10])
    assert model.n_images_seen_ == 140
    after = model.transform(changed[100:])
    assert after.ok.all()
    assert np.abs(after.outliers).mean() - usual < 0.5 * (before - usual)


def test_partial_fit_without_forgetting_keeps_what_it_knows(learnt):
    images = displaced_faces(10, random_state=11).images
    model = clone_of(learnt).partial_fit(images)
    assert np.linalg.norm(model.components_ - learnt.components_) < 0.05 * np.linalg.norm(learnt.components_)
    nothing = clone_of(learnt).partial_fit(np.zeros((3, 64, 56)))
    np.testing.assert_array_equal(nothing.components_, learnt.components_)


def test_parameters_are_those_of_the_constructor():
    model = unmingle.Aligner("affine", n_components=3)
    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["transform"] == "affine"
    assert model.set_params(transform="similarity", shape=(20, 20)).get_params()["transform"] == "similarity"
    assert "similarity" in repr(model)
    with pytest.raises(ValueError, match="no parameter 'rank'"):
        model.set_params(rank=3)


def test_an_unfitted_model_says_so(tmp_path):
    model = unmingle.Aligner()
    with pytest.raises(NotFittedError):
        model.transform(np.zeros((2, 40, 40)))
    with pytest.raises(NotFittedError):
        model.save(tmp_path / "a.safetensors")
    assert not hasattr(model, "components_")


@pytest.mark.parametrize(
    ("name", "value"), [("forgetting", 0.0), ("forgetting", 1.5), ("n_starts", 0), ("n_starts", 100)]
)
def test_parameters_are_checked(learnt, name, value):
    images = displaced_faces(6, random_state=0).images
    with pytest.raises((ValueError, TypeError), match=name):
        clone_of(learnt).set_params(**{name: value}).partial_fit(images)


def test_a_file_with_other_numbers_of_pixels_is_refused(learnt, tmp_path):
    content = learnt._to_store()
    content["learned"]["height"] += 1
    unmingle.store.save(tmp_path / "a.safetensors", "Aligner", content)
    with pytest.raises(unmingle.store.StoreError, match="49 x 40"):
        unmingle.load(tmp_path / "a.safetensors")
