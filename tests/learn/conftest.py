"""What the tests of training start from."""

import pytest
from small_training import samples, started


@pytest.fixture(scope="package")
def start():
    return started()


@pytest.fixture(scope="package")
def X():
    return samples(400, seed=2)[0]
