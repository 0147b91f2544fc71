"""All that can be done with a model that was loaded, and what must come of it: finite numbers, or one sentence."""

import json
import tempfile

import numpy as np
from fuzz_files import chosen, places, rows, sound
from odd_tables import Finding, check_finite, is_sentence

import unmingle
from unmingle import store
from unmingle._fields import to_store
from unmingle.apps import audio
from unmingle.apps.video import Stream
from unmingle.core.encoder.sequence import SequenceEncoder
from unmingle.media import Planes

MOST_FEATURES = 10_000
SIZES = (1.0, 1e200)
"""Of the numbers in tables."""


def with_huge_numbers(path, rng):
    """The content of a file of a model, one or two of whose numbers are as large as numbers can be."""
    kind, version, parameters, arrays = store.read(path)
    arrays = {name: array.copy() for name, array in arrays.items()}
    for _ in range(rng.integers(1, 3)):
        huge = 10.0 ** rng.uniform(38, 308) * chosen([1, 1, 1, -1], rng)
        ways = [way for way in places(parameters) if way and type(at(parameters, way)) is float]
        names = [name for name, array in arrays.items() if array.dtype.kind == "f" and array.size]
        if ways and (rng.random() < 0.3 or not names):
            *before, last = chosen(ways, rng)
            at(parameters, before)[last] = huge
        elif names:
            array = arrays[chosen(sorted(names), rng)]
            limit = float(np.finfo(array.dtype).max)
            where = slice(None) if rng.random() < 0.5 else rng.integers(array.size)
            array.reshape(-1)[where] = np.clip(huge, -limit, limit)
    description = {"kind": kind, "format": version, "parameters": parameters}
    entry = json.dumps({**description, "checksum": store._checksum(description, arrays)})
    portable = {name: store._portable(name, array) for name, array in arrays.items()}
    return store.to_safetensors(portable, metadata={"unmingle": entry})


def at(value, way):
    for key in way:
        value = value[key]
    return value


def answer(what, call):
    """What a call gives, which must be finite; None where it is refused in one sentence."""
    try:
        given = call()
    except ValueError as problem:
        if not is_sentence(problem):
            raise Finding(f"{what}: {problem!r}") from problem
        return None
    check_finite(what, given)
    return given


def use_loaded(model):
    """Do with a model what it is for, then save it and load it again."""
    if isinstance(model, audio.Stream):
        use_sound_stream(model)
    elif isinstance(model, Stream):
        use_video_stream(model)
    elif isinstance(model, unmingle.Aligner):
        images = np.random.default_rng(0).random((2, 20, 22))
        answer("align", lambda: list(vars(model.align(images)).values()))
    elif isinstance(model, audio.VoiceModel):
        answer("parts", lambda: model.parts(np.abs(np.resize(rows(12), (12, 513)))))
    elif isinstance(model, SequenceEncoder):
        if model.n_features <= MOST_FEATURES:
            for size in (0.0, 1.0):
                answer("separate", lambda size=size: model.separate(np.full((3, model.n_features), size)))
    elif isinstance(model, unmingle.Encoder):
        use_encoder(model)
    elif model.n_features_in_ <= MOST_FEATURES:
        use_estimator(model)
    with tempfile.TemporaryDirectory() as folder:
        if answer("save", lambda: (model.save(f"{folder}/again.safetensors"), True)):
            unmingle.load(f"{folder}/again.safetensors")


def use_sound_stream(stream):
    for _ in range(3):
        answer("push", lambda: stream.push(sound(0.2, stream.channels)))


def use_video_stream(stream):
    form = stream.state.format
    shape, dtype = ((24, 32), np.uint8) if form is None else (form.shape, form.dtype)
    frame = np.full(shape, 0.5 if dtype == np.float32 else 90, dtype)
    if form is not None and form.kind == "planes":
        frame = Planes(np.full(form.entries, 90, dtype), form.height, form.width)
    for _ in range(5):
        answer("push", lambda: stream.push(frame).score)
    assert stream.card_
    answer("background", lambda: [] if stream.state.model is None else list(to_store(stream.state.model).values()))


def use_encoder(model):
    m = model.components.shape[1]
    for size in SIZES if m <= MOST_FEATURES else ():
        X = size * np.resize(rows(12), (12, m))
        found = answer("encode", lambda X=X: model.encode(X))
        if found is not None:
            answer("gap", lambda X=X, found=found: model.gap(X, *found))
        answer("encode by NumPy", lambda X=X: model.encode(X, backend="numpy"))


def use_estimator(model):
    for size in SIZES:
        X = np.resize(rows(12), (12, model.n_features_in_))
        X = size * (np.abs(X) if model.nonnegative else X)
        codes = answer("transform", lambda X=X: model.transform(X))
        if codes is not None:
            answer("inverse_transform", lambda codes=codes: model.inverse_transform(codes))
        for name in ("score_samples", "decision_function", "outlier_flags", "predict", "score"):
            answer(name, lambda name=name, X=X: getattr(model, name)(X))
        answer("decompose", lambda X=X: parts(model.decompose(X)))
        if model.cells_ is not None:
            answer("decompose without bias", lambda X=X: parts(model.decompose(X, debias=True)))
            answer("flags", lambda X=X: model.decompose(X, debias=True).flags())
    if hasattr(model, "partial_fit"):
        X = np.resize(rows(12), (12, model.n_features_in_))
        for _ in range(4):
            answer("partial_fit", lambda X=X: model.partial_fit(np.abs(X)).components_)


def parts(part):
    return [part.low_rank, part.outliers, part.codes, part.components, part.residual, part.gap, part.sample_gap]
