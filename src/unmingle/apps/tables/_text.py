"""Text files of tables: what they are compressed by, encoded in and delimited by is found from the content."""

import csv
import gzip
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

from ..._validation import require
from ._columns import different_names, marks_of
from ._errors import TableError
from ._numbers import is_missing, numbers
from ._raw import TEXTS, Form, Raw

DELIMITERS = "\t;|,"
"""In falling order of trust: a comma may be a decimal mark."""
_LOOK = 60
"""Lines that tell the delimiter."""
_TOO_MANY = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
_OTHER_FILES = {
    b"%PDF": "a PDF document",
    b"\xd0\xcf\x11\xe0": "an Excel file of the old kind (.xls) or one with a password",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"{\\rt": "a document of a word processor",
}
_MARKUP = re.compile(r"\s*<(?:!doctype|html|\?xml)|\s*[\[{]\s*[\[{\"]", re.IGNORECASE)


def read_text(path: Path, *, header: bool | None = None, decimal: str | None = None) -> Raw:
    """Read the cells of a text file, compressed or not.

    Parameters
    ----------
    path : Path
        The file.
    header : bool, optional
        Whether the first line holds names; None for what it looks like.
    decimal : str, optional
        The decimal mark; None for what it looks like.
    """
    content, suffix, notes = _uncompressed(path)
    text, encoding = _decoded(path, content)
    if encoding in ("cp1252", "latin-1"):
        notes.append(f"The file is not UTF-8; it was read as Western European text ({encoding}).")
    line_end = "\r\n" if "\r\n" in text[:10_000] else "\n"
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    top = [line for line in lines[: 5 * _LOOK] if line.strip()][:_LOOK]
    delimiter = _delimiter(top)
    first, blank_before = _first_line(lines[: 5 * _LOOK], delimiter)
    if not blank_before:
        notes.append(f"The table begins in line {first + 1}; the lines before it were left out.")
    frame = _cells(path, "\n".join(lines[first:]), delimiter, first)
    names, named = _header(frame.iloc[0].tolist(), frame, header)
    rows = frame.iloc[1:] if named else frame
    if not named:
        notes.append("The first line holds numbers, so it was read as data; --header reads it as column names.")
    elif _all_numbers(names) and header is None:
        notes.append("The first line is all numbers, but was read as column names; --no-header reads it as data.")
    columns, twice = different_names(names) if named else ([f"column {n + 1}" for n in range(frame.shape[1])], [])
    if twice:
        notes.append(f"Repeated column names were numbered: {', '.join(map(repr, twice[:5]))}.")
    rows = rows.set_axis(columns, axis=1)
    mark, doubt = (decimal, None) if decimal else marks_of(rows, "," if delimiter == ";" else ".")
    form = Form(suffix, delimiter, mark, encoding, line_end)
    places = [f"line {number}" for number in rows.index]
    blank = named and not names[0].strip()
    return Raw(rows.reset_index(drop=True), form, places, blank, header=named, doubt=doubt, notes=notes)


def _uncompressed(path: Path) -> tuple[bytes, str, list[str]]:
    """The text of a file in bytes, and the suffix of the same with its compression."""
    content, suffix = path.read_bytes(), path.suffix.lower()
    notes = []
    try:
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
            inner = Path(path.stem).suffix.lower() if suffix == ".gz" else suffix
            suffix = f"{inner if inner in TEXTS else '.csv'}.gz"
        elif suffix == ".gz":
            raise TableError(f"{path} is not compressed by gzip although its name ends in .gz.")
        elif content.startswith(b"PK"):
            content, name = _member(path)
            suffix = Path(name).suffix.lower()
            notes.append(f"The table is {name} in {path.name}.")
        elif suffix == ".zip":
            raise TableError(f"{path} is damaged: it is no zip archive.")
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"{path} is damaged: it cannot be uncompressed.") from error
    return content, suffix if suffix.removesuffix(".gz") in TEXTS else ".csv", notes


def _member(path: Path) -> tuple[bytes, str]:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if Path(name).suffix.lower() in TEXTS]
        if len(names) != 1:
            found = ", ".join(names[:5]) or "none"
            raise TableError(f"{path} must hold exactly one text table, such as a .csv; it holds {found}.")
        return archive.read(names[0]), names[0]


