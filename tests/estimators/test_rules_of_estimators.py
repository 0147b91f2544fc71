"""What parameters may be is declared once for each estimator: ``fit`` and files keep to the same."""

import numpy as np
import pytest

import unmingle
from unmingle._fields import limits_of
from unmingle._rules import Count, Flag, Number, OneOf

ESTIMATORS = [
    unmingle.RobustPCA,
    unmingle.RobustNMF,
    unmingle.OnlineRobustPCA,
    unmingle.OnlineRobustNMF,
    unmingle.LearnedRobustPCA,
    unmingle.LearnedRobustNMF,
    unmingle.Aligner,
]
EXACT = ESTIMATORS[:4]
DATA = np.abs(np.random.default_rng(0).standard_normal((60, 8)))


def simple_rules(estimator):
    """Parameters that are checked alone, with the rules that say what they may be."""
    for name, rule in estimator._parameter_rules.items():
        if name not in ("rank_penalty", "outlier_penalty", "init", "random_state"):
            yield name, rule


def outside(rule):
    """Values that break a rule."""
    parts = [rule, *getattr(rule, "rules", ())]
    yield from ("no such thing", [1], object())
    least, most = limits_of(rule)
    if any(isinstance(one, Count | Number) for one in parts):
        yield from (True, np.nan, -1e300)
        yield from (bound for bound in (least and least - 1, most and most + 1) if bound is not None)
    if any(isinstance(one, Flag | OneOf) for one in parts):
        yield 2.5


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: one.__name__)
def test_every_parameter_and_attribute_has_a_rule(estimator):
    assert set(estimator._parameter_rules) == set(estimator().get_params())
    for name, value in estimator().get_params().items():
        assert estimator._parameter_rules[name].fits(value, {}), name


@pytest.mark.parametrize("estimator", EXACT, ids=lambda one: one.__name__)
def test_what_breaks_its_rule_is_refused_by_fit_in_one_sentence(estimator):
    for name, rule in simple_rules(estimator):
        for value in outside(rule):
            with pytest.raises(ValueError, match=f"^{name} must be .*, got ") as caught:
                estimator(**{name: value}).fit(DATA)
            assert str(caught.value).endswith(f"got {value!r}.")


@pytest.mark.parametrize("estimator", EXACT, ids=lambda one: one.__name__)
def test_what_fit_takes_a_file_takes(estimator, tmp_path):
    odd = {
        "n_components": np.int64(2),
        "tol": np.float32(0.01),
        "contamination": 0.5,
        "debias": np.True_,
        "max_iter": 40,
    }
    odd |= {"forgetting": 1, "start_size": np.int32(30), "batch_size": 7, "scale": "columns", "n_layers": np.int8(3)}
    given = {name: value for name, value in odd.items() if name in estimator._parameter_rules}
    model = estimator(**given)
    model.fit(DATA).save(tmp_path / "model.safetensors")
    loaded = unmingle.load(tmp_path / "model.safetensors").get_params()
    assert all(loaded[name] == value for name, value in given.items())
