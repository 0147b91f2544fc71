"""Files from strangers: every parameter and every array of every kind has its rule, and nothing else is read."""

import json
from copy import deepcopy
from functools import partial

import numpy as np
import pytest
from fuzz_files import M, frames, places, rows, training, write_models

import unmingle
from unmingle import store
from unmingle._rules import (
    FLOATS,
    ArrayOf,
    Count,
    Each,
    Either,
    Flag,
    MismatchError,
    Number,
    OneOf,
    Record,
    Row,
    Size,
    Table,
    Text,
    check,
    maybe,
)
from unmingle.apps.video import Stream
from unmingle.core.encoder.encoder import MOST_LAYERS, Encoder
from unmingle.store import StoreError

RULES = [
    (Count(1, 5), [1, 5], [0, 6, True, 1.0, "1", None, 10**400]),
    (Number(0.0, 1.0), [0, 1, 0.5], [True, -1e-9, 2, np.nan, np.inf, "0", None, 10**400]),
    (Number(-np.inf, np.inf, nan=True), [np.nan, np.inf, 3], ["nan", False, []]),
    (Flag(), [True, False, 0, 1], [2, 0.0, None, "true"]),
    (Text(), ["", "a"], [1, None, ["a"]]),
    (Table(), [{}, {"a": [1]}], [[], None, {"a": {"b": np.ones(2)}}]),
    (OneOf(None, "a", 3), [None, "a", 3], [3.0, True, "b", 0]),
    (Either(OneOf("auto"), Number(1.0)), ["auto", 2], ["never", 0.5, [1]]),
    (maybe(Count()), [None, 2], [-1, 0.5]),
    (Each(Count(), Count(1, 2)), [[1], [1, 2]], [[], [1, 2, 3], [None], {"a": 1}, "12"]),
    (Row(Count(), Text()), [[1, "a"]], [[1], ["a", 1], [1, "a", 2]]),
    (Record({"a": Flag(), "b": Record({"c": Text()})}), [{"a": True, "b": {"c": ""}}], [{}, {"a": True}, [], None]),
]


@pytest.mark.parametrize(("rule", "good", "bad"), RULES, ids=range(len(RULES)))
def test_a_rule_tells_right_from_wrong(rule, good, bad):
    for value in good:
        rule.check("x", value, {})
    for value in bad:
        with pytest.raises(MismatchError, match="x"):
            rule.check("x", value, {})


ARRAYS = Record(
    {
        "U": ArrayOf(FLOATS, "q", "m", alike="U"),
        "deep": Record({"s": ArrayOf(FLOATS, "q", alike="U")}, {"t": Either(Count(), ArrayOf(FLOATS, "m"))}),
        "n": Size("m"),
    }
)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"deep.s": np.zeros(3)},
            r"'deep\.s' should be .* of shape \(q\).* \(here q = 2, type float64\); got float64 of shape \(3,\)",
        ),
        ({"deep.s": np.zeros(2, np.float32)}, "type float64"),
        ({"deep.s": np.zeros((2, 1))}, "shape"),
        ({"deep.s": np.zeros(2, int)}, "float32 or float64"),
        ({"deep.s": 3}, "array 'deep.s' should be .*; got 3"),
        ({"deep.t": np.zeros(3)}, r"deep\.t should be a whole number .* or an array .*, not float64 of shape \(3,\)"),
        ({"deep.t": -1}, "not -1"),
        ({"deep": 1}, "deep should be a table of named values, not 1"),
        ({"U": np.full((2, 4), np.nan)}, "'U' should be an array .* from "),
        ({"U": np.full((2, 4), np.inf)}, "'U'"),
        ({"U": {"s": np.ones(2)}}, r"'U' should be .*; got a table of \['s'\]"),
        ({"U": None}, "'U' is missing"),
        ({"deep.s": None}, "'deep.s' is missing"),
        ({"extra": np.zeros(2)}, "'extra' is not part of it"),
        ({"deep.extra": np.zeros(2)}, "'deep.extra' is not part of it"),
        ({"n": 5}, "n should be the size m of the arrays, not 5"),
        ({"n": True}, "n should be"),
        ({"n": np.array(4)}, "n should be the size m of the arrays, not int64 4"),
        ({"more": 1}, "'more' is not part of it"),
    ],
)
def test_sizes_and_types_agree_all_over_a_file(change, sentence):
    content = {"n": 4, "U": np.ones((2, 4)), "deep": {"s": np.ones(2)}}
    check(content, ARRAYS)
    for good in (7, np.ones(4)):
        check({**content, "deep": {"s": np.ones(2), "t": good}}, ARRAYS)
    for path, value in change.items():
        *way, name = path.split(".")
        holder = content[way[0]] if way else content
        holder[name] = value
        if value is None:
            del holder[name]
    with pytest.raises(MismatchError, match=sentence):
        check(content, ARRAYS)


