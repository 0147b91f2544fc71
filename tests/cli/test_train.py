"""`unmingle train`: encoders from tables and folders of images, whatever interrupts."""

import json
import sys

import numpy as np
import pytest
from command_line import failed
from onnxruntime import InferenceSession
from PIL import Image

import unmingle
from unmingle.cli import train
from unmingle.learn import Training
from unmingle.synth import low_rank_plus_sparse

MADE = low_rank_plus_sparse(80, 12, 2, noise=0.05, random_state=0)
QUICK = ["--out", "model.safetensors", "--max-steps", "8", "--layers", "2", "--batch-size", "20", "--step-size", "0.01"]
SHORT = Training(max_steps=8, batch_size=20, step_size=0.01)


@pytest.fixture(autouse=True)
def gained(monkeypatch):
    monkeypatch.setattr("unmingle.estimators.learned.has_gained", lambda card: True)


def expected(X=MADE.X, y=None, **options):
    """What the estimator itself learns."""
    settings = {"n_layers": 2, "training": SHORT, "random_state": 0, **options}
    return unmingle.LearnedRobustPCA(**settings).fit(X, y)


def same(model, other):
    """Tell whether two models are the same network."""
    pairs = zip(model.encoder_.layers, other.encoder_.layers, strict=True)
    layers = all(np.array_equal(own, plain) for own, plain in pairs)
    return layers and np.array_equal(model.components_, other.components_)


@pytest.fixture
def data(tmp_path):
    """The same samples in every format, and their true parts."""
    np.save(tmp_path / "rows.npy", MADE.X)
    np.savez(tmp_path / "rows.npz", X=MADE.X, other=np.zeros(3))
    header = ",".join(f"sensor {k}" for k in range(12))
    np.savetxt(tmp_path / "rows.csv", MADE.X, delimiter=",", header=header, comments="", fmt="%.17g")
    np.save(tmp_path / "background.npy", MADE.low_rank)
    np.save(tmp_path / "foreground.npy", MADE.outliers)
    return tmp_path


@pytest.fixture
def frames(tmp_path, rng):
    """Images of 4 x 6 pixels, of rank one but for a few spots, and a file that is none."""
    folder = tmp_path / "frames"
    folder.mkdir()
    light = np.linspace(0.3, 0.9, 24).reshape(4, 6)
    for number in range(30):
        picture = light * rng.uniform(0.5, 1.0)
        picture[number % 4, number % 6] = 1.0
        Image.fromarray(np.uint8(np.round(255 * picture))).save(folder / f"frame {number:02}.png")
    (folder / "notes.txt").write_text("no image")
    return folder


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv"])
def test_every_format_gives_the_model_of_the_estimator(run, data, suffix):
    ended = run("train", f"rows{suffix}", *QUICK, "--json")
    assert (ended.code, ended.err) == (0, "")
    model = unmingle.load(data / "model.safetensors")
    assert same(model, expected())
    told = json.loads(ended.out)
    assert told["card"] == json.loads(json.dumps(model.card_))
    assert told["card"]["data"] == f"rows{suffix}"
    assert (told["data"], told["model"]) == (f"rows{suffix}", "model.safetensors")
    assert (told["card"]["samples"], told["card"]["features"], told["card"]["steps"]) == (80, 12, 8)
    assert not (data / "model.safetensors.training").exists()


def test_training_that_gained_nothing_is_told_once(run, data, monkeypatch):
    monkeypatch.undo()
    monkeypatch.chdir(data)
    ended = run("train", "rows.npy", *QUICK)
    assert ended.err.count("Training gained nothing worth speaking of over the untrained network of 2 layers") == 1


def test_the_card_is_printed_as_a_table(run, data):
    ended = run("train", "rows.npy", *QUICK)
    assert ended.code == 0, ended.err
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    card = unmingle.load(data / "model.safetensors").card_
    assert [line.startswith(name) for line, name in zip(lines, card, strict=False)] == [True] * len(card)
    assert "data rows.npy" in lines
    assert "loss unsupervised" in lines
    assert lines[-1] == "model: model.safetensors"
    assert run("train", "rows.npy", *QUICK, "--quiet") == (0, "", "")


