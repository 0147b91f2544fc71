import json
import os
import stat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import save_file

import unmingle
from unmingle import store
from unmingle._rules import MismatchError
from unmingle.store import StoreError

DTYPES = ["float64", "float32", "float16", "int64", "int32", "int8", "uint64", "uint8", "bool"]
PARAMETERS = {"tol": 1e-6, "solver": "pcp", "seed": None, "steps": [1, 2], "deep": {"on": True}}
ARRAYS = {"components": np.arange(12.0).reshape(3, 4), "counts": np.array([1, 2, 3], dtype=np.int32)}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
array_values = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
array_names = st.text(st.characters(codec="utf-8"), max_size=8).filter(lambda name: name != "__metadata__")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture
def saved(path):
    store.write(path, "Thing", PARAMETERS, ARRAYS)
    return path


def assert_same_arrays(actual, expected):
    assert actual.keys() == expected.keys()
    for name, array in expected.items():
        assert actual[name].dtype == array.dtype.newbyteorder("=")
        assert actual[name].shape == array.shape
        assert actual[name].tobytes() == array.astype(actual[name].dtype).tobytes()


def assert_refused(path, sentence):
    """Every reader refuses, in one sentence that names the file."""
    for reader in (store.read, store.peek, unmingle.load):
        with pytest.raises(StoreError, match=sentence) as caught:
            reader(path)
        assert str(caught.value).startswith(f"{path} ")
        assert "\n" not in str(caught.value)


def write_with_entry(path, entry):
    save_file(ARRAYS, path, metadata={"unmingle": entry})


# Trees

names = st.text(st.characters(codec="utf-8", exclude_characters="."), max_size=4)
trees = st.recursive(
    st.dictionaries(names, json_values | array_values, max_size=3),
    lambda inner: st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


def plain(tree):
    """The tree with arrays as text, to be compared."""
    if isinstance(tree, dict):
        return {name: plain(part) for name, part in sorted(tree.items())}
    return f"{tree.dtype} {tree.shape} {tree.tobytes()}" if isinstance(tree, np.ndarray) else repr(tree)


@given(content=trees)
def test_a_tree_comes_back_from_its_parts(content):
    parameters, arrays = store.take_apart(content)
    json.dumps(parameters)
    assert all(isinstance(part, np.ndarray) for part in arrays.values())
    assert plain(store.put_together(parameters, arrays)) == plain(content)
    assert plain(store.take_apart(content)[0]) == plain(parameters), "the parts were written to"


def test_a_tree_is_saved_with_its_arrays_by_their_paths(path):
    store.save(path, "Thing", {"a": {"b": {"c": np.ones(2)}, "d": 3}, "e": {}, "f": np.zeros(1)})
    stored = store.read(path)
    assert stored.parameters == {"a": {"d": 3}, "e": {}}
    assert_same_arrays(stored.arrays, {"a.b.c": np.ones(2), "f": np.zeros(1)})


def test_an_array_in_a_table_with_a_dot_in_its_name_is_refused(path):
    with pytest.raises(StoreError, match=r"This Thing cannot be stored: the table 'a\.b' holds arrays and has a dot"):
        store.save(path, "Thing", {"a.b": {"c": np.ones(2)}})
    store.save(path, "Thing", {"a.b": {"c": 1}})
    assert store.read(path).parameters == {"a.b": {"c": 1}}


@pytest.mark.parametrize("name", ["tol", "tol.a", "steps.0", "deep.on", "deep.on.more", "a." * 30 + "b"])
def test_arrays_that_lie_in_no_table_are_refused(name):
    with pytest.raises(MismatchError, match="is not part of it"):
        store.put_together(PARAMETERS, {name: np.ones(1)})
    assert PARAMETERS["deep"] == {"on": True}


# Round trip


def test_everything_comes_back(saved):
    stored = store.read(saved)
    assert stored[:3] == ("Thing", store.FORMAT_VERSION, PARAMETERS)
    assert_same_arrays(stored.arrays, ARRAYS)


@given(parameters=st.dictionaries(st.text(), json_values, max_size=4))
def test_parameters_round_trip(tmp_path_factory, parameters):
    path = tmp_path_factory.getbasetemp() / "parameters.safetensors"
    store.write(path, "Thing", parameters, {})
    assert repr(store.read(path).parameters) == repr(parameters)
    assert repr(store.peek(path).parameters) == repr(parameters)


@given(arrays=st.dictionaries(array_names, array_values, max_size=4))
def test_arrays_round_trip_in_every_bit(tmp_path_factory, arrays):
    path = tmp_path_factory.getbasetemp() / "arrays.safetensors"
    store.write(path, "Thing", {}, arrays)
    assert_same_arrays(store.read(path).arrays, arrays)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.arange(24.0).reshape(4, 6)[::2, ::-3],
        np.broadcast_to(np.float32(2), (2, 3)),
        np.arange(5, dtype=">f8"),
        np.arange(5, dtype=">i4")[::-1],
    ],
    ids=["transposed", "strided", "broadcast", "big-endian", "big-endian reversed"],
)
def test_memory_layout_does_not_matter(path, array):
    store.write(path, "Thing", {}, {"a": array})
    read = store.read(path).arrays["a"]
    np.testing.assert_array_equal(read, array)
    assert read.flags.c_contiguous
    assert read.flags.writeable