def test_bounds_of_arrays():
    rule = ArrayOf(("float64",), "n", low=0.0, high=1.0, nan=True)
    for good in ([0.0, 1.0], [np.nan, 0.5], [np.nan], []):
        assert rule.fits(np.array(good), {})
    for bad in ([-0.1], [1.1, np.nan], [np.inf]):
        assert not rule.fits(np.array(bad), {})
    either = ArrayOf(FLOATS, ("m", 0))
    assert [either.fits(np.zeros(n), {"m": 3}) for n in (0, 3, 2)] == [True, True, False]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    write_models(folder)
    return {path.stem: path for path in folder.iterdir()}


NAMES = [
    "robust", "each", "start", "follow", "recursive", "learned", "window", "encoder", "full", "signed", "young",
    "video", "part", "colour",
]  # fmt: skip


def refused(path, kind, parameters, arrays):
    """The sentence with which a file is refused, by `load` and by the command line."""
    store.write(path, kind, parameters, arrays)
    with pytest.raises(StoreError) as caught:
        unmingle.load(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path} does not hold a complete {kind}")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def replaced(parameters, way, value):
    """Parameters with another value at the end of a way."""
    changed = deepcopy(parameters)
    holder = changed
    for key in way[:-1]:
        holder = holder[key]
    holder[way[-1]] = value
    return changed


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_of_a_file_has_a_rule(models, name, tmp_path):
    kind, _, parameters, arrays = store.read(models[name])
    ways = [way for way in places(parameters) if way and "card_" not in way[:-1]]
    assert len(ways) >= 4
    for way in ways:
        wrong = replaced(parameters, way, [{"surprise": 10**12}])
        assert str(way[0]) in refused(tmp_path / "wrong.safetensors", kind, wrong, arrays)


@pytest.mark.parametrize("name", NAMES)
def test_every_array_of_a_file_has_a_rule(models, name, tmp_path):
    kind, _, parameters, arrays = store.read(models[name])
    path = tmp_path / "wrong.safetensors"
    for array in arrays:
        others = {other: part for other, part in arrays.items() if other != array}
        whole = np.zeros(arrays[array].shape, np.int8)
        assert array in ("region", "fitted.column_scale_", "scene.lights.pictures") or refused(
            path, kind, parameters, others
        )
        assert array in refused(path, kind, parameters, others | {array: whole})
        assert refused(path, kind, parameters, others | {array: arrays[array][..., None]})
        if (
            arrays[array].dtype.kind == "f"
            and arrays[array].size
            and array not in ("fitted.history_", "fitted.explained_variance_ratio_")
        ):
            assert array in refused(path, kind, parameters, others | {array: np.full_like(arrays[array], -np.inf)})
    assert "extra" in refused(path, kind, parameters, arrays | {"extra": np.zeros(3)})


@pytest.mark.parametrize("name", NAMES)
def test_good_files_come_back_in_every_bit(models, name, tmp_path):
    unmingle.load(models[name]).save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == models[name].read_bytes()


@pytest.mark.parametrize(
    ("name", "way"),
    [("encoder", ("n_layers",)), ("learned", ("encoder", "n_layers")), ("learned", ("init", "n_layers")),
     ("recursive", ("init", "n_layers")), ("video", ("settings", "n_layers")), ("video", ("settings", "n_components"))],
)  # fmt: skip
def test_work_without_end_is_refused(models, name, way, tmp_path):
    kind, _, parameters, arrays = store.read(models[name])
    sentence = refused(tmp_path / "endless.safetensors", kind, replaced(parameters, way, 10**12), arrays)
    assert f"{'.'.join(way)} should be " in sentence
    assert "a whole number from 1 to " in sentence
    assert "not 1000000000000" in sentence


