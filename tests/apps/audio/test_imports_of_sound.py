"""What separating a song imports: its memory is mostly that of packages."""

import subprocess
import sys

import pytest

SEPARATED = """
import sys
import numpy as np
from unmingle.apps.audio import split
split(np.random.default_rng(0).uniform(-0.5, 0.5, 16000), 16000, method=sys.argv[1])
print(*(name for name in ("sklearn", "torch") if name in sys.modules))
"""


@pytest.mark.parametrize("method", ["pcp", "adapt"])
def test_the_default_methods_need_neither_scikit_learn_nor_torch(method):
    done = subprocess.run([sys.executable, "-c", SEPARATED, method], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
