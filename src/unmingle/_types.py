"""Types of arrays, by what they hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
"""float32 or float64."""
Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
ByteArray = NDArray[np.uint8]
IndexArray = NDArray[np.intp]
AnyArray = NDArray[Any]
"""Of whatever type: pixels may be bytes or numbers."""
