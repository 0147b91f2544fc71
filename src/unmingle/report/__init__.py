"""Reports as single HTML pages: text, tables, pictures and curves in one file that needs nothing else."""

from ._page import *  # noqa
