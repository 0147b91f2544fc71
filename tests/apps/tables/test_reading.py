"""Files of tables: read as pandas reads them where it is told how, and written back as they were."""

import gzip
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmingle.apps import tables
from unmingle.apps.tables import _columns, _numbers, _text
from unmingle.apps.tables._outputs import write_outliers

MIXED = pd.DataFrame(
    {
        "day": pd.date_range("2024-01-30", periods=4).astype(str),
        "place": ["a,b", 'say "hi"', "=1+1", "two\nlines"],
        "count": [3, -4, 5_000, 0],
        "level": [1.5, np.nan, -2.25e-7, 1e12],
        "blank": [np.nan] * 4,
    }
)


def columns_of(table):
    return dict(zip(table.columns, table.values.T, strict=True))


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_numbers_are_those_of_pandas_told_how(tmp_path, delimiter, decimal, encoding):
    MIXED.to_csv(tmp_path / "x.csv", sep=delimiter, decimal=decimal, index=False, encoding=encoding)
    table = tables.read_table(tmp_path / "x.csv")
    told = pd.read_csv(tmp_path / "x.csv", sep=delimiter, decimal=decimal, encoding=encoding)
    assert table.columns == ["count", "level"]
    assert table.skipped == {"day": "dates", "place": "text", "blank": "empty"}
    for name, values in columns_of(table).items():
        np.testing.assert_allclose(values, told[name], rtol=1e-15)
    assert list(table.rows) == list(MIXED["day"])
    assert table.whole.tolist() == [True, False]


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.csv.gz", "x.xlsx", "x.parquet"])
@pytest.mark.parametrize("source", ["y.csv", "y.xlsx", "y.parquet"])
def test_what_is_not_changed_stays_in_every_format(tmp_path, source, name):
    ways = {".csv": MIXED.to_csv, ".xlsx": MIXED.to_excel, ".parquet": MIXED.to_parquet}
    ways[f".{source[2:]}"](tmp_path / source, index=False)
    table = tables.read_table(tmp_path / source)
    changed = np.isnan(table.values)
    tables.write_table(table, tmp_path / name, np.full(table.values.shape, 7.6), changed=changed)
    again = tables.read_table(tmp_path / name)
    expected = np.where(changed, 7.6, table.values)
    np.testing.assert_allclose(again.values, expected, rtol=1e-12)
    assert again.columns == table.columns
    assert again.skipped == table.skipped
    places = [str(cell) for cell in again._frame["place"]]
    formula = ["nan", "", "None"] if source == "y.xlsx" else ["=1+1"]  # that of pandas has no value yet
    assert places[2] in formula
    assert [*places[:2], places[3]] == [*MIXED["place"][:2], MIXED["place"][3]]
    assert again.whole.tolist() == [True, False]


def test_text_is_written_back_to_the_letter(tmp_path):
    text = "\ufeffday;x;y\r\n1.2.2024;1.000,50;007\r\n2.2.2024;;8\r\n3.2.2024;2,5 %;9\r\n4.2.2024;3;-\r\n"
    (tmp_path / "x.csv").write_bytes(text.encode())
    table = tables.read_table(tmp_path / "x.csv")
    np.testing.assert_array_equal(table.values, [[1000.5, 7], [np.nan, 8], [2.5, 9], [3, np.nan]])
    tables.write_table(table, tmp_path / "same.csv", table.values, changed=np.zeros((4, 2), bool))
    assert (tmp_path / "same.csv").read_bytes() == text.encode()
    changed = np.isnan(table.values)
    tables.write_table(table, tmp_path / "filled.csv", np.full((4, 2), 1234.567), changed=changed)
    filled = text.replace("2024;;8", "2024;1234,57;8").replace("3;-", "3;1235")
    assert (tmp_path / "filled.csv").read_bytes() == filled.encode()


def test_the_index_and_the_types_of_parquet_stay(tmp_path):
    frame = MIXED.set_index(pd.Index(["w", "x", "y", "z"], name="key")).astype({"count": "Int32", "level": "float32"})
    frame.to_parquet(tmp_path / "x.parquet")
    table = tables.read_table(tmp_path / "x.parquet")
    assert list(table.rows) == ["w", "x", "y", "z"]
    tables.write_table(table, tmp_path / "y.parquet", table.values, changed=np.zeros(table.values.shape, bool))
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "y.parquet"), pd.read_parquet(tmp_path / "x.parquet"))


