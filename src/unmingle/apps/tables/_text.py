"""Text files of tables: what they are compressed by, encoded in and delimited by is found from the content."""

import csv
import gzip
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np

from ..._types import IndexArray
from ..._validation import is_installed, require
from ._columns import different_names, marks_of
from ._formats import TEXTS, Form, RawTable, TableError
from ._numbers import is_missing, parse_numbers

DELIMITERS = "\t;|,"
"""In falling order of trust: a comma may be a decimal mark."""
SPACES = r"\s+"
"""The delimiter of tables whose columns are held apart by spaces."""


@dataclass(frozen=True)
class DelimiterRules:
    """How the delimiter is found, from the number of cells that it makes of the first lines.

    A title, units or a footnote in a few lines must not hide that all others have the same number of cells.
    """

    lines: int = 60
    """Lines with content that are looked at, among the first `search_lines`."""
    search_lines: int = 300
    """Lines among which the beginning of the table is looked for."""
    trusted_share: float = 0.8
    """A delimiter is trusted if at least this share of the lines has the same number of cells, more than one."""


RULES = DelimiterRules()
_TOO_MANY = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
_OTHER_FILES = {
    b"%PDF": "a PDF document",
    b"\xd0\xcf\x11\xe0": "an Excel file of the old kind (.xls) or one with a password",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"{\\rt": "a document of a word processor",
}
_MARKUP = re.compile(r"\s*<(?:!doctype|html|\?xml)|\s*[\[{]\s*[\[{\"]", re.IGNORECASE)


def read_text(path: Path, *, header: bool | None = None, decimal: str | None = None) -> RawTable:
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
    top = [line for line in lines[: RULES.search_lines] if line.strip()][: RULES.lines]
    delimiter = _delimiter(top)
    first, blank_before = _first_line(lines[: RULES.search_lines], delimiter)
    if not blank_before:
        notes.append(f"The table begins in line {first + 1}; the lines before it were left out.")
    frame = _cells(path, lines[first:], delimiter, first)
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
    return RawTable(
        rows.reset_index(drop=True), form, places, blank, header=named, is_text=True, doubt=doubt, notes=notes
    )


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
    for delimiter in (*DELIMITERS, SPACES):
        counts = Counter(_counts(lines, delimiter))
        (size, times), *_ = counts.most_common(1)
        shares[delimiter] = times / counts.total() if size > 1 else 0.0
    trusted = [delimiter for delimiter in DELIMITERS if shares[delimiter] >= RULES.trusted_share]
    best = trusted[0] if trusted else max(DELIMITERS, key=lambda delimiter: shares[delimiter])
    if shares[best]:
        return best
    cells = [cell for line in lines[1:] for cell in line.split()]
    by_spaces = shares[SPACES] >= RULES.trusted_share and cells and 2 * len(parse_numbers(cells).odd) < len(cells)
    return SPACES if by_spaces else ","


def _first_line(lines: list[str], delimiter: str) -> tuple[int, bool]:
    """The line in which the table begins, and whether all lines before it are blank.

    It is the first with as many cells as most have, or with one fewer: R leaves out the name of the first column.
    """
    records = list(_records(lines, delimiter))[: RULES.lines]
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


def _cells(path: Path, lines: list[str], delimiter: str, first: int) -> Any:
    """All cells as text, in a data frame whose index are the numbers of the lines."""
    sizes = _counts([line for line in lines[:3] if line.strip()], delimiter)
    if len(sizes) > 1 and set(sizes[1:]) == {sizes[0] + 1} and not _all_numbers(lines[0].split(delimiter)):
        lines[0] = (delimiter if len(delimiter) == 1 else '"" ') + lines[0]
    if delimiter == SPACES or any('"' in line for line in lines):
        _check_records(path, lines, delimiter, first)
        frame = _cells_by_pandas(path, "\n".join(lines), delimiter, first)
        frame.index += first + 1
        return frame if frame.shape[1] == 1 else frame.drop(frame.index[_blank_rows(frame)])
    numbers = _check_lines(path, lines, delimiter, first)
    kept = lines if len(numbers) == len(lines) else [lines[number] for number in numbers]
    if is_installed("pyarrow") and delimiter in lines[0] and not _has_padding(kept, delimiter):
        frame = _cells_by_pyarrow(kept, delimiter)
    else:
        frame = _cells_by_pandas(path, "\n".join([*kept, ""]), delimiter, first)
    return frame.set_axis([number + first + 1 for number in numbers])


