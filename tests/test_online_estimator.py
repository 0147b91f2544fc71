from sklearn.utils.estimator_checks import parametrize_with_checks

from unmingle import OnlineRobustPCA


@parametrize_with_checks(
    [
        OnlineRobustPCA(random_state=0),
        OnlineRobustPCA(n_components=2, random_state=0, start_size=8, dictionary_step="direct"),
        OnlineRobustPCA(n_components=2, random_state=0, start_size=4, batch_size=3, dictionary_step="recursive"),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
