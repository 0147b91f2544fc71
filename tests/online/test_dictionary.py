"""The dictionary of a stream: its steps solve (9), and components that are opened or dropped keep it solved."""

from dataclasses import replace

import numpy as np
import pytest
from stream_samples import STEPS

from unmingle.core.linalg.units import Units
from unmingle.core.online.dictionary import Dictionary
from unmingle.core.online.statistics import Statistics, direct_step

Q, M, LAM_STAR = 3, 30, 0.5


def block(seed, n=40, q=Q):
    rng = np.random.default_rng(seed)
    codes = rng.standard_normal((n, q))
    return codes, codes @ np.random.default_rng(99).standard_normal((q, M)) + 0.01 * rng.standard_normal((n, M))


def made(kind):
    """A dictionary that solves (9) for a first block."""
    sums = Statistics.of(*block(0))
    return Dictionary.empty(M, np.float64, kind).replaced_by(direct_step(sums, LAM_STAR), sums).restarted(LAM_STAR)


def learnt(kind, blocks=5):
    dictionary = made(kind)
    for seed in range(1, blocks + 1):
        codes, cleaned = block(seed)
        sums = Statistics.of(codes, cleaned, 0.99)
        dictionary = dictionary.add(sums).step(dictionary.statistics, sums, LAM_STAR)
        dictionary = replace(dictionary, code=codes[-1])
    return dictionary


def stationarity(dictionary):
    """How far (9) is from solved."""
    dictionary = dictionary.with_steps("direct")
    return dictionary.statistics.stationarity(dictionary.components, LAM_STAR)


@pytest.mark.parametrize(("kind", "limit"), [("direct", 1e-12), ("recursive", 1e-12), ("block", 1e-1)])
def test_steps_solve_for_all_sums(kind, limit):
    whole = Statistics.of(*block(0))
    for seed in range(1, 6):
        whole = whole.update(*block(seed), 0.99)
    dictionary = learnt(kind)
    assert np.allclose(dictionary.statistics.A, whole.A, rtol=1e-12)
    assert whole.stationarity(dictionary.components, LAM_STAR) < limit
    assert dictionary.window == pytest.approx(whole.weight)


@pytest.mark.parametrize("kind", STEPS)
def test_recursive_steps_alone_keep_no_sum_of_samples(kind):
    assert learnt(kind).statistics.B.shape == (Q, 0 if kind == "recursive" else M)


@pytest.mark.parametrize("kind", STEPS)
def test_balance_keeps_the_low_rank_part_of_the_last_sample(kind):
    dictionary = learnt(kind)
    before = dictionary.code @ dictionary.components
    dictionary = dictionary.balance(LAM_STAR)
    assert np.allclose(dictionary.code @ dictionary.components, before, atol=0.02 * np.abs(before).max())
    products = dictionary.components @ dictionary.components.T
    assert np.abs(products - np.diag(products.diagonal())).max() < 0.01 * products.max()
    assert dictionary.unbalanced == 0


@pytest.mark.parametrize("kind", STEPS)
def test_balance_drops_what_faded(kind):
    dictionary = learnt(kind)
    dictionary = dictionary.with_direction(np.eye(M)[0], 1e-5)
    assert len(dictionary) == Q + 1
    dictionary = dictionary.balance(LAM_STAR)
    assert len(dictionary) == Q


@pytest.mark.parametrize("kind", STEPS)
def test_a_direction_that_is_opened_is_orthogonal_in_the_sums(kind):
    dictionary, direction = learnt(kind), np.eye(M)[0]
    dictionary = dictionary.with_direction(direction, 9.0)
    assert np.array_equal(dictionary.components[-1], 3.0 * direction)
    assert (dictionary.code[-1], dictionary.statistics.A[-1, -1]) == (0.0, 9.0)
    assert not dictionary.statistics.A[-1, :-1].any()
    assert stationarity(dictionary) < 1e-12


@pytest.mark.parametrize(("most", "size"), [(10, 2 + Q), (4, 4), (2, 2), (1, 2)])
@pytest.mark.parametrize("kind", STEPS)
def test_other_components_come_first_as_far_as_there_is_room(kind, most, size):
    dictionary, sums = learnt(kind), Statistics.of(*block(7, 20, 2))
    components = direct_step(sums, LAM_STAR)
    dictionary = dictionary.behind(components, sums, most).restarted(LAM_STAR).completed()
    assert len(dictionary) == size
    assert np.array_equal(dictionary.components[:2], components)
    assert dictionary.window == 20
    assert stationarity(dictionary) < 1e-12


@pytest.mark.parametrize("kind", STEPS)
def test_units_are_a_matter_of_powers_of_two(kind):
    """Codes and components shrink by the root, and (9) stays solved."""
    dictionary, changed = learnt(kind), learnt(kind).to_units(Units(4.0))
    assert np.array_equal(4 * changed.components, dictionary.components)
    assert np.array_equal(16 * changed.statistics.A, dictionary.statistics.A)
    assert changed.step_penalty == dictionary.step_penalty / 16
    dictionary, changed = dictionary.with_steps("direct"), changed.with_steps("direct")
    assert np.allclose(direct_step(changed.statistics, LAM_STAR / 16) * 4, direct_step(dictionary.statistics, LAM_STAR))


def test_codes_are_the_same_from_anywhere():
    dictionary = learnt("direct")
    rows, near = block(8)[1], np.arange(40) % 2 == 0
    lam = np.full(M, 0.3)
    cold = dictionary.encode(rows, np.zeros(40, bool), LAM_STAR, lam)
    assert np.allclose(dictionary.encode(rows, near, LAM_STAR, lam), cold, atol=1e-3)
    assert np.allclose(dictionary.encode(rows, near, LAM_STAR, lam, n_layers=200), cold, atol=1e-3)
