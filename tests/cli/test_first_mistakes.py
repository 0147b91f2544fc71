"""What a new user does: each gives the right result, or one sentence that helps."""

import gzip
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from command_line import failed
from sensor_tables import FAULT, GAP, readings, truth


def text(frame=None, **options):
    return (readings() if frame is None else frame).to_csv(index=False, **options)


def with_column(values, name="x", place=0):
    frame = readings()
    frame.insert(place, name, values)
    return frame


def dates():
    return pd.date_range("2024-03-01", periods=40, freq="h").strftime("%Y-%m-%d %H:%M")


def formatted(pattern):
    """The table with its numbers as text."""
    return readings().map(lambda value: "" if np.isnan(value) else pattern(value))


def grouped(value):
    """1234.5 as 1.234,50."""
    return f"{1000 * value:,.2f}".translate(str.maketrans(",.", ".,"))


def zipped(path, names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, text())


def book(path, frames):
    with pd.ExcelWriter(path) as writer:
        for name, frame in frames.items():
            frame.to_excel(writer, sheet_name=name, index=False)


def excel_in_disguise(path):
    readings().to_excel(path.with_suffix(".xlsx"), index=False)
    path.with_suffix(".xlsx").rename(path)


def days():
    return pd.date_range("2024-01-20", periods=40).strftime("%d.%m.%Y")


def a_twice():
    return text(with_column(np.arange(40) ** 0.5, "g", 6)).replace("g", "a", 1)


