"""Size and shape of a package's source, as numbers that show where it grows: `python -m lab house --src FOLDER`.

They are signals, not limits. What each counts stands at the function that counts it.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PRIVATE_WORDS = ("so many", "anew", "aside")
"""Words of the house that a stranger stumbles on."""
SHARED_FIELDS = ("_replace", "_asdict", "_fields", "_make", "_to_store", "_from_store", "_schema")
"""Of named tuples, and of the protocol `unmingle.store.Kind`."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (ast.Module, ast.ClassDef, *FUNCTIONS)
_NOT_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip
_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*$")


def run(*, src: Path) -> None:
    """Print the signals of a package, and the lines of what lies beside it in a checkout."""
    if not any(src.rglob("*.py")):
        raise SystemExit(f"Error: {src} contains no Python files; name a package with --src.")
    for what, count in signals(src).items():
        print(f"{what:46s}{count:7d}")
    root = src.resolve().parents[1]
    for folder in (root / "tests", root / "benchmarks", root / "lab"):
        if folder.is_dir():
            lines = sum(len(code_lines(path.read_text(encoding="utf-8"))) for path in folder.rglob("*.py"))
            print(f"{f'lines of code in {folder.name}':46s}{lines:7d}")


def signals(package: Path) -> dict[str, int]:
    """All counts of the package in a folder."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    words = Counter(word for text in texts.values() for word in private_words(text))
    return {
        "lines of code": sum(len(code_lines(text)) for text in texts.values()),
        "files": len(texts),
        "public names": sum(len(public_names(path, package, tree)) for path, tree in trees.items()),
        "most arguments of a function": max(most_arguments(tree) for tree in trees.values()),
        "constants loose at the top of modules": sum(len(loose_constants(tree)) for tree in trees.values()),
        "uses of Any": sum(uses_of_any(tree) for tree in trees.values()),
        "reaches into others' private fields": sum(len(private_reaches(tree)) for tree in trees.values()),
        **{f'"{word}"': words[word] for word in PRIVATE_WORDS},
        "these words together": words.total(),
    }


def code_lines(text: str) -> set[int]:
    """Numbers of the lines that hold code: no docstrings, comments or blank lines; strings below constants count."""
    docstrings = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstrings |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            held |= set(range(token.start[0], token.end[0] + 1))
    return held - docstrings


def public_names(path: Path, package: Path, tree: ast.Module) -> list[str]:
    """What ``__all__`` of a module lists, unless a part of the module's dotted name begins with an underscore."""
    parts = path.relative_to(package).with_suffix("").parts
    if any(part.startswith("_") and part != "__init__" for part in parts):
        return []
    for names, value in assignments(tree):
        if names == ["__all__"] and isinstance(value, ast.List | ast.Tuple):
            return [ast.unparse(one) for one in value.elts]
    return []


def assignments(tree: ast.Module) -> Iterator[tuple[list[str], ast.expr]]:
    """What is given values at the top of a module: the names on the left, and the right side."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            yield [one.id for left in node.targets for one in ast.walk(left) if isinstance(one, ast.Name)], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield [ast.unparse(node.target)], node.value


def most_arguments(tree: ast.Module) -> int:
    """Arguments of the function that has most of them, ``self`` and ``cls`` included."""
    counts = [
        len(one.args.posonlyargs) + len(one.args.args) + len(one.args.kwonlyargs)
        for one in ast.walk(tree)
        if isinstance(one, FUNCTIONS)
    ]
    return max(counts, default=0)


def loose_constants(tree: ast.Module) -> list[str]:
    """Names in capitals that are given values at the top of a module."""
    return [name for names, _ in assignments(tree) for name in names if _CONSTANT.match(name)]


def uses_of_any(tree: ast.Module) -> int:
    """How often ``Any`` is written, each import included."""
    return sum(
        isinstance(node, ast.Name | ast.alias) and (node.id if isinstance(node, ast.Name) else node.name) == "Any"
        for node in ast.walk(tree)
    )


def private_reaches(tree: ast.Module) -> list[str]:
    """Fields ``x._name`` that belong to another object: x is not ``self``, ``cls``, ``super()`` or imported.

    What every named tuple has, such as ``_replace``, is not private; nor is the protocol of files between our classes.
    """
    modules = {"self", "cls"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.endswith("__")
        and node.attr not in SHARED_FIELDS
        and not (isinstance(node.value, ast.Name) and node.value.id in modules)
        and not (isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "super")
    ]


def private_words(text: str) -> list[str]:
    """Each of the words as often as the text has it: in docstrings, comments, other strings and parts of names."""
    words = "|".join(PRIVATE_WORDS)
    return re.findall(rf"(?<![a-z])(?:{words})(?![a-z])", " ".join(text.lower().split()))