def test_a_book_holds_no_formula_that_was_text(tmp_path):
    from openpyxl import load_workbook

    MIXED.to_csv(tmp_path / "x.csv", index=False)
    table = tables.read_table(tmp_path / "x.csv")
    tables.write_table(table, tmp_path / "x.xlsx", table.values, changed=np.isnan(table.values))
    cells = [cell for line in load_workbook(tmp_path / "x.xlsx").active.iter_rows() for cell in line]
    assert any(cell.value == "=1+1" for cell in cells)
    assert all(cell.data_type != "f" for cell in cells)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx"])
def test_cells_that_would_run_get_an_apostrophe_in_the_list_only(tmp_path, suffix):
    frame = pd.DataFrame(
        {"name": ["=HYPERLINK(1)", "@x", "+1+1", "-5", "plain"], "=a": [1.0, 2, 3, 4, 5], "b": [2.0] * 5}
    )
    frame.to_csv(tmp_path / "x.csv", index=False)
    table = tables.read_table(tmp_path / "x.csv")
    cells = [{"row": name, "column": "=a", "value": 1.0, "expected": 2.0, "significance": 9.0} for name in table.rows]
    write_outliers(table, tmp_path / f"list{suffix}", cells)
    path = tmp_path / f"list{suffix}"
    found = pd.read_excel(path) if suffix == ".xlsx" else pd.read_csv(path, sep="\t" if suffix == ".tsv" else ",")
    assert found["row"].astype(str).tolist() == ["'=HYPERLINK(1)", "'@x", "'+1+1", "-5", "plain"]
    assert set(found["column"]) == {"'=a"}
    tables.write_table(table, tmp_path / "y.csv", table.values, changed=np.zeros(table.values.shape, bool))
    assert pd.read_csv(tmp_path / "y.csv")["name"].tolist() == frame["name"].tolist()


NUMBERS = st.one_of(st.none(), st.integers(-(10**6), 10**6), st.floats(-1e9, 1e9, allow_subnormal=False))


@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=2, max_size=12),
    decimal=st.sampled_from(".,"),
    delimiter=st.sampled_from(";\t|"),
)
def test_any_numbers_come_back(tmp_path_factory, rows, decimal, delimiter):
    frame = pd.DataFrame(rows, columns=["first", "second", "third"], dtype=object)
    path = tmp_path_factory.mktemp("any") / "x.csv"
    text = frame.to_csv(sep=delimiter, index=False, na_rep="NA").replace(".", decimal)
    path.write_text(text)
    told = pd.read_csv(io.StringIO(text), sep=delimiter, decimal=decimal)
    try:
        table = tables.read_table(
            path, min_shape=(1, 0), use=[name for name in told if told[name].notna().any()], decimal=decimal
        )
    except tables.TableError as error:
        pytest.fail(str(error))
    for name, values in columns_of(table).items():
        np.testing.assert_allclose(values, told[name].to_numpy(float), rtol=1e-15)
    assert set(table.columns) == {name for name in told if told[name].notna().any()}


def assert_sentence(words):
    assert words.endswith(".")
    assert "\n" not in words


@pytest.mark.parametrize("seed", range(150))
def test_spoilt_files_give_a_table_or_a_sentence(tmp_path, seed):
    rng = np.random.default_rng(seed)
    name = rng.choice(["x.csv", "x.csv.gz", "x.xlsx", "x.parquet", "x.zip"])
    buffer = io.BytesIO()
    if name == "x.xlsx":
        MIXED.to_excel(buffer, index=False)
    elif name == "x.parquet":
        MIXED.to_parquet(buffer)
    else:
        MIXED.to_csv(tmp_path / name, index=False)
        buffer.write((tmp_path / name).read_bytes())
    content = bytearray(buffer.getvalue())
    for _ in range(rng.integers(1, 4)):
        way, place = rng.integers(4), rng.integers(len(content))
        if way == 0:
            content = content[:place] or bytearray(b"x")
        elif way == 1:
            content[place] = rng.integers(256)
        elif way == 2:
            content[place:place] = rng.choice([b'"', b",", b";", b"\n", b"\x00", b"\xff", b"1,5", b"1e999"])
        else:
            del content[place : place + rng.integers(1, 9)]
        content = content or bytearray(b"x")
    (tmp_path / name).write_bytes(bytes(content))
    try:
        table = tables.read_table(tmp_path / name)
    except tables.TableError as error:
        assert_sentence(str(error))
        return
    assert not np.isinf(table.values).any()
    tables.write_table(table, tmp_path / "again.csv", table.values, changed=np.isnan(table.values))


