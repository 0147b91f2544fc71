"""The experiments of the paper, in small."""

import json

import numpy as np
import pytest
from made_faces import made_faces, write_pictures

from lab.data import DataMissing
from lab.paper.faces import FaceSet, online_faces, online_page, read_faces, table1, table1_page
from lab.paper.faces._cells import METHODS, Case
from lab.registry import EXPERIMENTS
from unmingle.core.objective import projection


def test_known_files_are_found_in_a_subfolder(rng, tmp_path):
    (tmp_path / "faces").mkdir()
    frames = rng.integers(0, 256, (16, 5, 4), dtype=np.uint8)
    np.savez(tmp_path / "faces" / "frey_0000_1499.npz", frames=frames)
    (faces,) = read_faces(tmp_path)
    assert (faces.name, faces.n_components, faces.person) == ("Frey", 20, None)
    np.testing.assert_allclose(faces.X, frames.reshape(16, -1) / 255, rtol=1e-6)


def test_own_pictures_in_the_order_of_time_or_by_person(rng, tmp_path):
    images = made_faces(rng, 12)
    write_pictures(tmp_path / "film", images)
    (film,) = read_faces(tmp_path / "film")
    assert film.person is None
    np.testing.assert_allclose(film.images, images, atol=0.003)
    for person in ("anna", "bert"):
        write_pictures(tmp_path / "people" / person, images[:6])
    (people,) = read_faces(tmp_path / "people")
    assert people.person.tolist() == ["anna"] * 6 + ["bert"] * 6


def test_absent_and_damaged_data_are_told(tmp_path):
    with pytest.raises(DataMissing, match=r"contains no faces: expected frey.*--data or UNMINGLE_DATA"):
        read_faces(tmp_path)
    (tmp_path / "frey_0000_1499.npz").write_bytes(b"nothing")
    with pytest.raises(DataMissing, match="is damaged"):
        read_faces(tmp_path)


def test_splits_are_complete_and_keep_persons_or_time_apart(rng):
    person = np.repeat(np.arange(8), 16)
    faces = FaceSet("people", made_faces(rng, 128), person, 3)
    train, test = faces.splits()["random"]
    assert sorted([*train, *test]) == list(range(128))
    assert np.bincount(person[train]).tolist() == [10] * 8
    train, test = faces.splits()["person"]
    assert set(person[train]) == set(range(5))
    assert set(person[test]) == {5, 6, 7}
    film = FaceSet("film", faces.images, None, 3)
    train, test = film.splits()["time"]
    assert train.tolist() == list(range(80))
    assert test.tolist() == list(range(80, 128))


def test_exact_costs_are_lowest_for_their_dictionary(rng):
    X = made_faces(rng, 60).reshape(60, -1)
    case = Case.of(X[:40], X[40:], 3)
    for name, components in case.dictionaries.items():
        exact = case.exact(name)
        zero = projection(X[40:], components, np.zeros((20, 3), X.dtype), 0 * X[40:], 0.1, 0.01).mean()
        untrained = case.trained(METHODS["untrained"]._replace(start=name), 2, 0, 0)
        cost = case.costs(components, *untrained.encode(case.test))["f"]
        assert exact["f"] < cost < zero
        assert exact["F"] == pytest.approx(exact["f"] + 0.1 * np.sum(components**2) / 80, rel=1e-5)


def test_table_is_complete_and_goes_on_where_it_ended(rng, tmp_path, monkeypatch):
    faces = FaceSet("film", made_faces(rng, 48), None, 3)
    calls = []
    result = table1([faces], tmp_path, layers=(1, 2), max_steps=10, n_jobs=1, callback=calls.append)
    assert (calls[-1].done, calls[-1].total) == (20, 20)
    assert json.loads((tmp_path / "table1.json").read_text()) == result
    for entry in result["sets"]["film"].values():
        for method in METHODS:
            for depth in ("1", "2"):
                assert entry["exact"]["svd"]["f"] > 0
                assert np.isfinite(list(entry["cells"][method][depth].values())).all()
    deepest = [cells["2"] for cells in entry["cells"].values()] + list(entry["exact"].values())
    head, rows = EXPERIMENTS["table1"].tables(result)[-1]
    assert head == ["film, split by time", "f", "F"]
    assert [row[1:] for row in rows] == [[f"{costs['f']:.4f}", f"{costs['F']:.4f}"] for costs in deepest]
    page = table1_page(result)
    assert page.count("<svg") == 2
    assert page.count("<polyline") == 2 * len(METHODS)
    assert f"{entry['cells']['imitation']['2']['f']:.4f}" in page
    monkeypatch.setattr(Case, "cell", lambda *_: pytest.fail("was done already"))
    assert table1([faces], tmp_path, layers=(1, 2), max_steps=10, n_jobs=1) == result


def test_online_encoder_is_judged_before_it_learns(rng, tmp_path):
    faces = FaceSet("film", made_faces(rng, 240), None, 3)
    result = online_faces(faces, tmp_path, max_steps=20)
    assert {len(values) for values in result["F"].values()} == {140}
    first = {name: values[:10] for name, values in result["F"].items()}
    np.testing.assert_allclose(first["online"], first["offline"], rtol=1e-6)
    exact, offline = (np.array(result["F"][name]) for name in ("exact, first dictionary", "offline"))
    assert (exact <= offline * (1 + 1e-5)).all()
    ((_, rows),) = EXPERIMENTS["online"].tables(result)
    assert rows == [[name, f"{np.mean(values[100:]):.4f}"] for name, values in result["F"].items()]
    page = online_page(result)
    assert (page.count("<svg"), page.count("<polyline")) == (1, 4)
    with pytest.raises(DataMissing, match="needs 210"):
        online_faces(FaceSet("few", faces.images[:150], None, 3), tmp_path)
    people = FaceSet("people", faces.images, np.arange(240), 3)
    with pytest.raises(DataMissing, match="not in the order of time"):
        online_faces(people, tmp_path)


def test_online_encoder_beats_fixed_dictionaries_on_real_faces(data_dir, tmp_path):
    frey = next(faces for faces in read_faces(data_dir) if faces.name == "Frey")
    few = FaceSet("Frey", frey.images[:600], None, frey.n_components)
    means = online_faces(few, tmp_path, max_steps=200)["mean_F_settled"]
    assert means["online"] < means["exact, first dictionary"] <= means["offline"] <= means["untrained"] * (1 + 1e-6)
