"""The video experiment, in small."""

import json
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from lab.paper.video import VideoFindings, _rivals, hall_png, reproduce_video, video_page
from lab.paper.video._data import HALL, LABELLED, LOBBY, Film, find_film, make_scene, read_hall, read_lobby
from lab.paper.video._hall import (
    N_TRAIN,
    TRAINED,
    errors,
    follow,
    half_size,
    hall,
    learn_dictionary,
    train_layers,
)
from lab.paper.video._lobby import find_switches, settling, shares
from lab.paper.video._masks import FilmScore, mask_table, race
from lab.paper.video._rivals import MEDIAN, REFERENCE, Rival, ours, peer, rivals
from lab.paper.video._worst import by_category, worst_frame
from lab.registry import EXPERIMENTS
from unmingle.core.encoder.answers import exact_answer
from unmingle.core.encoder.encoder import Encoder
from unmingle.metrics import f_measure

PENALTIES = {"rank_penalty": 0.1, "outlier_penalty": 1e-3}


def knowing(name, film, hits=True):
    """A method that knows the truth, or finds its opposite."""

    def begin():
        masks = iter(film.truth if hits else ~film.truth)
        return lambda frame: next(masks)

    return Rival(name, begin)


@pytest.fixture(scope="module")
def scene():
    return make_scene("crowd", 0, 60, 48, 64)


@pytest.fixture(scope="module")
def hall_frames(data_dir):
    path = find_film(data_dir, HALL)
    if path is None:
        pytest.skip(f"{HALL} is not among the data")
    return half_size(read_hall(path)).reshape(100, -1)


def made_hall(rng):
    """A hundred frames of a wall on which a spot moves."""
    frames = np.tile(rng.integers(60, 180, (16, 20)), (100, 1, 1)) + rng.integers(-2, 3, (100, 16, 20))
    for time, frame in enumerate(frames):
        frame[4:10, time % 16 : time % 16 + 4] = 230
    return frames.astype(np.uint8)


def test_half_size_is_the_mean_of_four_pixels_and_odd_edges_are_cut():
    frames = np.arange(2 * 5 * 6, dtype=np.uint8).reshape(2, 5, 6)
    half = half_size(frames)
    assert half.shape == (2, 2, 3)
    assert half[1, 0, 2] == pytest.approx(frames[1, :2, 4:].mean() / 255)


def test_error_is_relative_to_the_exact_outliers():
    exact = np.array([[3.0, 4.0], [0.0, 2.0]])
    np.testing.assert_allclose(errors(exact + np.array([[0.0, 0.5], [0.0, 0.0]]), exact), [0.1, 0.0])


def test_following_starts_every_frame_from_the_one_before(rng):
    encoder = Encoder.from_components(rng.standard_normal((2, 12)).astype(np.float32), n_layers=2, **PENALTIES)
    frames = rng.random((3, 12), dtype=np.float32)
    codes, outliers = follow(encoder, frames)
    first = encoder.encode(frames[:1])[0]
    second = encoder.encode(frames[1:2], init=first)
    np.testing.assert_array_equal(codes[:1], first)
    np.testing.assert_array_equal(outliers[1:2], second[1])
    np.testing.assert_array_equal(follow(encoder, frames[1:], first)[1], outliers[1:])


def test_five_layers_are_near_the_exact_answer_on_hall(hall_frames):
    train, test = hall_frames[:N_TRAIN], hall_frames[N_TRAIN:]
    encoder = Encoder.from_components(learn_dictionary(train), n_layers=5, **PENALTIES)
    exact = exact_answer(encoder, test)[1]
    cold = errors(encoder.encode(test)[1], exact)
    warm = errors(follow(encoder, hall_frames)[1][N_TRAIN:], exact)
    trained = train_layers(encoder, train, TRAINED["trained, unsupervised"], max_steps=300, seed=0)
    assert warm.max() < 0.05
    assert warm.mean() < 0.2 * cold.mean()
    assert errors(trained.encode(test)[1], exact).mean() < min(0.1, cold.mean())