def test_more_components_than_can_be_compiled_are_refused(models, tmp_path):
    kind, _, parameters, arrays = store.read(models["video"])
    components = arrays["scene.model.components"]
    arrays["scene.model.components"] = np.resize(components, (400, components.shape[1]))
    arrays["scene.codes"] = arrays["scene.model.mean_codes"] = np.zeros(400, np.float32)
    arrays["scene.model.squares"], arrays["scene.model.step"] = np.eye(400), np.eye(400, dtype=np.float32)
    assert "1 to 100 components, not 400" in refused(tmp_path / "many.safetensors", kind, parameters, arrays)


def test_what_cannot_be_loaded_cannot_be_made():
    make = partial(Encoder.from_components, np.eye(2, 5), rank_penalty=0.1, outlier_penalty=0.1)
    with pytest.raises(ValueError, match=f"n_layers must be a whole number from 1 to {MOST_LAYERS}"):
        make(n_layers=MOST_LAYERS + 1)
    with pytest.raises(ValueError, match="all be of float32, or all of float64"):
        Encoder(np.eye(2, 5), 0.1, np.ones(5, np.float32), make(n_layers=1).layers, 1)
    for wrong in ({"n_components": 101}, {"n_layers": MOST_LAYERS + 1}):
        with pytest.raises(ValueError, match="must be a whole number from 1 to "):
            Stream(**wrong)
    many = Encoder.from_components(np.eye(101, 120), rank_penalty=0.1, outlier_penalty=0.1, n_layers=1)
    with pytest.raises(ValueError, match="encoder must have 1 to 100 components, got 101"):
        Stream(encoder=many)


def test_a_stream_that_could_not_go_on_is_refused(models, tmp_path):
    path = tmp_path / "stuck.safetensors"
    kind, _, parameters, arrays = store.read(models["follow"])
    tracker = ("stream", "tracker")
    silent = replaced(parameters, (*tracker, "noise", "level"), 0.0)
    assert "needs components, a noise level and an age" in refused(path, kind, silent, arrays)
    kind, _, parameters, arrays = store.read(models["start"])
    assert "fewer samples" in refused(path, kind, replaced(parameters, (*tracker, "start_size"), 3), arrays)


def test_any_other_failure_is_told_as_one_of_the_file(models, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(Encoder, "_from_store", fail)
    with pytest.raises(StoreError, match=r"encoder\.safetensors does not hold a complete Encoder\.$"):
        unmingle.load(models["encoder"])


def test_a_spoilt_checkpoint_of_training_is_refused(models, tmp_path):
    stored = store.read(models["work"])
    path = tmp_path / "work.training"
    for way in [way for way in places(stored.parameters) if way and way[0] != "setup"]:
        store.write(path, "Training", replaced(stored.parameters, way, [{"surprise": -1}]), stored.arrays)
        with pytest.raises(StoreError, match=f"complete Training: .*{way[0]}"):
            training(path)()
    for name, array in stored.arrays.items():
        store.write(path, "Training", stored.parameters, stored.arrays | {name: array[..., None]})
        with pytest.raises(ValueError, match=r"complete Training|belongs to other data"):
            training(path)()
    store.write(path, "Training", stored.parameters, stored.arrays)
    training(path)(callback=lambda progress: True)


def test_headers_deeper_than_any_are_refused(tmp_path):
    deep = 1
    for _ in range(300):
        deep = {"a": deep}
    path = tmp_path / "deep.safetensors"
    with pytest.raises(StoreError, match="more than 20 levels deep"):
        store.write(path, "Encoder", deep, {})
    entry = json.dumps({"kind": "Encoder", "format": 1, "parameters": deep, "checksum": ""})
    path.write_bytes(store.to_safetensors({"a": np.zeros(M)}, metadata={"unmingle": entry}))
    for reader in (store.read, store.peek, unmingle.load):
        with pytest.raises(StoreError, match="its header is invalid"):
            reader(path)


class Panic(BaseException):
    __module__ = "pyo3_runtime"


@pytest.mark.parametrize(
    ("error", "sentence"), [(Panic("bug"), "is damaged"), (MemoryError(), "does not fit")], ids=repr
)
def test_libraries_that_give_up_are_told_as_errors_of_the_file(models, monkeypatch, error, sentence):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(store, "safe_open", fail)
    with pytest.raises(StoreError, match=sentence):
        unmingle.load(models["encoder"])


def test_frames_go_on_after_loading(models):
    stream = unmingle.load(models["video"])
    assert stream.push(frames(1)[0]).state == "watching"
    assert unmingle.load(models["follow"]).partial_fit(rows(5)).n_samples_seen_ == 85
