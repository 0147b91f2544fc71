import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture
def rng():
    return np.random.default_rng(20120930)


@pytest.fixture(scope="session")
def data_dir():
    """The folder of real data sets named by UNMINGLE_DATA."""
    folder = os.environ.get("UNMINGLE_DATA")
    if not folder:
        pytest.skip("UNMINGLE_DATA is not set: no real data sets")
    if not Path(folder).is_dir():
        pytest.skip(f"UNMINGLE_DATA={folder} is not a folder: no real data sets")
    return Path(folder)
