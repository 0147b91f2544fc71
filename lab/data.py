"""Where the data are."""

import os
from pathlib import Path

DATA_VARIABLE = "UNMINGLE_DATA"
"""Names the folder of the data for whoever is not given one."""


class DataMissing(ValueError):
    """There are no data where they were looked for."""


def find_data_folder(given: Path | None) -> Path:
    """The folder with the data: the given one, or that of the variable UNMINGLE_DATA.

    Parameters
    ----------
    given : path, optional
        Preferred to the variable.
    """
    folder = given or (Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None)
    if folder is None:
        raise DataMissing(f"No data: say where they are with --data FOLDER or in the variable {DATA_VARIABLE}.")
    if not folder.is_dir():
        raise DataMissing(f"{folder} is not a folder; name the folder of the data with --data or {DATA_VARIABLE}.")
    return folder
