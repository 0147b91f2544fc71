"""Where the data are."""

import os
from pathlib import Path


class DataMissing(ValueError):
    """There are no data where they were looked for."""


def data_folder(given: Path | None) -> Path:
    """The folder with the data: the given one, or that of the variable UNMINGLE_DATA.

    Parameters
    ----------
    given : path, optional
        Preferred to the variable.
    """
    folder = given or (Path(os.environ["UNMINGLE_DATA"]) if os.environ.get("UNMINGLE_DATA") else None)
    if folder is None:
        raise DataMissing("No data: say where they are with --data FOLDER or in the variable UNMINGLE_DATA.")
    if not folder.is_dir():
        raise DataMissing(f"{folder} is not a folder; name the folder of the data with --data or UNMINGLE_DATA.")
    return folder