def test_options_reach_the_estimator(run, data):
    given = {
        "--components": 1, "--layers": 3, "--loss": "imitation", "--structure": "full", "--rank-penalty": 0.5,
        "--outlier-penalty": 0.2, "--passes": 2, "--max-steps": 7, "--batch-size": 30, "--step-size": 0.02,
        "--validation": 0.25, "--seed": 5,
    }  # fmt: skip
    arguments = [word for pair in given.items() for word in pair]
    ended = run("train", "rows.npy", "--out", "new/model.safetensors", "--untied", "--update-dictionary", *arguments)
    assert ended.code == 0, ended.err
    got = unmingle.load(data / "new" / "model.safetensors").get_params()
    wanted = {
        "n_components": 1, "n_layers": 3, "loss": "imitation", "structure": "full", "rank_penalty": 0.5,
        "outlier_penalty": 0.2, "training": Training(2, 7, 30, 0.02, 0.25), "random_state": 5, "tied": False,
        "update_dictionary": True,
    }  # fmt: skip
    assert {name: got[name] for name in wanted} == wanted


def test_defaults_are_those_of_the_estimator(run, data):
    assert run("train", "rows.npy", "--out", "model.safetensors", "--passes", "0.1").code == 0
    got = unmingle.load(data / "model.safetensors").get_params()
    assert got == {**unmingle.LearnedRobustPCA().get_params(), "training": Training(passes=0.1), "random_state": 0}


def test_nonnegative_data_give_nonnegative_models(run, data):
    np.save(data / "positive.npy", np.abs(MADE.X))
    ended = run("train", "positive.npy", *QUICK, "--nonnegative", "--components", "2")
    assert ended.code == 0, ended.err
    settings = {"n_layers": 2, "training": SHORT, "random_state": 0}
    model = unmingle.load(data / "model.safetensors")
    assert same(model, unmingle.LearnedRobustNMF(2, **settings).fit(np.abs(MADE.X)))
    assert model.components_.min() >= 0
    assert model.get_params() == {**unmingle.LearnedRobustPCA(2, **settings).get_params()}


@pytest.mark.parametrize(("name", "column"), [("rows.npy", "{}"), ("rows.csv", "sensor {}")])
def test_negative_data_are_refused_with_their_place(name, column, run, data):
    row, place = np.argwhere(MADE.X < 0)[0]
    line = f"{row}" if name == "rows.npy" else f"line {row + 2}"
    where = f"holds {MADE.X[row, place]:g} in row '{line}', column '{column.format(place)}'"
    assert failed(run("train", name, *QUICK, "--nonnegative"), where, "at least 0")
    assert not (data / "model.safetensors").exists()


def test_a_folder_of_images(run, frames):
    ended = run("train", "frames", *QUICK)
    assert ended.code == 0, ended.err
    assert "frames, 30 images of 4 x 6 pixels" in ended.out
    names = sorted(frames.glob("*.png"))
    X = np.stack([np.asarray(Image.open(name), np.float32).ravel() / np.float32(255) for name in names])
    model = unmingle.load("model.safetensors")
    assert model.components_.dtype == np.float32
    assert same(model, expected(X))