TEXT_SITE = "as text, and carried along unchanged: 'site'"
TEXT_ON = "as text, and carried along unchanged: 'on'"
LATER_DATES = "as dates, and carried along unchanged: 'time'"
ROW_NUMBERS = "as row numbers, and carried along unchanged: 'customer'"
UNITS = "\n°C,m,bar,V,A,s\n"
FROM_R = "a,b,c,d,e,f\n" + readings().to_csv(header=False)
WORKS = {
    "plain.csv": (lambda path: path.write_text(text()), ""),
    "tabs.tsv": (lambda path: path.write_text(text(sep="\t")), ""),
    "tabs.csv": (lambda path: path.write_text(text(sep="\t")), ""),
    "semicolons.csv": (lambda path: path.write_text(text(sep=";")), ""),
    "bars.txt": (lambda path: path.write_text(text(sep="|")), ""),
    "spaces.txt": (lambda path: path.write_text(readings().to_string(index=False)), ""),
    "decimal_commas.csv": (lambda path: path.write_text(text(sep=";", decimal=",")), ""),
    "commas_everywhere.csv": (lambda path: path.write_text(text(decimal=",")), ""),
    "thousands.csv": (lambda path: path.write_text(text(formatted(lambda x: f"{1000 * x:,.2f}"))), ""),
    "european.csv": (lambda path: path.write_text(text(formatted(grouped), sep=";")), ""),
    "percent.csv": (lambda path: path.write_text(text(formatted(lambda x: f"{x:.2f} %"))), ""),
    "latin.csv": (lambda path: path.write_bytes(text(with_column(["Zürich"] * 40)).encode("latin-1")), "cp1252"),
    "utf16.csv": (lambda path: path.write_bytes(text().encode("utf-16")), ""),
    "mark.csv": (lambda path: path.write_bytes(text().encode("utf-8-sig")), ""),
    "windows.csv": (lambda path: path.write_bytes(text().replace("\n", "\r\n").encode()), ""),
    "old_mac.csv": (lambda path: path.write_bytes(text().replace("\n", "\r").encode()), ""),
    "packed.csv.gz": (lambda path: path.write_bytes(gzip.compress(text().encode())), ""),
    "packed.csv": (lambda path: path.write_bytes(gzip.compress(text().encode())), ""),
    "packed.zip": (lambda path: zipped(path, ["inner.csv"]), "The table is inner.csv"),
    "book.xlsx": (lambda path: readings().to_excel(path, index=False), ""),
    "named.csv": (excel_in_disguise, ""),
    "sheets.xlsx": (lambda path: book(path, {"May": readings(), "June": readings()}), "Sheet 'May' was read"),
    "empty_sheet.xlsx": (lambda path: book(path, {"A": pd.DataFrame(), "B": readings()}), "Sheet 'B' was read"),
    "columns.parquet": (lambda path: readings().to_parquet(path), ""),
    "indexed.parquet": (lambda path: readings().set_index(pd.Index(dates())).to_parquet(path), ""),
    "array.npy": (lambda path: np.save(path, readings().to_numpy()), ""),
    "text.csv": (lambda path: path.write_text(text(with_column(["north", "south"] * 20, "site", 2))), TEXT_SITE),
    "dates.csv": (lambda path: path.write_text(text(with_column(dates(), "time"))), ""),
    "later_dates.csv": (lambda path: path.write_text(text(with_column(dates(), "time", 3))), LATER_DATES),
    "german_dates.csv": (lambda path: path.write_text(text(with_column(days()))), ""),
    "times.csv": (lambda path: path.write_text(text(with_column([f"{h % 24}:{h % 60:02}:00" for h in range(40)]))), ""),
    "ids.csv": (lambda path: path.write_text(text(with_column(range(7000, 7040), "customer", 2))), ROW_NUMBERS),
    "pandas_index.csv": (lambda path: readings().to_csv(path), ""),
    "flags.csv": (lambda path: path.write_text(text(with_column([True, False] * 20, "on", 6))), TEXT_ON),
    "empty_column.csv": (lambda path: path.write_text(text(with_column(np.nan, "later", 3))), "left empty: 'later'"),
    "constant.csv": (lambda path: path.write_text(text(with_column(5.0, "same", 3))), ""),
    "twice.csv": (lambda path: path.write_text(a_twice()), "'a'"),
    "trailing.csv": (lambda path: path.write_text(text().replace("\n", ",\n")), "left empty"),
    "title.csv": (lambda path: path.write_text("Readings of March\n\n" + text()), "begins in line 3"),
    "comments.csv": (lambda path: path.write_text("# made by a logger\n# station 7\n" + text()), "begins in line 3"),
    "blank_lines.csv": (lambda path: path.write_text("\n" + text().replace("\n", "\n\n")), ""),
    "units.csv": (lambda path: path.write_text(text().replace("\n", UNITS, 1), encoding="utf-8"), "'°C' in line 2"),
    "words.csv": (lambda path: path.write_text(text().replace("\n", "\n1,ERR,3,4,5,6\n", 1)), "'ERR' in line 2"),
    "missing_words.csv": (lambda path: path.write_text(text(na_rep="#N/A")), ""),
    "dashes.csv": (lambda path: path.write_text(text(na_rep="-")), ""),
    "no_header.csv": (lambda path: path.write_text(text(header=False)), "first line holds numbers"),
    "from_r.csv": (lambda path: path.write_text(FROM_R), ""),
    "spaces_in_cells.csv": (lambda path: path.write_text(text().replace(",", " , ")), ""),
    "huge.csv": (lambda path: path.write_text(text().replace("99.25", "1e300")), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", WORKS)
def test_the_fault_is_found_and_the_gap_is_filled(run, tmp_path, name):
    make, note = WORKS[name]
    make(tmp_path / name)
    ended = run("decompose", name, "--json")
    assert ended.code == 0, ended.err
    assert note in ended.err, ended.err
    assert all(line.startswith("Note: ") for line in ended.err.splitlines()), ended.err
    told = json.loads(ended.out)
    strongest = told["strongest_outliers"][0]
    factor = 1000 if name in ("thousands.csv", "european.csv") else 1
    assert strongest["value"] == (1e300 if name == "huge.csv" else factor * 99.25)
    assert strongest["expected"] == pytest.approx(factor * truth(*FAULT), rel=0.05)
    assert told["filled"] >= 1
    assert told["columns"] == (7 if name in ("constant.csv", "twice.csv") else 6)
    assert told["rows"] == (41 if name in ("units.csv", "words.csv") else 40)


def test_only_what_was_wrong_or_missing_is_changed_to_the_letter(run, tmp_path):
    frame = with_column(dates(), "time")
    frame.insert(2, "note", ["in order", "=1+1"] * 20)
    (tmp_path / "x.csv").write_bytes(text(frame, sep=";", decimal=",").replace("\n", "\r\n").encode("utf-8-sig"))
    assert run("decompose", "x.csv", "--quiet").code == 0
    before, after = ((tmp_path / name).read_bytes().split(b"\r\n") for name in ("x.csv", "x.cleaned.csv"))
    different = [number for number, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    assert {FAULT[0] + 1, GAP[0] + 1} <= set(different)
    assert len(different) < 6
    cells = after[FAULT[0] + 1].decode().split(";")
    assert float(cells[4].replace(",", ".")) == pytest.approx(truth(*FAULT), rel=0.05)


SENTENCES = {
    "wrong_path.csv": (None, ["does not exist"]),
    "empty.csv": (b"", ["is empty"]),
    "only_spaces.csv": (b" \n\n", ["is empty"]),
    "header_only.csv": (b"a,b,c\n", ["no rows"]),
    "one_row.csv": (b"a,b,c\n1,2,3\n", ["has 1 row", "expected at least 2"]),
    "one_column.csv": (b"a\n1\n2\n3\n", ["expected at least 2; got 1"]),
    "all_missing.csv": (b"a,b\n,NA\n,\n", ["missing"]),
    "all_text.csv": (b"a,b\nx,y\nz,w\n", ["too few columns of numbers", "'a', 'b' are set aside"]),
    "money.csv": (b'item,price,n\nx,"$1,200.50",1\ny,$7,2\n', ["'price'", "amounts of money", "'$1,200.50' in line 2"]),
    "euros.csv": (b"a;b\n3,50 \xe2\x82\xac;1\n4,20 \xe2\x82\xac;2\n", ["'a'", "amounts of money"]),
    "infinite.csv": (b"a,b\n1,2\ninf,3\n", ["infinite number", "'line 3'", "'a'"]),
    "too_large.csv": (b"a,b\n1,2\n1e999,3\n", ["infinite number"]),
    "ragged.csv": (b"a,b\n1,2\n1,2,3\n", ["line 3: expected 2 cells", "got 3"]),
    "quote.csv": (b'a,b\n1,2\n"3,4\n5,6\n', ["line"]),
    "old.xls": (b"\xd0\xcf\x11\xe0", ["save it as .xlsx or .csv"]),
    "really_old.csv": (b"\xd0\xcf\x11\xe0\xa1\xb1", ["old kind (.xls)", "save the table as .xlsx"]),
    "damaged.xlsx": (b"PK\x03\x04 not a book", ["is damaged or no Excel file"]),
    "damaged.csv.gz": (gzip.compress(b"a,b\n1,2\n")[:15], ["is damaged"]),
    "no.csv.gz": (b"a,b\n1,2\n", ["not compressed by gzip"]),
    "damaged.zip": (b"PK\x03\x04", ["is damaged"]),
    "damaged.parquet": (b"PAR1PAR1", ["is damaged or no Parquet file"]),
    "page.csv": (b"<!DOCTYPE html><html><body>Sign in</body></html>", ["web page"]),
    "data.csv": (b'[{"a": 1, "b": 2}]', ["JSON"]),
    "paper.csv": (b"%PDF-1.7 ...", ["PDF"]),
    "binary.csv": (b"\x00\x01\x02\x03" * 50, ["binary data"]),
    "table.docx": (b"PK", ["none of .csv"]),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_helps(run, tmp_path, name):
    content, words = SENTENCES[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert failed(run("decompose", name), *words)
    assert [path.name for path in tmp_path.iterdir()] == ([] if content is None else [name])


def test_other_mistakes_get_a_sentence_too(run, tmp_path):
    (tmp_path / "x.csv").write_text(text(with_column(["n"] * 40, "site")))
    (tmp_path / "y.tsv").write_text(text())
    book(tmp_path / "b.xlsx", {"May": readings()})
    zipped(tmp_path / "two.zip", ["a.csv", "b.csv"])
    (tmp_path / "folder").mkdir()
    assert failed(run("decompose", "folder"), "is not a file")
    assert failed(run("decompose", "y.csv"), "does not exist; there is y.tsv")
    assert failed(run("decompose", "two.zip"), "exactly one text table", "a.csv, b.csv")
    assert failed(run("decompose", "b.xlsx", "--sheet", "June"), "no sheet 'June'; it has 'May'")
    assert failed(run("decompose", "x.csv", "--sheet", "May"), "no Excel file")
    assert failed(run("decompose", "x.csv", "--use", "site"), "column 'site' holds text")
    assert failed(run("decompose", "x.csv", "--aside", "nothing"), "has no column 'nothing'")
    assert failed(
        run("decompose", "x.csv", "--nonnegative", "--aside", "a", "-o", "x.csv/y"),
        "is not a folder that can be written to",
    )
    assert failed(run("decompose", "y.tsv", "-o", "y.json"), "y.json cannot be written", ".xlsx, .parquet")
    assert run("decompose", "x.csv", "-o", "x.csv").code == 2
    assert run("decompose", "x.csv", "--decimal", ";").code == 2


def test_a_table_that_lies_on_its_side_is_pointed_out(run, tmp_path):
    readings(60).iloc[:, :4].T.to_csv(tmp_path / "side.csv", header=[f"day {day}" for day in range(60)])
    ended = run("decompose", "side.csv", "--json")
    assert ended.code == 0
    assert "4 rows and 60 columns" in ended.err
    assert "transpose it" in ended.err


def test_columns_are_set_aside_or_used_as_told(run, tmp_path):
    (tmp_path / "x.csv").write_text(text(with_column(range(100, 140), "count")))
    assert json.loads(run("decompose", "x.csv", "--json").out)["columns"] == 6
    assert json.loads(run("decompose", "x.csv", "--use", "count", "--json").out)["columns"] == 7
    assert json.loads(run("decompose", "x.csv", "--aside", "f", "--json").out)["columns"] == 5
    (tmp_path / "y.csv").write_text("2001,2002,2003\n1,2,3\n2,4,6\n3,6,9.5\n")
    assert json.loads(run("decompose", "y.csv", "--no-header", "--json").out)["rows"] == 4
    (tmp_path / "z.csv").write_text('a,b\n"1,234",2\n"2,468",4\n"3,702",6\n')
    ended = run("decompose", "z.csv", "--json", "-o", "z.npy")
    assert "1,234 were read as 1234" in ended.err
    assert np.load(tmp_path / "z.npy")[0, 0] == 1234
    assert run("decompose", "z.csv", "--decimal", ",", "-o", "z.npy", "--quiet").code == 0
    assert np.load(tmp_path / "z.npy")[0, 0] == 1.234