def test_numpy_scalars_are_parameters(path):
    store.write(path, "Thing", {"a": np.float32(0.5), "b": np.int64(3), "c": np.True_}, {})
    assert store.read(path).parameters == {"a": 0.5, "b": 3, "c": True}


def test_same_content_same_bytes(path, tmp_path):
    store.write(path, "Thing", PARAMETERS, ARRAYS)
    again = tmp_path / "again.safetensors"
    store.write(again, "Thing", PARAMETERS, dict(reversed(ARRAYS.items())))
    assert again.read_bytes() == path.read_bytes()


def test_peek_tells_shapes_and_dtypes(saved):
    header = store.peek(saved)
    assert header[:3] == ("Thing", store.FORMAT_VERSION, PARAMETERS)
    assert header.arrays == {"components": ((3, 4), "float64"), "counts": ((3,), "int32")}


@pytest.mark.parametrize(
    ("parameters", "arrays", "sentence"),
    [
        ({"f": print}, {}, "parameters of a Thing cannot be stored: builtin_function_or_method is not"),
        ({"a": np.ones(3)}, {}, "parameters of a Thing cannot be stored: ndarray is not"),
        ({}, {"z": np.array([object()])}, "Array 'z' cannot be stored: its dtype is object"),
        ({}, {"z": np.ones(2, complex)}, "Array 'z' cannot be stored: its dtype is complex128"),
        ({}, {"z": np.array(["a"])}, "Array 'z' cannot be stored: its dtype is <U1"),
        ({}, {"__metadata__": np.ones(2)}, "Array '__metadata__' cannot be stored"),
    ],
)
def test_what_cannot_be_stored_is_refused_and_nothing_written(path, parameters, arrays, sentence):
    with pytest.raises(StoreError, match=sentence):
        store.write(path, "Thing", parameters, arrays)
    assert list(path.parent.iterdir()) == []


# Damage


@given(data=st.data())
def test_truncated_anywhere_is_refused(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "truncated.safetensors"
    store.write(path, "Thing", PARAMETERS, ARRAYS)
    content = path.read_bytes()
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    assert_refused(path, "is damaged or not a .safetensors file")


def test_any_changed_byte_is_refused_or_changes_nothing(saved):
    content = saved.read_bytes()
    harmless = []
    for position in range(len(content)):
        for flip in (0x01, 0x20, 0x80):
            damaged = bytearray(content)
            damaged[position] ^= flip
            saved.write_bytes(damaged)
            try:
                stored = store.read(saved)
            except StoreError:
                continue
            assert stored[:3] == ("Thing", store.FORMAT_VERSION, PARAMETERS)
            assert_same_arrays(stored.arrays, ARRAYS)
            harmless.append(damaged[position : position + 1])
    assert harmless == [b"E"]  # 1e-06 became 1E-06


def test_appended_bytes_are_refused(saved):
    saved.write_bytes(saved.read_bytes() + b"\0")
    assert_refused(saved, "is damaged or not a .safetensors file")


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 8, b"name,value\na,1\n" * 20, b"\xff" * 200],
    ids=["0 bytes", "zeros", "text", "ones"],
)
def test_other_content_is_refused(path, content):
    path.write_bytes(content)
    assert_refused(path, "is damaged or not a .safetensors file")


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}], ids=["none", "other"])
def test_foreign_file_is_refused(path, metadata):
    save_file(ARRAYS, path, metadata=metadata)
    assert_refused(path, "was not written by unmingle")


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "no json",
        "[]",
        "{}",
        "[" * 100_000,
        '{"format": 1, "kind": "Thing", "parameters": {}}',
        '{"format": 1, "kind": 3, "parameters": {}, "checksum": ""}',
        '{"format": 0, "kind": "Thing", "parameters": {}, "checksum": ""}',
        '{"format": "1", "kind": "Thing", "parameters": {}, "checksum": ""}',
    ],
    ids=["empty", "text", "list", "object", "nested", "no checksum", "kind", "version 0", "version text"],
)
def test_senseless_header_is_refused(path, entry):
    write_with_entry(path, entry)
    assert_refused(path, "is damaged: its header is invalid")