def test_images_are_brought_to_one_size(run, frames):
    Image.fromarray(np.full((8, 12, 3), 128, np.uint8)).save(frames / "frame 07.png")
    ended = run("train", "frames", *QUICK)
    assert failed(ended, "frame 07.png has 12 x 8 pixels, but frame 00.png has 6 x 4 pixels", "--size HxW")
    assert not list(frames.parent.glob("model*"))
    ended = run("train", "frames", *QUICK, "--size", "2x3", "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["card"]["features"] == 6


def test_bad_folders_get_one_sentence(run, frames, tmp_path):
    (tmp_path / "empty").mkdir()
    assert failed(run("train", "empty", *QUICK), "empty contains no images")
    (frames / "frame 03.png").write_bytes(b"nonsense")
    assert failed(run("train", "frames", *QUICK), "frame 03.png is damaged or not an image")


def test_the_command_line_wins_over_the_file_of_settings(run, data):
    (data / "settings.toml").write_text(
        'out = "model.safetensors"\nlayers = 3\nmax-steps = 5\nuntied = true\nupdate-dictionary = true\n'
        'batch_size = 10\nstep-size = 1\nstructure = "full"\nrank-penalty = 0.5\noutlier_penalty = "auto"\n'
    )
    ended = run("train", "rows.npy", "--config", "settings.toml", "--layers", "2", "--keep-dictionary")
    assert ended.code == 0, ended.err
    got = unmingle.load(data / "model.safetensors").get_params()
    wanted = {
        "n_layers": 2, "tied": False, "update_dictionary": False, "structure": "full", "rank_penalty": 0.5,
        "outlier_penalty": "auto", "training": Training(max_steps=5, batch_size=10, step_size=1.0),
    }  # fmt: skip
    assert {name: got[name] for name in wanted} == wanted
    ended = run("train", "rows.npy", "--rank-penalty", "auto", "--tied", "--layers", "3", "--config", "settings.toml")
    assert ended.code == 0, ended.err
    got = unmingle.load(data / "model.safetensors").get_params()
    assert (got["rank_penalty"], got["tied"], got["n_layers"], got["update_dictionary"]) == ("auto", True, 3, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("depth = 3", ["'depth'", "layers"]),
        ("json = true", ["'json'"]),
        ('config = "other.toml"', ["'config'"]),
        ('layers = "three"', ["layers must be a whole number", "'three'"]),
        ("layers = 2.5", ["layers must be a whole number"]),
        ("layers = true", ["layers must be a whole number"]),
        ("layers = 0", ["layers cannot be 0"]),
        ("step-size = 'big'", ["step-size must be a number"]),
        ("untied = 1", ["untied must be true or false"]),
        ("loss = 'none'", ["loss cannot be 'none'", "imitation"]),
        ("loss = 3", ["loss must be a word"]),
        ("rank-penalty = -1", ["rank-penalty cannot be -1"]),
        ("rank-penalty = true", ["rank-penalty must be a number"]),
        ("size = '4'", ["size cannot be '4'", "48x64"]),
        ("size = 4", ["size cannot be 4", "48x64"]),
        ("size = [4, 6]", ["size must be a number or a word"]),
        ("batch-size = 3\nbatch_size = 4", ["twice"]),
        ("[train]\nlayers = 3", ["'train'"]),
        ("layers 3", ["not TOML"]),
    ],
)
def test_wrong_settings_are_named(run, data, text, words):
    (data / "settings.toml").write_text(text)
    assert failed(run("train", "rows.npy", *QUICK, "--config", "settings.toml"), "settings.toml", *words)
    assert not (data / "model.safetensors").exists()


def test_a_file_of_settings_that_is_none(run, data):
    assert failed(run("train", "rows.npy", *QUICK, "--config", "none.toml"), "none.toml does not exist")
    (data / "settings.toml").write_bytes(b"\xff\xfe\x00")
    assert failed(run("train", "rows.npy", *QUICK, "--config", "settings.toml"), "not UTF-8")
    assert failed(run("train", "rows.npy", *QUICK, "--config", "."), "Is a directory")