def test_hall_is_taken_apart_by_all_methods(rng):
    counted = []
    taken = hall(made_hall(rng), max_steps=5, advance=counted.append)
    assert sum(counted) == 20
    assert set(taken.parts) == {"ALM", "Algorithm 1", "five layers"}
    for background, outliers in taken.parts.values():
        assert background.shape == outliers.shape == taken.frames.shape == (4, 8, 10)
        np.testing.assert_allclose(background + outliers, taken.frames, atol=0.02)
    exact = taken.figures["exact"]
    assert exact["largest_gap"] < 1e-5
    assert all(row["mean_f"] >= exact["mean_f"] * (1 - 1e-5) for row in taken.figures["errors"].values())
    with Image.open(BytesIO(hall_png(taken))) as sheet:
        first = np.asarray(sheet.convert("L"))[-4 * 16 - 4 * 6 :][:16:2, 6:26:2] / 255
    np.testing.assert_allclose(first, taken.frames[0], atol=0.005)


def test_switches_begin_where_brightness_jumps(rng):
    frames = 100 + rng.integers(-2, 3, (60, 8, 9))
    frames[20:] += 30
    frames[21:] += 30
    frames[40:] -= 50
    assert find_switches(frames.astype(np.uint8)) == [20, 40]


def test_lobby_counts_frames_until_a_mask_stays_small():
    share = np.zeros(40)
    share[10:13] = 0.3, 0.01, 0.2
    share[30:] = 0.5
    first, second, third = settling(list(share), [10, 20, 30])
    assert (first["frames"], first["settled"], first["peak"], first["of"]) == (3, True, 0.3, 10)
    assert (second["frames"], second["settled"]) == (0, True)
    assert (third["frames"], third["settled"], third["of"]) == (10, False, 10)


def test_shares_are_those_of_the_masks(scene):
    found = shares(scene.frames, [knowing("truth", scene)])
    np.testing.assert_allclose(found["truth"], scene.truth.mean(axis=(1, 2)))


def test_only_frames_from_the_first_scored_on_count(scene):
    half = Film(scene.frames, np.where(np.arange(60)[:, None, None] < 30, True, scene.truth), "binary")
    records = race(half, [knowing("right", scene), knowing("wrong", scene, hits=False)], first=30, show=41)
    assert records["right"].counts.f_measure.f == 1.0
    assert records["wrong"].counts.f_measure.f == 0.0
    assert sum(vars(records["right"].counts).values()) == 30 * 48 * 64
    assert len(records["right"].seconds) == 2
    np.testing.assert_array_equal(records["right"].shown, scene.truth[41])


def test_stream_is_scored_like_its_masks(scene):
    record = race(scene, [ours()], first=40)["unmingle"]
    push = ours().begin()
    masks = np.stack([push(frame) for frame in scene.frames])
    assert record.counts.f_measure == f_measure(masks[40:], scene.truth[40:])


def test_table_has_means_over_seeds_and_films_and_ratios(scene):
    seconds = [0.5, 1.0, 1.0]
    good, none = (race(scene, [knowing("m", scene, hits)], first=0)["m"].counts for hits in (True, False))

    def record(counts, factor):
        return FilmScore(counts, [factor * second for second in seconds])

    races = {
        "one": [{REFERENCE: record(found, 2), "mine": record(good, 1)} for found in (good, none)],
        "two": [{REFERENCE: record(good, 2), "mine": record(none, 1), "colour": record(good, 4)}],
    }
    rows = mask_table(races)
    assert rows[REFERENCE]["films"]["one"] == {"f": 0.5, "precision": 0.5, "recall": 0.5, "seeds": [1.0, 0.0]}
    assert rows[REFERENCE]["mean_f"] == 0.75
    assert rows["mine"]["times_reference"] == pytest.approx(0.5 / 0.75)
    assert rows["mine"]["speed"] == 2.0
    assert rows["mine"]["frames_per_second"] == 1.0
    assert (rows["colour"]["mean_f"], rows["colour"]["times_reference"], rows["colour"]["speed"]) == (None, None, 0.5)