def test_foreign_dtype_is_refused(path):
    entry = '{"format": 1, "kind": "Thing", "parameters": {}, "checksum": ""}'
    array = {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}
    header = json.dumps({"__metadata__": {"unmingle": entry}, "z": array}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    assert_refused(path, "is damaged: its array 'z' is of type BF16")


def test_missing_file_and_folder_are_refused(tmp_path):
    assert_refused(tmp_path / "absent.safetensors", "does not exist")
    assert_refused(tmp_path, "is not a file")


# Versions and kinds


def test_newer_format_is_refused_whatever_else_it_holds(path):
    newer = store.FORMAT_VERSION + 1
    write_with_entry(path, f'{{"format": {newer}, "content": "unheard of"}}')
    assert_refused(path, f"has format {newer}, .* up to {store.FORMAT_VERSION}; install a newer unmingle")


@pytest.mark.parametrize("kind", ["Thing", "load", "store", "os.system", "__builtins__", ""])
def test_load_knows_public_classes_only(path, kind):
    store.write(path, kind, {}, {})
    with pytest.raises(StoreError, match=f"holds a {kind!r}, which unmingle .* does not know"):
        unmingle.load(path)


# Writing


def test_failure_while_writing_leaves_the_old_file_and_no_litter(saved):
    def write_half():
        with store.write_atomically(saved) as temporary:
            temporary.write_bytes(b"half")
            raise KeyboardInterrupt

    before = saved.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failure_of_the_disc_leaves_the_old_file_and_no_litter(saved, monkeypatch, step):
    def fail(*_):
        raise OSError(28, "No space left on device")

    before = saved.read_bytes()
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(StoreError, match=f"^{saved} cannot be written: No space left on device.$"):
        store.write(saved, "Other", {}, {})
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_old_file_stays_until_the_new_one_is_whole(saved):
    before = saved.read_bytes()
    with store.write_atomically(saved) as temporary:
        assert temporary.parent == saved.parent
        assert temporary.suffix == saved.suffix
        temporary.write_bytes(b"new")
        assert saved.read_bytes() == before
    assert saved.read_bytes() == b"new"
    assert list(saved.parent.iterdir()) == [saved]


def test_new_file_has_ordinary_permissions(saved):
    reference = saved.with_name("reference")
    reference.touch()
    assert stat.S_IMODE(saved.stat().st_mode) == stat.S_IMODE(reference.stat().st_mode)


def test_link_is_followed(saved, tmp_path):
    link = tmp_path / "link.safetensors"
    link.symlink_to(saved)
    store.write(link, "Other", {}, {})
    assert link.is_symlink()
    assert store.read(saved).kind == "Other"


def test_absent_folder_is_refused(tmp_path):
    with pytest.raises(StoreError, match="cannot be written: No such file or directory"):
        store.write(tmp_path / "absent" / "model.safetensors", "Thing", {}, {})


def test_file_as_folder_is_refused(saved):
    with pytest.raises(StoreError, match="cannot be written: Not a directory"):
        store.write(saved / "model.safetensors", "Thing", {}, {})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_only_files_are_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for target in (pipe, tmp_path):
        with pytest.raises(StoreError, match="cannot be written: it exists and is not a file"):
            store.write(target, "Thing", {}, {})
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_unwritable_folder_is_refused(path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("unmingle.store.hold_new", refuse)
    with pytest.raises(StoreError, match="cannot be written: Permission denied"):
        store.write(path, "Thing", {}, {})
    assert list(path.parent.iterdir()) == []
