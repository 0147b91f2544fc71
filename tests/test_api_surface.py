"""Public names are promises: one that goes missing breaks someone's program."""

import inspect
from types import ModuleType

import pytest

import unmingle

CLASSES_AND_FUNCTIONS = [
    "Aligner",
    "Alignment",
    "Decomposition",
    "Encoder",
    "LearnedRobustNMF",
    "LearnedRobustPCA",
    "OnlineRobustNMF",
    "OnlineRobustPCA",
    "RobustNMF",
    "RobustPCA",
    "align",
    "decompose",
    "load",
    "penalty_max",
]
SUBMODULES = ["apps", "core", "distributed", "export", "learn", "media", "metrics", "store", "synth"]
STORE = ["ArrayInfo", "Header", "StoreError", "Stored", "peek", "read", "save", "write", "write_atomically"]


def test_all_names_what_is_promised():
    assert sorted(unmingle.__all__) == sorted(CLASSES_AND_FUNCTIONS + SUBMODULES)


@pytest.mark.parametrize("name", CLASSES_AND_FUNCTIONS)
def test_public_name_is_there_and_documented(name):
    public = getattr(unmingle, name)
    assert callable(public)
    assert public.__name__ == name
    assert inspect.getdoc(public)


@pytest.mark.parametrize("name", SUBMODULES)
def test_submodule_is_an_attribute(name):
    module = getattr(unmingle, name)
    assert isinstance(module, ModuleType)
    assert module.__name__ == f"unmingle.{name}"


@pytest.mark.parametrize("name", STORE)
def test_store_keeps_its_names(name):
    assert hasattr(unmingle.store, name)


def test_names_are_listed_before_their_first_use():
    assert set(CLASSES_AND_FUNCTIONS + SUBMODULES) <= set(dir(unmingle))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'decompse'"):
        _ = unmingle.decompse
