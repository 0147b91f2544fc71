"""Files of models with numbers as large as there are: refused, or as good as any. `make fuzz` tries more of them."""

import numpy as np
import pytest
from fuzz_files import frames, rows, write_models
from loaded_models import use_loaded, with_huge_numbers

import unmingle
from unmingle import OnlineRobustNMF, OnlineRobustPCA, store
from unmingle.apps import audio
from unmingle.apps.audio.nonnegative import Adaptive
from unmingle.apps.video import Stream

COUNT = 400


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    write_models(folder)
    return sorted(folder.glob("*.safetensors"))


def test_good_models_are_used(models):
    for path in models:
        use_loaded(unmingle.load(path))


@pytest.mark.filterwarnings("ignore:The projection of some samples", "ignore::RuntimeWarning")
def test_huge_numbers_are_refused_or_do_no_harm(models, tmp_path):
    path, loaded = tmp_path / "huge.safetensors", 0
    for seed in range(COUNT):
        rng = np.random.default_rng(seed)
        path.write_bytes(with_huge_numbers(models[rng.integers(len(models))], rng))
        try:
            model = unmingle.load(path)
        except store.StoreError:
            continue
        use_loaded(model)
        loaded += 1
    assert 0.02 * COUNT < loaded < 0.5 * COUNT


@pytest.mark.parametrize("kind", [OnlineRobustPCA, OnlineRobustNMF])
@pytest.mark.parametrize(("penalty", "size"), [(2.3e-308, 1.0), ("auto", np.inf)], ids=str)
def test_stream_that_could_not_learn_is_as_before(kind, penalty, size, tmp_path):
    X = np.abs(rows(120))
    model = kind(n_components=2, start_size=40)
    for known in (0, 20, 80):  # before any sample, at the start, and later
        if known:
            model.partial_fit(X[:known])
        before = {name: value for name, value in vars(model).items() if name.endswith("_")}
        state = store.take_apart(model._to_store()) if known else None
        model.set_params(rank_penalty=penalty)
        with np.errstate(over="ignore"), pytest.raises(ValueError, match=r"[a-z]\.?"):
            model.partial_fit(X[80:] * size)
        assert before == {name: value for name, value in vars(model).items() if name.endswith("_")}
        model.set_params(rank_penalty="auto")
        if known:
            again = store.take_apart(model._to_store())
            assert again[0] == state[0]
            assert all(np.array_equal(array, again[1][name], equal_nan=True) for name, array in state[1].items())
            model.save(tmp_path / "model.safetensors")
            assert unmingle.load(tmp_path / "model.safetensors").n_samples_seen_ == model.n_samples_seen_


def test_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    model = unmingle.RobustPCA(2).fit(rows())
    model.rank_penalty_ = 1e300
    with pytest.raises(store.StoreError, match=r"This RobustPCA cannot be stored: fitted\.rank_penalty_ should be"):
        model.save(tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


def test_video_stream_is_as_before_a_frame_it_refuses(tmp_path):
    stream = Stream(start_size=10)
    with pytest.raises(ValueError, match="known_foreground"):
        stream.push(frames(1)[0], known_foreground=np.ones(3))
    assert stream.state.format is None
    assert stream.state.n_frames == 0
    for frame in frames(20):
        stream.push(frame)
        with pytest.raises(ValueError, match="The frame has"):
            stream.push(frame[:-1])
    assert stream.state.n_frames == 20
    stream.save(tmp_path / "stream.safetensors")
    with pytest.raises(ValueError, match="false_alarm_rate must be a number above 0"):
        Stream(stream.settings, false_alarm_rate=1e-320)


def test_young_video_stream_with_frames_of_another_size_is_refused(tmp_path):
    stream = Stream()
    stream.push(frames(1)[0])
    content = stream._to_store()
    path = tmp_path / "stream.safetensors"
    for first in (content["first"][:, :-1], content["first"][:, :0], content["first"][:0, :5]):
        store.save(path, "VideoStream", {**content, "first": first})
        with pytest.raises(store.StoreError, match="does not hold a complete VideoStream: frames of shape"):
            unmingle.load(path)


def test_young_video_stream_with_more_frames_than_it_waits_for_is_refused(tmp_path):
    """Its first background would be learnt from all of them, at the cube of their number."""
    stream = Stream(start_size=5)
    for frame in frames(4):
        stream.push(frame)
    content = stream._to_store()
    store.save(tmp_path / "s.safetensors", "VideoStream", {**content, "first": content["first"].repeat(9, axis=0)})
    with pytest.raises(store.StoreError, match="starts from 5 frames cannot hold 36"):
        unmingle.load(tmp_path / "s.safetensors")


def test_components_beyond_measure_beside_the_noise_are_refused():
    model = unmingle.RobustPCA(2, debias=True).fit(rows())
    model.cells_ = model.cells_._replace(components=1e200 * model.cells_.components)
    with pytest.raises(ValueError, match="too large beside the noise of its columns"):
        model.decompose(rows(), debias=True)


def test_sound_stream_is_as_before_a_block_it_refuses(tmp_path):
    stream = audio.Stream(8000, method=Adaptive(2))
    rng = np.random.default_rng(0)
    stream.push(rng.standard_normal(3000))
    before = store.take_apart(stream._to_store())
    for block, said in (
        (np.full(100, 1e200), "at most 1e"),
        (np.full(100, np.nan), "finite"),
        (np.ones((9, 3)), "channels"),
    ):
        with pytest.raises(ValueError, match=said):
            stream.push(block)
    after = store.take_apart(stream._to_store())
    assert before[0] == after[0]
    assert all(np.array_equal(array, after[1][name]) for name, array in before[1].items())
