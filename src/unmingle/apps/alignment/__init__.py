"""Folders of images: read, aligned, written, and shown on a page."""

from ._folder import Folder, read_folder
from ._outputs import write_results
from ._report import report_page

__all__ = ["Folder", "read_folder", "report_page", "write_results"]
