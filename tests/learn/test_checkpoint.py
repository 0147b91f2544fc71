"""Training that was interrupted goes on to the same numbers."""

from dataclasses import replace

import numpy as np
import pytest
from small_training import M, layers_differ, same_numbers, samples, shaken, started, train

from unmingle import learn, store


class TestCheckpoint:
    @pytest.mark.parametrize(
        ("dtype", "options"), [(np.float32, {}), (np.float64, {"update_dictionary": True, "loss": "imitation"})]
    )
    def test_interrupted_at_a_random_look(self, options, dtype, start, X, tmp_path):
        start, X = start.astype(dtype), X.astype(dtype)
        whole = train(start, X, **options)
        assert layers_differ(whole.encoder, start)
        for when in np.random.default_rng(12).choice(np.arange(1, 61), 2, replace=False):
            path = tmp_path / f"{when}.safetensors"

            def interrupt(progress, when=when):
                if progress.done == when:
                    raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                train(start, X, checkpoint=path, callback=interrupt, **options)
            assert path.exists()
            seen = []
            resumed = train(start, X, checkpoint=path, callback=seen.append, **options | {"random_state": None})
            assert same_numbers(resumed.encoder, whole.encoder)
            assert resumed.history == whole.history
            assert [told.done for told in seen] == [look.step for look in whole.history[when + 1 :]]
            again = train(start, X, checkpoint=path, callback=lambda _: pytest.fail("was done"), **options)
            assert same_numbers(again.encoder, whole.encoder)

    def test_ended_by_the_callback_it_can_go_on(self, start, X, tmp_path):
        path = tmp_path / "c.safetensors"
        train(start, X, checkpoint=path, callback=lambda progress: progress.done == 10)
        assert same_numbers(train(start, X, checkpoint=path).encoder, train(start, X).encoder)

    def test_diverging_training_can_be_resumed(self, X, tmp_path):
        start, path = started(n_layers=20), tmp_path / "c.safetensors"
        whole = train(start, X, step_size=10.0)
        train(start, X, step_size=10.0, checkpoint=path, callback=lambda progress: progress.done == 20)
        assert train(start, X, step_size=10.0, checkpoint=path).history == whole.history

    def test_another_process_knows_a_loss_by_its_name(self, start, X, tmp_path):
        def made():
            def own(network, block, answer):
                return learn.unsupervised(network, block, answer)

            return own

        path = tmp_path / "c.safetensors"
        train(start, X, loss=made(), checkpoint=path, callback=lambda progress: progress.done == 10)
        resumed = train(start, X, loss=made(), checkpoint=path)
        assert same_numbers(resumed.encoder, train(start, X, loss=made()).encoder)

    @pytest.mark.parametrize(
        "change",
        [
            {"X": 1.0 + np.zeros((400, M))},
            {"step_size": 0.02},
            {"max_steps": 59},
            {"batch_size": 32},
            {"update_dictionary": True},
            {"loss": "imitation"},
            {"sample_weight": np.arange(400.0)},
            {"encoder": {"n_layers": 3}},
            {"encoder": {"tied": False}},
            {"encoder": {"structure": "full"}},
            {"encoder": {"nonnegative_outliers": True}},
            {"encoder": "dictionary"},
            {"encoder": "penalty"},
            {"encoder": "trained"},
        ],
        ids=lambda change: str(change)[:40],
    )
    def test_that_of_something_else_is_refused(self, change, start, X, tmp_path):
        path = tmp_path / "c.safetensors"
        train(start, X, checkpoint=path, callback=lambda progress: progress.done == 3)
        before = path.read_bytes()
        others = {"dictionary": lambda: start.untrained(start.components[::-1]), "trained": lambda: shaken(start),
                  "penalty": lambda: replace(start, rank_penalty=5.0).untrained()}  # fmt: skip
        other = change.pop("encoder", None)
        encoder = start if other is None else started(**other) if isinstance(other, dict) else others[other]()
        with pytest.raises(ValueError, match="belongs to other data or settings; delete it"):
            train(encoder, change.pop("X", X), checkpoint=path, **change)
        assert path.read_bytes() == before

    def test_other_targets_are_refused(self, start, tmp_path):
        X, *parts = samples(100)
        path = tmp_path / "c.safetensors"
        train(start, X, loss="source", targets=parts, checkpoint=path, callback=lambda progress: True)
        with pytest.raises(ValueError, match="belongs to other data"):
            train(start, X, loss="source", targets=parts[::-1], checkpoint=path)

    def test_files_of_another_kind_are_refused(self, start, X, tmp_path):
        path = tmp_path / "c.safetensors"
        start.save(path)
        with pytest.raises(ValueError, match="belongs to other data or settings"):
            train(start, X, checkpoint=path)
        path.write_bytes(b"nonsense")
        with pytest.raises(store.StoreError, match="damaged"):
            train(start, X, checkpoint=path)
