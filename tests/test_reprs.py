"""What results and models say of themselves: one line."""

import numpy as np
import pytest

import unmingle
from unmingle.apps import video
from unmingle.learn import train


def results():
    X = unmingle.synth.low_rank_plus_sparse(40, 12, 2, noise=0.05, random_state=0).X
    encoder = unmingle.Encoder.from_components(np.eye(2, 12), rank_penalty=0.1, outlier_penalty=0.5, n_layers=3)
    yield unmingle.decompose(X), "Decomposition(40 x 12, rank 2, gap "
    yield encoder, "Encoder(12 features, 2 components, 3 layers, float64)"
    yield train(encoder, X, max_steps=3), "TrainingResult(3 steps, cost lowered by "
    faces = unmingle.synth.displaced_faces(6, random_state=0).images
    yield unmingle.align(faces), " of 6 images aligned, frames of "
    stream = video.Stream(start_size=5)
    frames = np.random.default_rng(0).integers(90, 110, (8, 12, 16), dtype=np.uint8)
    yield [stream.push(frame) for frame in frames][-1], "Separation(frame 7, 16 x 12 pixels, "
    yield unmingle.load("src/unmingle/models/phone.safetensors"), "VoiceModel('phone', SequenceEncoder(240 features"
    yield unmingle.RobustPCA(3).fit(X), "RobustPCA(n_components=3)"


@pytest.mark.filterwarnings("ignore")
def test_one_line_tells_what_it_is(pytestconfig, monkeypatch):
    monkeypatch.chdir(pytestconfig.rootpath)
    for result, told in results():
        assert told in repr(result)
        assert "\n" not in repr(result)
        assert len(repr(result)) < 120
