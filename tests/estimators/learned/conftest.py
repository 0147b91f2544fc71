import pytest
from learned_models import learned, samples


@pytest.fixture(scope="session")
def X():
    return samples(300, 1)[0]


@pytest.fixture(scope="session")
def new():
    return samples(200, 2)[0]


@pytest.fixture(scope="session")
def model(X):
    return learned(passes=50).fit(X)
