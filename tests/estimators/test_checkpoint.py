"""Learning that is interrupted, in any way and at any moment, ends where it would have ended."""

import multiprocessing
import random
import time

import numpy as np
import pytest
from interrupted import learn_with_checkpoints, model

import unmingle
from unmingle import RobustPCA, store
from unmingle.synth import subspace_stream

N, M = 1500, 40


def samples():
    """A stream with a jump in it, so that there is a start buffer, and strangers waiting, at some moments."""
    X = np.concatenate([block.X for block in subspace_stream(N, M, 3, noise=0.05, random_state=0)])
    X[1000:] = X[1000:, ::-1].copy()
    return X


@pytest.fixture(scope="module")
def X():
    return samples()


@pytest.fixture(scope="module")
def undisturbed(X):
    return model().fit(X)


def test_killed_at_fifty_random_moments(tmp_path, X, undisturbed):
    """SIGKILL, again and again; what was killed once is resumed to the end and compared."""
    data, checkpoint = tmp_path / "X.npy", tmp_path / "checkpoint.safetensors"
    np.save(data, X)
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(["interrupted", "unmingle.estimators.online", "unmingle.kernels.newton"])

    def kill_after(wanted, moment):
        """Kill a process some seconds after it has done so many batches, or let it end."""
        checkpoint.unlink(missing_ok=True)
        batches = forks.RawValue("i", -1)  # without a lock, which would die with the process
        victim = forks.Process(target=learn_with_checkpoints, args=(data, checkpoint, batches, 48))
        victim.start()
        while batches.value < wanted and victim.is_alive():
            time.sleep(1e-4)
        victim.join(moment)
        victim.kill()
        victim.join()
        assert batches.value >= wanted

    chance, positions = random.Random(0), []
    for _ in range(50):
        kill_after(chance.randrange(N // 16), chance.uniform(0.0, 0.005))
        position = unmingle.load(checkpoint).n_samples_seen_ if checkpoint.exists() else 0
        positions.append(position)
        resumed = model().fit(np.load(data, mmap_mode="r"), checkpoint=checkpoint, every=100)
        assert resumed.n_samples_seen_ == N
        assert np.abs(resumed.components_ - undisturbed.components_).max() <= 1e-10
        assert resumed.n_jumps_ == undisturbed.n_jumps_ == 1
    assert len(set(positions)) > 10, "the kills came at too few different moments to prove anything"


def test_resumes_at_every_position_with_few_rows_read_again(tmp_path, X, undisturbed):
    """Stopped after k batches, for several k: during the start, after it, amid strangers.

    The last thousand rows, which tell what is ordinary, are read again, and not learnt from again.
    """
    reads = []

    class Recorded:
        shape, dtype = X.shape, X.dtype

        def __getitem__(self, rows):
            if isinstance(rows, slice):
                reads.append((rows.start, rows.stop))
            return X[rows]

    for batches in (1, 5, 7, 40, 63, 64, 66, 90):
        checkpoint = tmp_path / f"{batches}.safetensors"
        stop = iter([False] * (batches - 1) + [True])
        stopped = model().fit(Recorded(), checkpoint=checkpoint, every=10**9, callback=lambda _, stop=stop: next(stop))
        assert stopped.n_samples_seen_ == 16 * batches
        reads.clear()
        resumed = model().fit(Recorded(), checkpoint=checkpoint)
        assert 0 <= 16 * batches - reads[0][0] <= 1024
        assert np.array_equal(resumed.components_, undisturbed.components_)
        assert np.array_equal(resumed.score_samples(X), undisturbed.score_samples(X))


def test_checkpoints_come_every_so_many_samples(tmp_path, X):
    checkpoint, seen = tmp_path / "checkpoint.safetensors", []

    def look(_):
        if checkpoint.exists():
            seen.append(unmingle.load(checkpoint).n_samples_seen_)

    model().fit(X[:500], checkpoint=checkpoint, every=100, callback=look)
    assert sorted(set(seen)) == [112, 224, 336, 448]
    assert unmingle.load(checkpoint).n_samples_seen_ == 500


def test_iterables_are_skipped_to_the_position(tmp_path, X, undisturbed):
    checkpoint = tmp_path / "checkpoint.safetensors"
    model().fit(iter(X[:800]), checkpoint=checkpoint)
    resumed = model().fit((X[i : i + 70] for i in range(0, N, 70)), checkpoint=checkpoint)
    assert np.array_equal(resumed.components_, undisturbed.components_)


def test_a_finished_checkpoint_is_the_model(tmp_path, X, undisturbed):
    checkpoint = tmp_path / "checkpoint.safetensors"
    model().fit(X, checkpoint=checkpoint)
    before = checkpoint.read_bytes()
    again = model().fit(X, checkpoint=checkpoint)
    assert np.array_equal(again.components_, undisturbed.components_)
    assert checkpoint.read_bytes() == before
    assert np.array_equal(unmingle.load(checkpoint).components_, undisturbed.components_)


def test_what_a_generator_gave_is_kept_in_the_checkpoint(tmp_path, X):
    checkpoint = tmp_path / "checkpoint.safetensors"
    one = model(random_state=np.random.default_rng(1))
    stop = iter([False] * 3 + [True])
    one.fit(X, checkpoint=checkpoint, callback=lambda _: next(stop))
    results = []
    for _ in range(2):
        content = checkpoint.read_bytes()
        another = model(random_state=np.random.default_rng(2))
        results.append(another.fit(X, checkpoint=checkpoint).components_)
        checkpoint.write_bytes(content)
    assert np.array_equal(*results)
    assert np.array_equal(results[0], model(random_state=np.random.default_rng(1)).fit(X).components_)


def test_a_checkpoint_of_something_else_is_refused(tmp_path, X):
    checkpoint = tmp_path / "checkpoint.safetensors"
    model().fit(X[:200], checkpoint=checkpoint)
    with pytest.raises(ValueError, match=r"was made with forgetting='auto', not 0.9; delete it"):
        model(forgetting=0.9).fit(X, checkpoint=checkpoint)
    with pytest.raises(ValueError, match="belongs to other data"):
        model().fit(X[5:], checkpoint=checkpoint)
    with pytest.raises(ValueError, match="has seen 200 samples, but X contains only 150"):
        model().fit(X[:150], checkpoint=checkpoint)
    RobustPCA(random_state=0).fit(X[:50]).save(checkpoint)
    with pytest.raises(store.StoreError, match="not a checkpoint: it contains a RobustPCA"):
        model().fit(X, checkpoint=checkpoint)
    checkpoint.write_bytes(b"nonsense")
    with pytest.raises(store.StoreError, match="damaged"):
        model().fit(X, checkpoint=checkpoint)
    with pytest.raises(store.StoreError, match="there is no folder"):
        model().fit(X, checkpoint=tmp_path / "nowhere" / "checkpoint.safetensors")
    with pytest.raises(ValueError, match="every must be a whole number"):
        model().fit(X, checkpoint=checkpoint, every=0)