def test_true_parts(run, data):
    parts = ["--background", "background.npy", "--foreground", "foreground.npy"]
    ended = run("train", "rows.npy", *QUICK, "--loss", "source", *parts)
    assert ended.code == 0, ended.err
    y = np.stack([MADE.low_rank, MADE.outliers], axis=1)
    assert same(unmingle.load(data / "model.safetensors"), expected(y=y, loss="source"))
    np.save(data / "background.npy", MADE.low_rank[:-1])
    assert failed(run("train", "rows.npy", *QUICK, "--loss", "source", *parts), "background.npy has 79 rows", "80 rows")
    np.save(data / "background.npy", np.where(MADE.X > 2, np.nan, MADE.low_rank))
    assert failed(run("train", "rows.npy", *QUICK, "--loss", "source", *parts), "background.npy has missing entries")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--loss", "source"],
        ["--loss", "source", "--background", "background.npy"],
        ["--background", "background.npy", "--foreground", "foreground.npy"],
        ["--loss", "all"],
        ["--size", "4x6"],
        ["--size", "4"],
        ["--size", "0x6"],
        ["--layers", "0"],
        ["--validation", "2"],
        ["--out", "."],
        ["--out", "rows.npy"],
        ["--checkpoint", "."],
        ["--checkpoint", "rows.npy"],
        ["--checkpoint", "model.safetensors"],
    ],
)
def test_wrong_usage(run, data, arguments):
    ended = run("train", "rows.npy", *QUICK, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert np.array_equal(np.load(data / "rows.npy"), MADE.X)
    assert not list(data.glob("model*"))


def test_samples_need_no_word_and_a_folder_of_that_name_is_a_path(run, data, frames):
    command = ["rows.npy", *QUICK, "--json"]
    assert run("train", *command).out == run("train", "samples", *command).out != ""
    assert run("train", *QUICK, "--quiet", "rows.npy") == (0, "", "")
    frames.rename("samples")
    told = json.loads(run("train", "./samples", *QUICK, "--json").out)
    assert told["card"]["data"].startswith("samples, ")
    assert run("train", "samples", *QUICK).code == 2


def test_the_model_file_must_be_named(run, data):
    assert run("train", "rows.npy").code == 2


def interrupt_at(monkeypatch, step):
    """Press Ctrl-C after some steps; return the list of the steps that were told of."""
    learn, seen = train.learn, []

    def interrupted(model, samples, parts, checkpoint, callback, **options):
        def count_or_stop(progress):
            callback(progress)
            seen.append(progress.done)
            if progress.done >= step:
                raise KeyboardInterrupt

        return learn(model, samples, parts, checkpoint, count_or_stop, **options)

    monkeypatch.setattr(train, "learn", interrupted)
    return seen


@pytest.mark.parametrize("options", [["--update-dictionary"], ["--checkpoint", "work/half.safetensors"]])
def test_interrupted_training_goes_on_to_the_same_file(run, data, options):
    work = options[-1] if len(options) == 2 else "model.safetensors.training"
    command = ["train", "rows.npy", *QUICK, *options]
    assert run(*command).code == 0
    complete = (data / "model.safetensors").read_bytes()
    (data / "model.safetensors").unlink()
    for done, step in ((0, 3), (3, 6)):
        with pytest.MonkeyPatch.context() as patched:
            seen = interrupt_at(patched, step)
            ended = run(*command)
        assert seen == list(range(done + 1, step + 1))
        assert (ended.code, ended.out) == (130, "")
        assert ended.err.splitlines()[-1] == f"Interrupted; the same command goes on from {work}."
        assert (data / work).exists()
        assert not (data / "model.safetensors").exists()
    ended = run(*command)
    assert (ended.code, ended.err) == (0, f"Going on from {work}.\n")
    assert (data / "model.safetensors").read_bytes() == complete
    assert not (data / work).exists()


def test_training_that_was_complete_but_for_the_model(run, data, monkeypatch):
    with monkeypatch.context() as patched:
        interrupt_at(patched, 8)
        assert run("train", "rows.npy", *QUICK).code == 130
    ended = run("train", "rows.npy", *QUICK)
    assert (ended.code, ended.err) == (0, "Going on from model.safetensors.training.\n")
    assert same(unmingle.load(data / "model.safetensors"), expected())


def test_a_checkpoint_of_another_command_is_refused(run, data, monkeypatch):
    with monkeypatch.context() as patched:
        interrupt_at(patched, 3)
        assert run("train", "rows.npy", *QUICK).code == 130
    half = (data / "model.safetensors.training").read_bytes()
    sentence = "model.safetensors.training belongs to other data or settings"
    for option in (["--max-steps", "9"], ["--layers", "3"], ["--rank-penalty", "2"], ["--update-dictionary"]):
        assert failed(run("train", "rows.npy", *QUICK, *option), sentence)
    assert (data / "model.safetensors.training").read_bytes() == half
    assert run("train", "rows.npy", *QUICK, "--quiet") == (0, "", "")
    (data / "model.safetensors.training").write_bytes(b"nonsense")
    assert failed(run("train", "rows.npy", *QUICK), "model.safetensors.training is damaged")


def test_interrupted_before_any_checkpoint(run, data, monkeypatch):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "learn", stop)
    ended = run("train", "rows.npy", *QUICK)
    assert (ended.code, ended.err) == (130, "Interrupted; incomplete results are not kept.\n")


