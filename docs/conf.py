"""How the documentation is built: `make docs`."""

import inspect
import re
import sys
from pathlib import Path

import unmingle

sys.path.insert(0, str(Path(__file__).parent))  # for gallery.py

project = "unmingle"
author = "The unmingle developers"
project_copyright = author
version = release = unmingle.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["generated/examples/*.py", "generated/examples/*.ipynb"]
templates_path = ["_templates"]
default_role = "py:obj"
highlight_language = "none"

html_theme = "furo"
html_title = f"unmingle {version}"
html_static_path = ["_static"]
html_css_files = ["unmingle.css"]
html_show_copyright = False

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_ignore_module_all = False
autosummary_imported_members = True
numpydoc_show_class_members = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "generated/examples",
    "filename_pattern": r"/(?!make_accompaniment)\w+\.py$",  # that one needs a synthesiser: shown, not run
    "ignore_pattern": r"__init__\.py",
    "image_scrapers": ("gallery.show_pictures",),
    "reset_argv": "gallery.arguments",
    "reset_modules": (),
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 3600,
    "download_all_examples": False,
    "within_subsection_order": "FileNameSortKey",
}

# A short name such as `shape` is an attribute of several classes: no link, then, and no reason to stop.
suppress_warnings = ["ref.python"]


def _is_elsewhere(app, what, name, obj, skip, options):
    """Leave out what comes from other packages, and what the page of `unmingle` itself has already."""
    is_ours = getattr(obj, "__module__", None) or ""
    foreign = (inspect.isroutine(obj) or inspect.isclass(obj)) and not is_ours.startswith("unmingle")
    shown = app.env.docname.rpartition("/")[2] != "unmingle" and name in unmingle.__all__
    return True if foreign or (shown and getattr(unmingle, name) is obj) else None


def _escape(app, what, name, obj, options, lines):
    """Keep what reStructuredText would take for markup: |x| in formulas, and names that end in an underscore."""
    if lines and lines[0].endswith("::"):  # numpydoc wants its summary without a block
        lines[:1] = [lines[0][:-1], "", "::"]
    for number, line in enumerate(lines):
        if line.startswith((" ", ">>>", "...", "::")):
            continue
        names, colon, kind = line.partition(" : ") if " : " in line else ("", "", line)
        kind = kind if colon else kind.replace("|", r"\|")
        lines[number] = names + colon + re.sub(r"(?<=\w)_(?=[\s,)]|$)", r"\\_", kind)


def setup(app):
    """Tell Sphinx of the two functions above."""
    app.connect("autodoc-skip-member", _is_elsewhere)
    app.connect("autodoc-process-docstring", _escape, priority=400)  # before numpydoc