def test_gz_is_packed_again(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(MIXED.to_csv(index=False).encode()))
    table = tables.read_table(tmp_path / "x.csv.gz")
    tables.write_table(table, tmp_path / "y.csv.gz", table.values, changed=np.zeros(table.values.shape, bool))
    assert gzip.decompress((tmp_path / "y.csv.gz").read_bytes()) == MIXED.to_csv(index=False).encode()


@pytest.mark.parametrize(
    ("name", "values", "is_id"),
    [
        ("customer_id", [5, 3, 9, 1], True),
        ("station", range(7, 27), True),
        ("time", np.arange(20) ** 2, True),
        ("customer_id", [5, 3, 3, 1], False),
        ("customer_id", [5, 3, 3.5, 1], False),
        ("visits", np.random.default_rng(0).permutation(1000)[:20], False),
        ("visits", [1, 2, 3, 4], False),
    ],
)
def test_row_numbers_are_told_from_measurements(tmp_path, name, values, is_id):
    values = np.asarray(values)
    frame = pd.DataFrame({name: values, "a": np.sqrt(np.arange(len(values)) + 2.0), "b": 0.5})
    frame.to_csv(tmp_path / "x.csv", index=False)
    assert tables.read_table(tmp_path / "x.csv").skipped == ({name: "ids"} if is_id else {})
    table = tables.read_table(tmp_path / "x.csv", use=[name])
    np.testing.assert_array_equal(table.values[:, 0], values)


PLAIN = {
    "plain": "a,b\n1,2.50\n-3,4e5\n,nan\n",
    "words": "a,b\nNA,1\n2,-\n?,3.25\n",
    "decimal commas": "a;b\n1,5;2\n;3,25\nn,a,;4\n",
    "points among decimal commas": "a;b;c\n1,5;1.234,5;1\n2,5;2.5;2\n3,5;3;3\n",
    "other numbers": "a,b,c\n1_000,+5,1\n2,.5,0x1A\n3,5.,3\n",
    "not plain": 'a,b\n5 %,"1,234"\n6 %,"5,678"\n',
    "infinite": "a,b\n1,inf\n2,3\n",
    "padded": "a, b\n1, 2\n  3 ,4 \n",
    "blank": "a,b\n1,2\n\n,\n  \n3,4\n",
    "ragged": "a,b\n1,2\n3\n",
    "ragged with quotes": 'a,b\n"1,5",2\n3\n',
}


@pytest.mark.parametrize("name", PLAIN)
def test_columns_read_at_once_are_those_read_cell_by_cell(tmp_path, monkeypatch, name):
    """By pyarrow, by pandas alone, and by all rules for every column."""
    (tmp_path / "x.csv").write_text(PLAIN[name])

    def read():
        try:
            table = tables.read_table(tmp_path / "x.csv", min_shape=(1, 0))
        except tables.TableError as error:
            return str(error)
        places = []
        for changed in (np.zeros(table.values.shape, bool), np.ones(table.values.shape, bool)):
            place = tmp_path / "y.csv"
            tables.write_table(table, place, np.full(table.values.shape, 7.123456), changed=changed)
            places.append(place.read_text())
        values = table.values.tobytes()
        return values, table.columns, table.rows, table.skipped, table.whole.tolist(), table.notes, places

    by_pyarrow = read()
    monkeypatch.setattr(_text, "is_installed", lambda package: False)
    monkeypatch.setattr(_numbers, "is_installed", lambda package: False)
    assert read() == by_pyarrow
    monkeypatch.setattr(_columns, "parse_plain_numbers", lambda cells, decimal: None)
    assert read() == by_pyarrow