def _check_lines(path: Path, lines: list[str], delimiter: str, first: int) -> list[int]:
    """The numbers of the lines that are not blank; a line with more or fewer cells than the first is refused.

    The lines hold no quotation marks, so that each is a row.
    """
    wanted = lines[0].count(delimiter)
    kept = []
    for number, line in enumerate(lines):
        count = line.count(delimiter)
        if count != wanted and (count or line.strip()):
            raise _wrong_size(path, number + 1 + first, wanted + 1, count + 1)
        begun = line[:1] != delimiter and bool(line[:1].strip())
        if begun or not wanted or line.replace(delimiter, " ").strip():
            kept.append(number)
    return kept[:-1] if not wanted and not lines[-1] else kept


def _has_padding(lines: list[str], delimiter: str) -> bool:
    """Whether cells begin with spaces, which do not belong to them."""
    text = "\n".join(["", *lines])
    spaces = [space for space in " \t" if space != delimiter and space in text]
    return any(mark + space in text for mark in (delimiter, "\n") for space in spaces)


def _cells_by_pyarrow(lines: list[str], delimiter: str) -> Any:
    """Cells of lines without quotation marks, kept as one block of text for each column."""
    pandas, pyarrow, csv = (require(name, "table") for name in ("pandas", "pyarrow", "pyarrow.csv"))
    names = [str(place) for place in range(lines[0].count(delimiter) + 1)]
    block = max(2**20, 8 * max(map(len, lines)))  # of which a line must not be larger
    table = csv.read_csv(
        BytesIO("\n".join(lines).encode()),
        read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=block),
        parse_options=csv.ParseOptions(delimiter=delimiter, quote_char=False),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pyarrow.string())),
    )
    return table.to_pandas(types_mapper={pyarrow.string(): pandas.StringDtype("pyarrow")}.get)


def _cells_by_pandas(path: Path, text: str, delimiter: str, first: int) -> Any:
    pandas = require("pandas", "table")
    try:
        return pandas.read_csv(
            StringIO(text), sep=delimiter, header=None, dtype=object, na_filter=False, engine="c",
            skipinitialspace=True, skip_blank_lines=False, low_memory=False,
        )  # fmt: skip
    except pandas.errors.ParserError as error:
        raise TableError(_explain(path, str(error), first)) from None


def _blank_rows(frame: Any) -> IndexArray:
    """The rows without anything in them."""
    left = np.arange(len(frame))
    for name in frame.columns:
        left = left[[not cell.strip() for cell in frame[name].to_numpy(object)[left]]]
    return left


def _check_records(path: Path, lines: list[str], delimiter: str, first: int) -> None:
    """Refuse a row, of one line or of several, that has more or fewer cells than the first."""
    if delimiter == SPACES:
        return
    ended = [f"{line}\n" for line in (lines if lines[-1] else lines[:-1])]
    reader, wanted = csv.reader(ended, delimiter=delimiter, skipinitialspace=True), None
    try:
        for cells in reader:
            wanted = wanted or len(cells)
            if len(cells) != wanted and (len(cells) > 1 or "".join(cells).strip()):
                raise _wrong_size(path, reader.line_num + first, wanted, len(cells))
    except csv.Error as error:
        raise TableError(f"{path}, line {reader.line_num + first}: {error}.") from error


def _wrong_size(path: Path, line: int, wanted: int, found: int) -> TableError:
    return TableError(f"{path}, line {line}: expected {wanted} cells as in the header; got {found}.")


def _explain(path: Path, error: str, first: int) -> str:
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
    return not parse_numbers(known, ".").odd or not parse_numbers(known, ",").odd


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
    values = parse_numbers([cell for cell in cells if cell.strip()])
    found = values.values
    if not values.whole or len(found) < 2 or not ((found[1:] - found[:-1]) == 1).all():
        return False
    return bool(found[0] in (0, 1) or (found.min() > 1500 and found.max() < 2200))
