"""The rules of the house for the tree itself: small files, short functions, short calls, one name for one thing."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "unmingle"
LAB = ROOT / "lab"
LONGEST_FILE, LONGEST_FUNCTION, MOST_ARGUMENTS = 600, 60, 12
OF_EACH_APP = ("Stream", "Outputs", "Settings", "Result")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def sources():
    return files_of(*(ROOT / folder for folder in ("src", "tests", "lab", "examples")))


def files_of(*folders):
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def place(path, node=None):
    name = path.relative_to(ROOT).as_posix()
    return name if node is None else f"{name}:{node.lineno}"


def assert_none(offenders, rule):
    assert not offenders, f"{rule}:\n" + "\n".join(offenders)


def test_files_are_small():
    lengths = {place(path): len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    long = [f"{name}: {length} lines" for name, length in lengths.items() if length > LONGEST_FILE]
    assert_none(long, f"Files of more than {LONGEST_FILE} lines")


def lines_of(function):
    """Lines of a function from its ``def`` on, without its docstring."""
    first = function.body[0]
    is_docstring = ast.get_docstring(function, clean=False) is not None
    docstring = first.end_lineno - first.lineno + 1 if is_docstring else 0
    return function.end_lineno - function.lineno + 1 - docstring


def test_functions_are_short():
    long = [
        f"{place(path, node)}: {node.name}, {lines_of(node)} lines"
        for path in sources()
        for node in ast.walk(tree_of(path))
        if isinstance(node, FUNCTIONS) and lines_of(node) > LONGEST_FUNCTION
    ]
    assert_none(long, f"Functions of more than {LONGEST_FUNCTION} lines, docstring aside")


def test_calls_have_few_positional_arguments():
    """A group that is unpacked, `*group`, is not written by hand and counts for one."""
    long = [
        f"{place(path, node)}: {ast.unparse(node.func)}, {len(node.args)} arguments"
        for path in sources()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and len(node.args) > MOST_ARGUMENTS
    ]
    assert_none(long, f"Calls with more than {MOST_ARGUMENTS} positional arguments")


def test_classes_have_names_of_their_own():
    """An underscore in front makes no other name. Every app has its `Stream` and so on; benchmarks are separate."""
    places = defaultdict(list)
    for path in files_of(PACKAGE, LAB / "paper", LAB / "films"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].append(f"{node.name} in {place(path, node)}")
    shared = ["; ".join(found) for name, found in places.items() if len(found) > 1 and name not in OF_EACH_APP]
    assert_none(shared, "Classes of one name")


def functions_of(path):
    """What a module defines at its top; with the ``__init__`` of a folder, what it takes from its modules too."""
    names = {node.name for node in tree_of(path).body if isinstance(node, FUNCTIONS)}
    if path.name == "__init__.py":
        taken = (node for node in tree_of(path).body if isinstance(node, ast.ImportFrom) and node.module)
        names |= {alias.asname or alias.name for node in taken for alias in node.names}
    return names


def names_of(path):
    """A module's own name; that of a folder, and those of everything in it."""
    if path.name != "__init__.py":
        return {path.stem}
    return {path.parent.name, *(inner.stem for inner in path.parent.iterdir())}


def test_no_module_is_named_like_a_function_it_exports():
    """Else `from package import name` gives the one or the other, by what was imported before."""
    modules = (path for path in files_of(PACKAGE, LAB) if PACKAGE / "cli" not in path.parents)
    found = {place(path): sorted(functions_of(path) & names_of(path)) for path in modules}
    confusing = [f"{name}: {', '.join(names)}" for name, names in found.items() if names]
    assert_none(confusing, "Modules named like a function they export")


def imports_of(path):
    """Full names of whatever a file imports, each as a list of its parts."""
    here = path.relative_to(ROOT / "src").parts if PACKAGE in path.parents else path.relative_to(ROOT).parts
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom):
            base = [*here[: -node.level], *(node.module or "").split(".")] if node.level else node.module.split(".")
            yield from ([*filter(None, base), alias.name] for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".") for alias in node.names)


def is_foreign(name, path):
    """Whether a part of the name is private to a folder that the file is not in."""
    private = [depth for depth, part in enumerate(name) if part.startswith("_") and not part.endswith("__")]
    owners = [ROOT.joinpath("src" if name[0] == "unmingle" else "", *name[:depth]) for depth in private]
    folders = [owner if owner.is_dir() else owner.parent for owner in owners]
    return name[0] in ("unmingle", "lab") and any(folder not in path.parents for folder in folders)


def test_nobody_imports_what_is_private_to_another_folder():
    """Tests may."""
    files = (path for path in sources() if ROOT / "tests" not in path.parents)
    foreign = [
        f"{place(path)}: {'.'.join(name)}" for path in files for name in imports_of(path) if is_foreign(name, path)
    ]
    assert_none(foreign, "Imports of what is private to another folder")


@pytest.mark.parametrize(
    ("name", "file", "foreign"),
    [
        ("unmingle._validation.require", "cli/demo.py", False),
        ("lab.paper.faces._cells.Case", "../../lab/paper/faces/_table1.py", False),
        ("lab.paper.faces._cells.Case", "../../lab/paper/audio/_run.py", True),
        ("unmingle.apps.video._camera._EVER", "apps/video/_stream.py", False),
        ("unmingle.apps.video._camera.CameraWatch", "estimators/online.py", True),
        ("unmingle.core.online.noise._floor", "core/online/start.py", False),
        ("unmingle.__version__", "cli/demo.py", False),
    ],
)
def test_private_is_what_only_the_own_folder_may_import(name, file, foreign):
    assert is_foreign(name.split("."), (PACKAGE / file).resolve()) == foreign


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def f():\n    return 1", 2),
        ('def f():\n    """One."""\n    return 1', 2),
        ('@cache\ndef f(\n    x,\n):\n    """One.\n\n    Two.\n    """\n    y = x\n\n    return y', 6),
    ],
)
def test_lines_of_a_function_are_those_without_its_docstring(source, lines):
    assert lines_of(ast.parse(source).body[0]) == lines