def test_peers_are_raw_and_with_median_and_colours_only_where_there_are(scene):
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    records = race(scene, [peer(cv2, "MOG2"), peer(cv2, "KNN", "colour")], first=40, show=50)
    assert set(records) == {"MOG2", "MOG2" + MEDIAN}
    raw = records["MOG2"].shown.astype(np.uint8)
    np.testing.assert_array_equal(records["MOG2" + MEDIAN].shown, cv2.medianBlur(raw, 5).astype(bool))


def test_without_opencv_our_rows_stay_with_a_sentence(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(_rivals, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
    assert {rival.name for rival in rivals(_rivals.opencv())} >= {"unmingle"}
    frames = made_hall(rng)
    frames[60:] += 20
    np.savez(tmp_path / LOBBY, tdiff=np.diff(frames, axis=0, prepend=np.zeros_like(frames[:1])))
    np.testing.assert_array_equal(read_lobby(tmp_path / LOBBY), frames)
    calls = []
    found = reproduce_video(tmp_path, tmp_path, seeds=(0,), scene_size=(60, 48, 64), callback=calls.append)
    assert (calls[-1].done, calls[-1].total) == (460, 460)
    assert json.loads((tmp_path / "video.json").read_text()) == found.figures
    assert found.figures["missing"] == [HALL, LABELLED]
    assert found.figures["lobby"]["switches"] == [60]
    assert set(found.figures["masks"]["rows"]) == {"unmingle", "unmingle, 10 % of the pixels"}
    masks, lamps = EXPERIMENTS["video"].tables(found.figures)
    assert masks[0] == ["F of masks", *found.figures["masks"]["rows"]]
    assert [row[0] for row in masks[1]] == ["water", "shaking", "crowd", "mean", "frames/s"]
    assert masks[1][3][1:] == [f"{row['mean_f']:.3f}" for row in found.figures["masks"]["rows"].values()]
    assert (lamps[0], [row[0] for row in lamps[1]]) == (["lamps, frames until settled", "unmingle"], ["frame 60"])
    page = video_page(found)
    assert "OpenCV is not installed" in page
    assert f"the data hold no {HALL}, {LABELLED}" in page


def test_page_shows_the_figure_and_all_tables(rng, scene):
    taken = hall(made_hall(rng), max_steps=2)
    rows = mask_table({"crowd": [race(scene, [ours()], first=40)]})
    lobby = {"full": 0.05, "switches": [3], "methods": {"unmingle": settling([0.0] * 9, [3])}, "shares": {}}
    figures = {
        "missing": [], "remark": "", "hall": taken.figures, "lobby": lobby,
        "masks": {"first_scored": 40, "seeds": [0], "films": ["crowd"], "rows": rows},
    }  # fmt: skip
    page = video_page(VideoFindings(figures, taken, {}, {"crowd": worst_frame(scene, 40)}))
    assert page.count('alt="five layers: o, frame') == 4
    assert f"{rows['unmingle']['films']['crowd']['f']:.3f}" in page
    assert "frame 3" in page


def test_the_worst_frame_has_most_wrong_pixels(scene):
    found = worst_frame(scene, 40)
    stream = _rivals.Stream()
    masks = [stream.push(frame).mask for frame in scene.frames]
    wrong = [np.count_nonzero(mask != truth) for mask, truth in zip(masks, scene.truth, strict=True)]
    assert found.number == 40 + int(np.argmax(wrong[40:]))
    assert found.counts.false_positives + found.counts.false_negatives == wrong[found.number]
    right = (found.judged == 1.0).all(axis=2)
    np.testing.assert_array_equal(right, masks[found.number] & scene.truth[found.number].astype(bool))


def test_categories_have_the_means_of_their_films():
    score = {"f": 0.5, "precision": 0.4, "recall": 0.8}
    films = {"boats": score, "canoe": {**score, "f": 0.7}, "highway": score}
    head, rows = by_category({"ours": {"films": films, "frames_per_second": 9.6}}, list(films))
    assert head[1:] == ["dynamic background, 2", "baseline, 1", "frames/s"]
    assert rows == [["ours", "0.600 (40 / 80)", "0.500 (40 / 80)", "10"]]