def _decoded(path: Path, content: bytes) -> tuple[str, str]:
    for magic, what in _OTHER_FILES.items():
        if content.startswith(magic):
            raise TableError(f"{path} is {what}; save the table as .xlsx or as CSV.")
    encodings = ["utf-16"] if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ["utf-8-sig", "cp1252", "latin-1"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
            break
        except UnicodeError:
            continue
    else:
        raise TableError(f"{path} is no readable text; save it as CSV in UTF-8.")
    if "\0" in text:
        raise TableError(f"{path} holds binary data; expected a table as text.")
    if not text.strip():
        raise TableError(f"{path} is empty.")
    if _MARKUP.match(text):
        what = "a web page or XML" if text.lstrip().startswith("<") else "JSON"
        raise TableError(f"{path} is {what}; save the table as CSV.")
    if encoding == "utf-8-sig" and not content.startswith(b"\xef\xbb\xbf"):
        encoding = "utf-8"
    return text, encoding


def _counts(lines: list[str], delimiter: str) -> list[int]:
    if len(delimiter) > 1:
        return [len(line.split()) for line in lines]
    try:
        return [len(cells) for cells in csv.reader(lines, delimiter=delimiter) if cells]
    except csv.Error:
        return [1]


def _delimiter(lines: list[str]) -> str:
    """The delimiter by which lines have most often the same number of cells."""
    shares = {}
    for delimiter in (*DELIMITERS, r"\s+"):
        counts = Counter(_counts(lines, delimiter))
        (size, times), *_ = counts.most_common(1)
        shares[delimiter] = times / counts.total() if size > 1 else 0.0
    trusted = [delimiter for delimiter in DELIMITERS if shares[delimiter] >= 0.8]
    best = trusted[0] if trusted else max(DELIMITERS, key=lambda delimiter: shares[delimiter])
    if shares[best]:
        return best
    cells = [cell for line in lines[1:] for cell in line.split()]
    by_spaces = shares[r"\s+"] >= 0.8 and cells and 2 * len(numbers(cells).odd) < len(cells)
    return r"\s+" if by_spaces else ","


def _first_line(lines: list[str], delimiter: str) -> tuple[int, bool]:
    """The line in which the table begins, and whether all lines before it are blank.

    It is the first with as many cells as most have, or with one fewer: R leaves out the name of the first column.
    """
    records = list(_records(lines, delimiter))[:_LOOK]
    if not records:
        return 0, True
    sizes = [len(cells) for _, cells in records]
    usual = Counter(sizes).most_common(1)[0][0]
    place = next(place for place, size in enumerate(sizes) if size >= usual)
    if place + 1 < len(sizes) and records[place][1][0].startswith("#") and sizes[place + 1] < usual:
        place += 1
    if place and sizes[place - 1] == usual - 1 > 0 and not _all_numbers(records[place - 1][1]):
        place -= 1
    return records[place][0], place == 0


def _records(lines: list[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of every line that is not blank, with its number from 0; quoted cells may go over several lines."""
    if len(delimiter) > 1:
        yield from ((number, line.split()) for number, line in enumerate(lines) if line.strip())
        return
    reader, start = csv.reader([f"{line}\n" for line in lines], delimiter=delimiter, skipinitialspace=True), 0
    with suppress(csv.Error):
        for cells in reader:
            if len(cells) > 1 or "".join(cells).strip():
                yield start, cells
            start = reader.line_num


def _cells(path: Path, text: str, delimiter: str, first: int) -> Any:
    """All cells as text, in a data frame whose index are the numbers of the lines."""
    pandas = require("pandas", "table")
    head = text.partition("\n")[0]
    sizes = _counts([line for line in text.split("\n", 3)[:3] if line.strip()], delimiter)
    if len(sizes) > 1 and set(sizes[1:]) == {sizes[0] + 1} and not _all_numbers(head.split(delimiter)):
        text = (delimiter if len(delimiter) == 1 else '"" ') + text
    _check_lines(path, text, delimiter, first)
    try:
        frame = pandas.read_csv(
            StringIO(text), sep=delimiter, header=None, dtype=object, na_filter=False, engine="c",
            skipinitialspace=True, skip_blank_lines=False, low_memory=False,
        )  # fmt: skip
    except pandas.errors.ParserError as error:
        raise TableError(_told(path, str(error), first)) from None
    frame.index += first + 1
    there = frame.map(lambda cell: isinstance(cell, str) and cell.strip() != "").to_numpy().any(axis=1)
    return frame[there | (frame.shape[1] == 1)]


def _check_lines(path: Path, text: str, delimiter: str, first: int) -> None:
    """Refuse a line that has more or fewer cells than the first."""
    if len(delimiter) > 1:
        return
    reader = csv.reader(StringIO(text), delimiter=delimiter, skipinitialspace=True)
    wanted = None
    try:
        for cells in reader:
            wanted = wanted or len(cells)
            if len(cells) != wanted and (len(cells) > 1 or "".join(cells).strip()):
                raise TableError(
                    f"{path}, line {reader.line_num + first}: expected {wanted} cells as in the header; "
                    f"got {len(cells)}."
                )
    except csv.Error as error:
        raise TableError(f"{path}, line {reader.line_num + first}: {error}.") from error


def _told(path: Path, error: str, first: int) -> str:
    many = _TOO_MANY.search(error)
    if many:
        return f"{path}, line {int(many[2]) + first}: expected {many[1]} cells as in the header; got {many[3]}."
    if "EOF inside string" in error:
        row = int(re.findall(r"\d+", error)[-1]) + 1 + first
        return f"{path}, line {row}: a quotation mark is opened and never closed."
    return f"{path} is damaged: {error.removeprefix('Error tokenizing data. C error: ').strip('. ')}."


def _all_numbers(cells: list[str]) -> bool:
    known = [cell for cell in cells if not is_missing(cell)]
    if not known:
        return False
    return not numbers(known, ".").odd or not numbers(known, ",").odd


def _header(cells: list[str], frame: Any, wanted: bool | None) -> tuple[list[str], bool]:
    """The cells of the first line, and whether they are names."""
    named = wanted
    if named is None:
        named = len(frame) == 1 or not _all_numbers(cells) or _are_steps(cells)
    if named and cells[0].startswith("#"):
        cells = [cells[0].lstrip("# "), *cells[1:]]
    return cells, bool(named)


def _are_steps(cells: list[str]) -> bool:
    """Whether numbers are years or count up, as names of columns do."""
    values = numbers([cell for cell in cells if cell.strip()])
    found = values.values
    if not values.whole or len(found) < 2 or not ((found[1:] - found[:-1]) == 1).all():
        return False
    return bool(found[0] in (0, 1) or (found.min() > 1500 and found.max() < 2200))
