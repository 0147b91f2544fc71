"""Published names are promises: one that goes missing breaks someone's program."""

import inspect
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest

import unmingle

FUNCTIONS = ["align", "decompose", "load", "penalty_max", "pursue"]
CLASSES = [
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
]
SUBMODULES = ["apps", "core", "distributed", "export", "learn", "media", "metrics", "store", "synth"]
PUBLISHED = {
    "unmingle": [*FUNCTIONS, *CLASSES, *SUBMODULES],
    "unmingle.core": [
        *("iterate", "objective", "penalties", "prox"),
        *("Decomposition", "decompose", "pursue", "refit_cells"),
        *("Callback", "Progress", "Result", "run"),
        *("Certificate", "CertificateSchedule", "GapCriterion", "PursuitCriterion", "StationarityCriterion"),
        *("ColumnGroups", "EntryPenalty", "OutlierPenalty"),
        *("proximal_iterates", "alternating_iterates", "penalised_iterates", "splitting_iterates", "pursuit_iterates"),
        *("nmf_iterates", "newton", "nonnegative_newton", "algorithm_1"),
        *("Sweep", "Split", "Pursuit", "Factors", "Projection"),
        *("Encoder", "SequenceEncoder", "Layers", "propagate", "exact_answer"),
        *("Statistics", "balance", "direct_step", "block_coordinate_step", "recursive_step"),
        *("LowRank", "Units", "WarmSubspace", "gram_threshold", "spectral_norm_bound"),
    ],
    "unmingle.distributed": ["LazyDecomposition", "decompose", "fit"],
}
"""Published modules, and all that each of them publishes."""
STORE = ["ArrayInfo", "Header", "StoreError", "Stored", "peek", "read", "save", "write", "write_atomically"]


@pytest.mark.parametrize("module", PUBLISHED)
def test_all_names_what_is_promised(module):
    assert sorted(import_module(module).__all__) == sorted(PUBLISHED[module])


@pytest.mark.parametrize(("module", "name"), [(module, name) for module in PUBLISHED for name in PUBLISHED[module]])
def test_a_published_name_is_there_and_documented(module, name):
    public = getattr(import_module(module), name)
    if name == "Callback":  # a type of functions has neither name nor docstring
        return
    assert public.__name__ == (f"{module}.{name}" if isinstance(public, ModuleType) else name)
    assert inspect.getdoc(public)


@pytest.mark.parametrize("module", PUBLISHED)
def test_names_are_listed_before_their_first_use(module):
    assert set(PUBLISHED[module]) <= set(dir(import_module(module)))


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_functions_and_classes_can_be_called(name):
    assert callable(getattr(unmingle, name))


@pytest.mark.parametrize("name", STORE)
def test_store_keeps_its_names(name):
    assert hasattr(unmingle.store, name)


def test_a_problem_is_reached_by_its_modules():
    one = np.ones((1, 1))
    assert unmingle.core.objective.projection(one, one, one, 0 * one, 1.0, 1.0) == 0.5


@pytest.mark.parametrize(("module", "name"), [("unmingle", "decompse"), ("unmingle.core", "proximal")])
def test_unknown_name_is_an_attribute_error(module, name):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
        getattr(import_module(module), name)
