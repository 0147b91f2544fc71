"""`RobustNMF`: conventions, certified codes, recovery, files and refusals."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from unmingle import RobustNMF


@parametrize_with_checks(
    [RobustNMF(random_state=0), RobustNMF(2, random_state=0), RobustNMF(2, init="random", random_state=0)]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
