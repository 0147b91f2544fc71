"""The demo: a film, a table and a song with known truth, taken apart, compared with simpler ways, and reported."""

from ._demo import Demo, figures, run
from ._files import write_files
from ._judging import best_mask, foreground
from ._page import write_report
from ._readings import table_comparison
from ._street import street_comparison
from ._street_page import street_pictures
from ._table_page import table_pictures

__all__ = [
    "Demo",
    "best_mask",
    "figures",
    "foreground",
    "run",
    "street_comparison",
    "street_pictures",
    "table_comparison",
    "table_pictures",
    "write_files",
    "write_report",
]
