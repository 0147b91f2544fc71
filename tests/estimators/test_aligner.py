"""`Aligner`: new images aligned with what was learnt, streams, and files."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import unmingle
from unmingle.alignment.families import AlignedFrame, compose, inverse
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
    one, other = model.align(still.images), model.align(away.images)
    assert one.ok.all()
    assert other.ok.all()
    off = FRAME.moves(other.matrices, compose(away.matrices, inverse(still.matrices), one.matrices))
    assert np.median(off) < (0.05 if family == "translation" else 0.15)
    assert off.max() < (0.15 if family == "translation" else 0.5)


def test_covers_do_not_move_faces(learnt):
    bare, hidden = (displaced_faces(20, covered=share, random_state=2) for share in (0.0, 1.0))
    np.testing.assert_array_equal(bare.matrices, hidden.matrices)
    one, other = learnt.align(bare.images), learnt.align(hidden.images)
    assert np.median(np.abs(shifts(one) - shifts(other))) < 0.03
    assert np.abs(shifts(one) - shifts(other)).max() < 0.2
    assert (other.cost > one.cost).all()


def test_each_image_is_aligned_on_its_own(learnt):
    images = displaced_faces(6, random_state=3).images
    together = learnt.align(images)
    for number, image in enumerate(images):
        np.testing.assert_array_equal(learnt.align(image[None]).matrices[0], together.matrices[number])


def test_more_starts_find_faces_far_away(learnt):
    canvas = np.full((4, 110, 100), 0.25, np.float32)
    face = displaced_faces(1, shift=0.0, random_state=4).images[0]
    places = np.array([[22, 23], [34, 23], [10, 23], [22, 36]])
    for image, (x, y) in zip(canvas, places, strict=True):
        image[y : y + 64, x : x + 56] = face
    once = learnt.align(canvas)
    many = clone(learnt).set_params(n_starts=5)
    many._learned, many.n_images_seen_ = learnt._learned, learnt.n_images_seen_
    found = many.align(canvas)
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
    done = learnt.align([*strange, displaced_faces(1, random_state=6).images[0]])
    assert done.ok.tolist() == [False] * 6 + [True]
    assert all(done.notes[:6])
    assert not done.notes[6]


def test_files_give_back_the_same_numbers(learnt, tmp_path):
    images = displaced_faces(8, random_state=7).images
    learnt.save(tmp_path / "aligner.safetensors")
    loaded = unmingle.load(tmp_path / "aligner.safetensors")
    assert loaded.get_params() == learnt.get_params()
    assert (loaded.shape_, loaded.n_components_, loaded.n_images_seen_) == (SHAPE, 5, 40)
    one, other = learnt.align(images), loaded.align(images)
    np.testing.assert_array_equal(one.matrices, other.matrices)
    np.testing.assert_array_equal(one.low_rank, other.low_rank)
    learnt_more, loaded_more = (model.partial_fit(images).align(images) for model in (clone_of(learnt), loaded))
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
    done = loaded.align(faces.images, starts=points)
    assert done.ok.all()
    with pytest.raises(ValueError, match="2 landmarks, but the model has learnt with 3"):
        loaded.align(faces.images, starts=points[:, :2])


def test_a_stream_follows_a_face_that_changes():
    """A mouth that was never seen becomes part of the components, and is no outlier any more."""
    faces = displaced_faces(120, random_state=9)
    plain = faces.images
    spot = np.exp(-((np.arange(64)[:, None] - 44) ** 2 + (np.arange(56) - 28) ** 2) / 20)
    changed = np.clip(displaced_faces(120, shift=0.5, random_state=10).images - 0.08 * spot, 0, 1)
    model = unmingle.Aligner(shape=SHAPE, n_components=5, forgetting=0.97).partial_fit(plain[:40])
    usual = np.abs(model.align(plain[100:]).outliers).mean()
    before = np.abs(model.align(changed[100:]).outliers).mean()
    for start in range(0, 100, 10):
        model.partial_fit(changed[start : start + 10])
    assert model.n_images_seen_ == 140
    after = model.align(changed[100:])
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
    assert model.set_params(motion="similarity", shape=(20, 20)).motion == "similarity"
    with pytest.raises(ValueError, match="Invalid parameter 'rank'"):
        model.set_params(rank=3)


def test_aligned_images_are_of_the_kind_of_those_given(learnt):
    faces = displaced_faces(6, random_state=12).images
    aligned = learnt.transform(faces)
    np.testing.assert_array_equal(aligned, learnt.align(faces).images)
    np.testing.assert_array_equal(learnt.transform(list(faces)), aligned)
    coloured = learnt.transform(np.repeat(faces[..., None], 3, axis=-1))
    assert coloured.shape == (6, *SHAPE, 3)
    np.testing.assert_allclose(coloured[..., 1], aligned, atol=1e-5)


def test_what_an_image_does_not_show_is_as_its_low_rank_part(learnt):
    image = displaced_faces(1, shift=0.0, random_state=4).images[0]
    torn = image.copy()
    torn[20:26, 20:30] = np.nan
    done, aligned = learnt.align([torn]), learnt.transform([torn])
    hidden = np.isnan(done.images)
    assert hidden.sum() >= 60
    np.testing.assert_array_equal(aligned[hidden], done.low_rank[hidden])
    assert np.abs(aligned - learnt.transform([image])).max() < 0.15
    black = learnt.transform(np.stack([np.zeros((64, 56)), image]))
    np.testing.assert_array_equal(black[0], 0)
    with pytest.raises(ValueError, match=r"Image 1 cannot be aligned\. It has shape \(3,\)"):
        learnt.transform([image, np.zeros(3)])


def test_rows_of_pixels_in_a_pipeline():
    """Aligned faces vary less, so that principal components leave less of them."""
    faces = displaced_faces(40, random_state=0).images
    rows = faces.reshape(40, -1)
    aligner = unmingle.Aligner(shape=faces.shape[1:], n_components=4)
    pipeline = make_pipeline(aligner, PCA(2)).fit(rows)
    assert pipeline.transform(rows).shape == (40, 2)
    assert pipeline[-1].noise_variance_ < 0.5 * PCA(2).fit(rows).noise_variance_
    aligned = aligner.fit_transform(rows)
    assert aligned.shape == rows.shape
    assert aligned.dtype == rows.dtype
    np.testing.assert_array_equal(aligned, aligner.transform(faces).reshape(40, -1))
    assert aligner.get_feature_names_out()[:2].tolist() == ["aligner0", "aligner1"]
    with pytest.raises(ValueError, match=r"3584 pixels do not make images of \(60, 50\)"):
        unmingle.Aligner(shape=(60, 50)).fit(rows)
    with pytest.raises(ValueError, match=r"Rows of pixels need a shape, as in Aligner\(shape="):
        unmingle.Aligner().fit(rows)


NOT_FOR_IMAGES = {
    "check_fit_check_is_fitted": "its rows are noise, which has nothing in common: that is an error, with what to do",
}
"""Checks of scikit-learn that cannot hold for images, and why."""


@parametrize_with_checks(
    [unmingle.Aligner(shape=(1, -1)), unmingle.Aligner("similarity", shape=(-1, 1))],
    expected_failed_checks=lambda model: NOT_FOR_IMAGES,
)
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def test_images_are_not_the_tables_of_scikit_learn():
    """Without a shape rows of pixels are no images, and tests of tables are left out."""
    with pytest.warns(SkipTestWarning, match="three_d_array=True"):
        check_estimator(unmingle.Aligner())


def test_an_unfitted_model_says_so(tmp_path):
    model = unmingle.Aligner()
    with pytest.raises(NotFittedError):
        model.align(np.zeros((2, 40, 40)))
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
    content["learned"]["model"]["frame"]["height"] += 1
    unmingle.store.save(tmp_path / "a.safetensors", "Aligner", content)
    with pytest.raises(unmingle.store.StoreError, match="49 x 40"):
        unmingle.load(tmp_path / "a.safetensors")
