import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

import unmingle


@parametrize_with_checks(
    [
        unmingle.RobustPCA(random_state=0),
        unmingle.RobustPCA(n_components=2, random_state=0),
        unmingle.RobustPCA(solver="proximal", random_state=0),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
