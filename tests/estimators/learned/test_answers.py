"""Answers of a trained `LearnedRobustPCA`: what they are, how good, and that they need no torch."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from learned_models import M, Q, assert_same, learned, samples
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from unmingle.core.solvers.projection import newton
from unmingle.metrics import relative_error, subspace_angle


def test_transform_is_the_encoder(new, model):
    codes, outliers = model.encoder_.encode(new)
    assert np.array_equal(model.transform(new), codes)
    part = model.decompose(new)
    assert np.array_equal(part.codes, codes)
    assert np.array_equal(part.outliers, outliers)
    assert np.array_equal(model.inverse_transform(codes), codes @ model.components_)


def test_the_parts_make_up_the_sample(new, model):
    part = model.decompose(new)
    assert np.allclose(part.low_rank + part.outliers + part.residual, new, rtol=0, atol=1e-12)
    assert np.array_equal(part.low_rank, model.inverse_transform(part.codes))
    cost = model.encoder_.cost(new, part.codes, part.outliers)
    assert part.objective == pytest.approx(cost.sum())
    assert part.gap == part.sample_gap.max()


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_gap_bounds_how_far_an_answer_is_from_the_exact_one(missing, new, model):
    data = new.copy()
    data[np.random.default_rng(3).random(new.shape) < missing] = np.nan
    part = model.decompose(data)
    lam = np.full(M, model.outlier_penalty_)
    atoms = np.array(model.components_)
    codes = next(newton(data, atoms, model.rank_penalty_, lam, tol=1e-13)).codes
    misfit = np.nan_to_num(data - codes @ atoms)
    outliers = misfit - np.clip(misfit, -lam, lam)
    exact, own = (model.encoder_.cost(data, *answer) for answer in ((codes, outliers), (part.codes, part.outliers)))
    assert (own >= exact * (1 - 1e-12)).all()
    assert (own - exact <= part.sample_gap * own + 1e-12).all()
    assert part.sample_gap.max() < 1
    assert np.median(part.sample_gap * own / (own - exact)) < 20, "a bound, not a void one"


def test_outliers_are_taken_off(model):
    dirty, clean, outliers = samples(200, 4)
    assert relative_error(model.decompose(dirty).low_rank, clean) < 0.5 * relative_error(dirty, clean)
    found = np.abs(model.decompose(dirty).outliers)
    assert found[np.abs(outliers) > 3].min() > 1


def test_missing_entries_are_imputed(model):
    data, clean, _ = samples(200, 5)
    holes = np.random.default_rng(6).random(data.shape) < 0.15
    holes[7] = True
    part = model.decompose(np.where(holes, np.nan, data))
    rest = holes & (np.arange(200) != 7)[:, None]
    assert np.std((part.low_rank - clean)[rest]) < 0.5 * np.std(clean[rest])
    assert not part.outliers[holes].any()
    assert not part.codes[7].any()
    learnt = learned().fit(np.where(holes, np.nan, data))
    assert subspace_angle(learnt.components_, model.components_) < 5
    assert learnt.history_[:, 1].min() < learnt.history_[0, 1]


def test_frames_in_frames_out(X, new):
    columns = [f"sensor {k}" for k in range(M)]
    model = learned().fit(pd.DataFrame(X, columns=columns))
    frame = pd.DataFrame(new, columns=columns, index=[f"day {k}" for k in range(len(new))])
    part = model.decompose(frame)
    for one in (part.low_rank, part.outliers, part.residual):
        assert list(one.columns) == columns
        assert list(one.index) == list(frame.index)
    assert np.allclose(part.low_rank + part.outliers + part.residual, frame)
    assert np.array_equal(part.outliers.to_numpy(), learned().fit(X).decompose(new).outliers)
    codes = model.set_output(transform="pandas").transform(frame)
    assert list(codes.columns) == [f"learnedrobustpca{k}" for k in range(Q)]


def test_two_threads_are_as_good_as_one(model):
    many = samples(1000, 7)[0]
    codes, outliers = model.encoder_.encode(many, n_jobs=2)
    assert np.allclose(codes, model.transform(many), rtol=0, atol=1e-12)
    assert np.allclose(outliers, model.decompose(many).outliers, rtol=0, atol=1e-12)


def test_strange_samples_score_low(model):
    ordinary, _, _ = samples(300, 8)
    strange = 5 * np.random.default_rng(9).standard_normal((50, M))
    assert np.median(model.score_samples(strange)) < np.quantile(model.score_samples(ordinary), 0.05)
    assert model.score(ordinary) > model.score(strange)


def test_pipeline_clone_and_pickle(X, new, model):
    y = X @ np.linalg.pinv(np.random.default_rng(99).standard_normal((Q, M)))[:, 0]
    pipe = make_pipeline(learned(), LinearRegression()).fit(X, y)
    assert pipe.predict(new).shape == (200,)
    again = pickle.loads(pickle.dumps(model))
    assert_same(again, model)
    assert np.array_equal(again.transform(new), model.transform(new))
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        clone(model).transform(new)


WITHOUT_TORCH = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoTorch())
import numpy as np, unmingle
folder = sys.argv[1]
X, model = np.load(folder + "/X.npy"), unmingle.load(folder + "/m.safetensors")
part = model.decompose(X)
np.savez(folder + "/answer.npz", codes=model.transform(X), outliers=part.outliers, gap=part.sample_gap)
model.score_samples(X), model.save(folder + "/again.safetensors")
for learn in (unmingle.LearnedRobustPCA().fit, unmingle.LearnedRobustPCA().partial_fit, model.partial_fit):
    try:
        learn(X)
    except ImportError as error:
        print(error)
assert "torch" not in sys.modules
"""


def test_answers_need_no_torch(new, model, tmp_path):
    np.save(tmp_path / "X.npy", new)
    model.save(tmp_path / "m.safetensors")
    command = [sys.executable, "-W", "error", "-c", WITHOUT_TORCH, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == 3 * ["This needs PyTorch, which is not installed: pip install torch"]
    answer, part = np.load(tmp_path / "answer.npz"), model.decompose(new)
    for name, expected in (("codes", part.codes), ("outliers", part.outliers), ("gap", part.sample_gap)):
        assert np.allclose(answer[name], expected, rtol=0, atol=1e-12)
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "m.safetensors").read_bytes()
