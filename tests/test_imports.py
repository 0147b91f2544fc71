"""What is imported when, and what works without the optional packages; each case in a process of its own."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import unmingle
from unmingle._validation import EXTRAS

HEAVY = ["numpy", "scipy", "sklearn", "numba", "safetensors"]
OPTIONAL = [
    "av",
    "dask",
    "distributed",
    "onnx",
    "onnxruntime",
    "openpyxl",
    "pandas",
    "PIL",
    "pyarrow",
    "rich",
    "sounddevice",
    "soundfile",
    "starlette",
    "torch",
    "typer",
    "uvicorn",
    "zarr",
]

HIDE_OPTIONAL = f"""
import sys

class Hide:
    def find_spec(self, name, path=None, target=None):
        package = name.partition(".")[0]
        if package in {OPTIONAL!r}:
            raise ModuleNotFoundError(f"No module named {{package!r}}", name=package)

sys.meta_path.insert(0, Hide())
"""


def python(code, *, hide=False):
    command = [sys.executable, "-W", "error", "-c", (HIDE_OPTIONAL if hide else "") + code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def loaded_packages(statement):
    done = python(f"import json, sys\n{statement}\nprint(json.dumps(list(sys.modules)))")
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in json.loads(done.stdout)}


def test_import_loads_no_other_package():
    assert loaded_packages("import unmingle; dir(unmingle)").isdisjoint(HEAVY + OPTIONAL)


@pytest.mark.parametrize("name", ["decompose", "core.objective", "store"])
def test_core_loads_no_optional_package(name):
    loaded = loaded_packages(f"import unmingle; unmingle.{name}")
    assert "numpy" in loaded
    assert loaded.isdisjoint(set(OPTIONAL) - {"pandas"})


@pytest.mark.parametrize(
    "statement",
    ["from unmingle.learn import LOSSES; assert len(LOSSES) == 4", "import unmingle; unmingle.learn.source.name"],
)
def test_the_names_of_losses_need_no_heavy_package(statement):
    assert loaded_packages(statement).isdisjoint(HEAVY + OPTIONAL)


def test_estimators_and_all_names_of_learn_are_there_without_torch():
    statement = "import unmingle; unmingle.LearnedRobustPCA(); assert 'train' in dir(unmingle.learn)"
    assert "torch" not in loaded_packages(statement)
    done = python("import unmingle; unmingle.learn.train", hide=True)
    assert done.stderr.splitlines()[-1].endswith("This needs PyTorch, which is not installed: pip install torch")
    done = python("import unmingle; unmingle.LearnedRobustPCA().fit([[1.0, 2.0]] * 9)", hide=True)
    assert "pip install torch" in done.stderr.splitlines()[-1]
    assert "no attribute 'tran'" in python("import unmingle; unmingle.learn.tran").stderr


def test_hiding_hides():
    assert "No module named 'torch'" in python("import torch", hide=True).stderr


WITHOUT_OPTIONAL = {
    "decompose": """
part = unmingle.decompose(X)
np.testing.assert_allclose(part.low_rank + part.outliers + part.residual, X, atol=1e-10)
assert np.abs(part.outliers[3, 4]) > 5
""",
    "estimator": """
model = unmingle.RobustPCA(n_components=2).fit(X)
codes = model.transform(X[:5])
assert codes.shape[0] == 5 and np.isfinite(codes).all()
""",
    "save and load": """
import os, tempfile
model = unmingle.RobustPCA(n_components=2).fit(X)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.safetensors")
    model.save(path)
    np.testing.assert_array_equal(unmingle.load(path).components_, model.components_)
""",
}


@pytest.mark.parametrize("code", WITHOUT_OPTIONAL.values(), ids=WITHOUT_OPTIONAL.keys())
def test_core_works_without_optional_packages(code):
    data = """
import numpy as np, unmingle
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 20))
X[3, 4] += 10
"""
    done = python(data + code + "print('done')", hide=True)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize(
    ("package", "extra", "told"),
    [
        ("torch", "train", "PyTorch, which is not installed: pip install torch"),
        ("PIL", "media", "Pillow, which is not installed: pip install pillow av soundfile"),
    ],
)
def test_a_missing_package_is_named_with_its_command(package, extra, told):
    done = python(f"from unmingle._validation import require; require({package!r}, {extra!r})", hide=True)
    assert done.stderr.splitlines()[-1] == f"ImportError: This needs {told}"


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("export", "This needs onnx, which is not installed: pip install onnx onnxruntime"),
        ("distributed", "This needs Dask, which is not installed: pip install 'dask[array]' distributed zarr"),
    ],
)
def test_modules_that_need_a_package_name_its_command(module, told):
    for statement in (
        f"import unmingle.{module}",
        f"from unmingle import {module}",
        f"import unmingle; unmingle.{module}",
    ):
        assert python(statement, hide=True).stderr.splitlines()[-1] == f"ImportError: {told}"


def test_only_public_names_are_listed():
    listed = python("import unmingle, unmingle.core.solvers; print(*dir(unmingle))").stdout.split()
    assert set(listed) == {*unmingle.__all__, "__version__"}
    assert all(hasattr(unmingle, name) for name in listed)


def test_the_packages_named_are_those_of_the_extras():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for extra, names in EXTRAS.items():
        assert [name.strip("'") for name in names.values()] == [re.split("[<>=]", one)[0] for one in extras[extra]]


TABLES_WITHOUT_PANDAS = """
import os, tempfile
from pathlib import Path
import numpy as np
from unmingle.apps import tables
os.chdir(tempfile.mkdtemp())
np.save("x.npy", np.outer(np.arange(1.0, 9.0), [1.0, 2.0, 3.0]))
done = tables.separate("x.npy")
tables.write_table(done.table, Path("y.npy"), done.cleaned.values, changed=done.cleaned.changed)
assert np.load("y.npy").shape == (8, 3)
Path("x.csv").write_text("a,b,1,2,3,4")
tables.read_table("x.csv")
"""


def test_arrays_need_no_pandas_and_text_asks_for_it():
    last = python(TABLES_WITHOUT_PANDAS, hide=True).stderr.splitlines()[-1]
    assert last.startswith("ImportError: This needs pandas, which is not installed: pip install pandas")


def test_command_line_without_its_extra_names_the_command():
    done = python("from unmingle.cli import main; sys.argv = ['unmingle', 'demo']; main()", hide=True)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("pip install rich typer pillow pandas")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "error",
    ["MemoryError()", "OSError('x.so: cannot map')", "ImportError('a\\n\\nlong\\nstory')", "SystemError('lost')"],
)
@pytest.mark.parametrize("package", ["typer", "numpy"])
def test_packages_that_cannot_be_loaded_are_told_in_one_sentence(package, error):
    """As where there is too little memory for them."""
    broken = f"""
import sys

class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == {package!r}:
            raise {error}

sys.meta_path.insert(0, Broken())
from unmingle.cli import main
sys.argv = ["unmingle", *sys.argv[1:], "decompose", {__file__!r}]
main()
"""
    done = python(broken)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" in python(broken.replace("*sys.argv[1:]", "'--debug'")).stderr
