"""`LearnedRobustPCA` and data or parameters as they should not be."""

import numpy as np
import pytest
from learned_models import M, learned, samples

import unmingle


def extremes():
    rows = samples(60, 13)[0]
    rng = np.random.default_rng(14)
    yield "constant", np.full((40, 6), 3.0)
    yield "zeros", np.zeros((40, 6))
    yield "one sample", rows[:1]
    yield "one feature", rows[:, :1]
    yield "one number", np.array([[5.0]])
    yield "few samples", rows[:4]
    yield "one spike", np.where(np.arange(rows.size).reshape(rows.shape) == 77, 1e6, rows)
    yield "spikes", np.where(rng.random(rows.shape) < 0.02, 1e6 * rows, rows)
    yield "an empty feature", np.where(np.arange(M) == 3, np.nan, rows)
    yield "an empty sample", np.where(np.arange(60)[:, None] == 3, np.nan, rows)
    yield "a loud feature", np.where(np.arange(M) == 3, 1e6 * rows, rows)
    yield "a dead feature", np.where(np.arange(M) == 3, 0, rows)


@pytest.mark.parametrize(("data"), [pytest.param(rows, id=name) for name, rows in extremes()])
@pytest.mark.parametrize(
    ("dtype", "options"), [(np.float32, {}), (np.float64, {"update_dictionary": True, "loss": "imitation"})]
)
def test_extreme_data(data, options, dtype):
    data = data.astype(dtype)
    model = learned(10, window=30, **options).fit(data)
    assert model.n_components_ <= min(data.shape)
    assert model.n_components_ == 0 or data.any()
    for _ in range(2):
        part = model.decompose(data)
        for numbers in (part.codes, part.low_rank, part.outliers, part.sample_gap, model.score_samples(data)):
            assert np.isfinite(numbers).all()
        assert np.isfinite([model.score(data), part.objective, part.gap]).all()
        assert np.isfinite(model.history_).all()
        model.partial_fit(data[:25])


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_data_of_any_scale_can_be_learnt(scale, X, new):
    model, plain = learned().fit(scale * X), learned().fit(X)
    assert np.allclose(model.inverse_transform(model.transform(scale * new)) / scale,
                       plain.inverse_transform(plain.transform(new)), atol=1e-2)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_components": 0}, "n_components must be a whole number"),
        ({"n_layers": 0}, "n_layers must be a whole number"),
        ({"loss": "l2"}, "loss must be one of 'unsupervised', 'imitation', 'source', 'masked', got 'l2'"),
        ({"structure": "half"}, "structure must be one of 'low_rank', 'full', got 'half'"),
        ({"rank_penalty": -1.0}, "rank_penalty must be a finite number above 0"),
        ({"outlier_penalty": np.ones(3)}, "one for each of the 24 features"),
        ({"passes": 0}, "passes must be a finite number above 0, got 0"),
        ({"max_steps": 0}, "^max_steps must be a whole number of at least 1, got 0"),
        ({"max_steps": "all"}, "^max_steps must be a whole number of at least 1, got 'all'"),
        ({"batch_size": 2.5}, "batch_size must be a whole number"),
        ({"step_size": 0.0}, "step_size must be a finite number above 0"),
        ({"validation": 1.0}, "validation must be a number of at least 0 and below 1, got 1.0"),
        ({"validation": None}, "validation must be a number of at least 0 and below 1, got None"),
        ({"window": 0}, "window must be a whole number"),
        ({"window_step": 0}, "window_step must be a whole number"),
        ({"forgetting": 0.0}, "forgetting must be above 0 and at most 1, or 'auto', got 0.0"),
        ({"forgetting": "never"}, "forgetting must be above 0 and at most 1, or 'auto', got 'never'"),
        ({"random_state": "dice"}, "random_state must be a seed"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_parameters_get_one_sentence(options, sentence, X):
    with pytest.raises(ValueError, match=sentence):
        learned(**options).partial_fit(X)
    if "window_step" not in options:
        with pytest.raises(ValueError, match=sentence):
            learned(**options).fit(X)


def test_settings_of_training_are_one_object(X):
    with pytest.raises(ValueError, match=r"training must be an unmingle\.learn\.Training, .*, got 'long'\.$"):
        learned().set_params(training="long").fit(X)


@pytest.mark.parametrize("size", [1e2, 1e4, 1e8])
def test_spikes_in_the_training_data_do_not_spoil_the_network(size):
    made = unmingle.synth.low_rank_plus_sparse(800, 20, 3, noise=0.05, random_state=0)
    X, clean = made.X.copy(), made.X[600:]
    X[:600][np.random.default_rng(0).random((600, 20)) < 0.01] = size
    model = learned(max_steps=300).fit(X[:600])
    untrained = model.encoder_.untrained()
    costs = [encoder.cost(clean, *encoder.encode(clean)).mean() for encoder in (model.encoder_, untrained)]
    assert costs[0] < costs[1]
    spiked = clean.copy()
    spiked[:, 4] = size
    part = model.decompose(spiked)
    assert np.isfinite(part.sample_gap).all()
    np.testing.assert_allclose(part.low_rank + part.outliers + part.residual, spiked, rtol=1e-12, atol=1e-12)
    assert (part.outliers[:, 4] > size / 2).all()
