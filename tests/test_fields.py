"""Rules that stand at fields: one declaration for checks, files and the bounds of options."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import pytest

from unmingle import store
from unmingle._fields import bounds_of, check_settings, default_of, from_store, record_of, rules_of, to_store
from unmingle._rules import ArrayOf, Count, Each, Flag, MismatchError, Number, OneOf, Record, Row, check, maybe
from unmingle._types import Float64Array


@dataclass(frozen=True)
class Light:
    gain: Annotated[float, Number(0.0, 4.0, above=True)] = 1.0
    recent: Annotated[tuple[float, ...], maybe(Number())] | None = None


@dataclass(frozen=True, eq=False)
class Scene:
    count: Annotated[int, Count(1, 32)] = 5
    kind: Annotated[str, OneOf("still", "moving")] = "still"
    frozen: Annotated[bool, Flag()] = False
    place: Annotated[Float64Array, ArrayOf(("float64",), 2)] | None = None
    light: Light = Light()
    helper: object = None
    patience: Annotated[int | None, maybe(Count(1))] = 500

    def __post_init__(self) -> None:
        check_settings(self)


class Sums(NamedTuple):
    A: Float64Array
    weight: float


@dataclass(frozen=True, eq=False)
class Learnt:
    sums: Annotated[Sums, Record({"A": ArrayOf(("float64",), "q", "q"), "weight": Number(0.0)})]


def test_named_tuples_are_tables_in_a_file():
    content = to_store(Learnt(Sums(np.eye(2), 3.0)))
    check(content, record_of(Learnt))
    assert set(content["sums"]) == {"A", "weight"}
    again = from_store(Learnt, content).sums
    assert (type(again), again.weight, again.A.tolist()) == (Sums, 3.0, np.eye(2).tolist())
    with pytest.raises(MismatchError, match="weight"):
        check({"sums": content["sums"] | {"weight": -1.0}}, record_of(Learnt))


def test_fields_without_a_rule_are_not_stored():
    assert "helper" not in rules_of(Scene)
    assert set(to_store(Scene())) == {"count", "kind", "frozen", "light", "patience"}


class Pair(NamedTuple):
    low: Annotated[float, Number(0.0)]
    high: Annotated[float | None, maybe(Number(0.0))] = None


@dataclass(frozen=True)
class Holder:
    pair: Pair
    history: Annotated[list[list[float]], Each(Row(Count(), Number()))]


@pytest.mark.parametrize("pair", [Pair(1.0), Pair(1.0, 2.0)])
def test_named_tuples_have_rules_at_their_fields_too(pair):
    content = to_store(Holder(pair, [[1, 0.5]]))
    assert set(content["pair"]) == ({"low"} if pair.high is None else {"low", "high"})
    check(content, record_of(Holder))
    assert from_store(Holder, content).pair == pair
    with pytest.raises(MismatchError, match=r"pair\.low should be"):
        check({**content, "pair": {"low": -1.0}}, record_of(Holder))


@pytest.mark.parametrize("place", [None, np.array([1.0, 2.0])])
def test_what_is_stored_comes_back(place, tmp_path):
    scene = Scene(np.int64(3), "moving", True, place, Light(0.5), patience=None)
    content = to_store(scene)
    store.save(tmp_path / "x.safetensors", "Scene", content, record_of(Scene))
    check(content, record_of(Scene))
    back = from_store(Scene, content, helper="here")
    assert (back.count, back.kind, back.frozen, back.light, back.patience) == (3, "moving", True, Light(0.5), None)
    assert back.helper == "here"
    assert np.array_equal(back.place, place) if place is not None else back.place is None


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"count": 0}, "count must be a whole number from 1 to 32, got 0."),
        ({"count": True}, "count must be a whole number from 1 to 32, got True."),
        ({"count": 2.0}, "count must be a whole number from 1 to 32, got 2.0."),
        ({"kind": "odd"}, "kind must be 'still' or 'moving', got 'odd'."),
        ({"patience": 0}, "patience must be None or a whole number of at least 1, got 0."),
    ],
)
def test_wrong_settings_are_one_sentence(given, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        Scene(**given)
    assert str(caught.value) == sentence


def test_a_file_that_breaks_a_rule_names_the_field():
    content = to_store(Scene())
    with pytest.raises(MismatchError, match=r"light\.gain should be a number above 0 and at most 4, not 0"):
        check({**content, "light": {"gain": 0.0}}, record_of(Scene))


def test_bounds_are_those_of_the_rule():
    assert bounds_of(Scene, "count") == (1, 32)
    assert bounds_of(Scene, "patience") == (1, None)
    assert bounds_of(Light, "gain") == (0.0, 4.0)
    assert default_of(Scene, "light") == Light()
