import numpy as np
import pytest

from unmingle.synth import surveillance_scene


@pytest.fixture(scope="module")
def film():
    """A street at dusk, as bytes, with its truth."""
    scene = surveillance_scene(120, 60, 80, random_state=0)
    return np.rint(255 * scene.frames).astype(np.uint8), scene.masks


@pytest.fixture(scope="module")
def empty():
    """A still scene with noise of three steps, and a generator of more of its frames."""
    rng = np.random.default_rng(5)
    scene = np.rint(255 * surveillance_scene(1, 60, 80, n_people=0, n_cars=0, noise=0.0, random_state=1).frames[0])

    def frame():
        return np.clip(np.rint(scene + rng.normal(0, 3, scene.shape)), 0, 255).astype(np.uint8)

    return frame
