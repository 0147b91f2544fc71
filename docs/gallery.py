"""Pictures of the gallery: each example gets a folder to write to, and the page shows the PNG files found there."""

import shutil
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "generated" / "example_pictures"


def folder_of(example: str) -> Path:
    """Where an example writes its pictures."""
    return FOLDER / Path(example).stem


def arguments(gallery_conf: dict[str, Any], script_vars: dict[str, Any]) -> list[str]:
    """What follows the name of an example on its command line: an empty folder."""
    folder = folder_of(script_vars["src_file"])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return [str(folder)]


def show_pictures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Move the pictures that an example has written by now into its page."""
    from sphinx_gallery.scrapers import figure_rst  # here, as tests read this file where there is no Sphinx

    shown = []
    for picture in sorted(folder_of(block_vars["src_file"]).glob("*.png")):
        shown.append(next(block_vars["image_path_iterator"]))
        shutil.move(picture, shown[-1])
    return figure_rst(shown, gallery_conf["src_dir"])
