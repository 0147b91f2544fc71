import math
from itertools import count

from unmingle.core.iterate import run


def halves():
    return (2.0**-k for k in count())


def test_stops_at_the_tolerance():
    result = run(halves(), lambda x: x, tol=1e-3, max_iter=100)
    assert result.converged
    assert result.state == 2.0**-10
    assert result.n_iter == 11


def test_stops_at_the_last_iteration_without_converging():
    result = run(halves(), lambda x: x, tol=1e-9, max_iter=5)
    assert (result.n_iter, result.converged, result.measure) == (5, False, 2.0**-4)


def test_unknown_measures_never_stop_a_run():
    result = run(halves(), lambda x: x if x < 0.01 else math.nan, tol=1.0, max_iter=50)
    assert result.state == 2.0**-7
    assert result.converged


def test_callback_sees_every_iterate_and_may_stop():
    seen = []

    def callback(progress):
        seen.append((progress.done, progress.measure, progress.total, progress.tol))
        return progress.done == 3

    result = run(halves(), lambda x: x, tol=1e-9, max_iter=50, callback=callback)
    assert seen == [(1, 1.0, 50, 1e-9), (2, 0.5, 50, 1e-9), (3, 0.25, 50, 1e-9)]
    assert not result.converged


def test_callback_is_told_the_last_known_measure():
    seen = []
    run(halves(), lambda x: x if x > 0.3 else math.nan, tol=1e-9, max_iter=4, callback=lambda p: seen.append(p.measure))
    assert seen == [1.0, 0.5, 0.5, 0.5]