def test_bad_input_gets_one_sentence(run, data):
    (data / "rows.txt").write_text("1 2 3")
    (data / "file").write_text("no folder")
    np.save(data / "cube.npy", np.zeros((2, 2, 2)))
    np.save(data / "missing.npy", np.full((5, 4), np.nan))
    assert failed(run("train", "none.npy", *QUICK), "none.npy does not exist")
    assert failed(run("train", "rows.txt", *QUICK), "rows.txt has no rows of numbers")
    assert failed(run("train", "cube.npy", *QUICK), "shape (2, 2, 2)")
    assert failed(run("train", "missing.npy", *QUICK), "every entry is missing")
    assert failed(
        run("train", "rows.npy", *QUICK, "--out", "file/model.safetensors"), "not a folder that can be written to"
    )
    for option, value, sentence in (
        ("--step-size", "0", "step_size must be a finite number above 0"),
        ("--validation", "1", "validation must be a number of at least 0 and below 1"),
    ):
        ended = run("train", "rows.npy", *QUICK, option, value)
        assert (ended.code, ended.out) == (2, "")
        assert sentence in " ".join(ended.err.split())
    assert not list(data.glob("model*"))


def test_data_without_components_are_pointed_out(run, data):
    ended = run("train", "rows.npy", *QUICK, "--rank-penalty", "1e6", "--outlier-penalty", "1")
    assert ended.code == 0
    assert ended.err.startswith("Note: the data ask for no components")


def test_without_torch_the_command_is_named(run, data, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("unmingle.learn")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert failed(run("train", "rows.npy", *QUICK), "This needs PyTorch", "pip install torch")


def test_without_pillow_the_command_is_named(run, frames, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    assert failed(run("train", "frames", *QUICK), "This needs Pillow", "pip install pillow")


def test_info_and_export_know_the_file(run, data):
    assert run("train", "rows.npy", *QUICK, "--quiet").code == 0
    model = unmingle.load(data / "model.safetensors")
    lines = [" ".join(line.split()) for line in run("info", "model.safetensors").out.splitlines()]
    card = lines[lines.index("card") + 1 :]
    assert card[:3] == ["data rows.npy", f"made by unmingle {unmingle.__version__}", "samples 80"]
    told = json.loads(run("info", "model.safetensors", "--json").out)
    assert told["parameters"]["fitted"]["card_"] == model.card_
    assert (told["kind"], told["encoder"]["layers"]) == ("LearnedRobustPCA", 2)
    assert told["encoder"]["departure"] > 0
    ended = run("export", "model.safetensors", "model.onnx")
    assert ended.code == 0, ended.err
    session = InferenceSession(data / "model.onnx", providers=["CPUExecutionProvider"])
    codes, low_rank, outliers = session.run(None, {"samples": MADE.X})
    part = model.decompose(MADE.X)
    assert np.allclose(codes, part.codes, atol=1e-10)
    assert np.allclose(low_rank, part.low_rank, atol=1e-10)
    assert np.allclose(outliers, part.outliers, atol=1e-10)
