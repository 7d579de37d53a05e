from __future__ import annotations

import csv
import io
import re
from itertools import chain
from typing import TYPE_CHECKING

from ..errors import PlainError
from .table import (
    BLANK,
    NUL,
    WITHOUT_NUL,
    Dialect,
    Dropped,
    Position,
    Row,
    Table,
    numbered_lines,
    open_bytes,
    reject_duplicate_columns,
)

if TYPE_CHECKING:
    from _csv import Reader as CsvReader
    from collections.abc import Iterator
    from pathlib import Path

# Fields may be whole documents; the csv module's own limit is 128 kB.
_FIELD_BYTES = 1 << 28
_DELIMITERS = (",", ";", "\t", "|")
_QUOTED = re.compile(r'"[^"]*(?:"|$)')


# Excel may name the delimiter in a first line of its own.
_SEPARATOR = re.compile(r"\Asep=([^\r\n])(?:\r?\n|\Z)", re.IGNORECASE)
# How much of a file is read to detect whether it uses quotes.
_SNIFFED_CHARS = 65_536
# A quoted cell.
_QUOTED_CELL = re.compile(r'"[^"]*(?:""[^"]*)*"')


def csv_table(path: Path, name: str, delimiter: str | None = None) -> Table:
    """Opens a csv file. Its first line names the columns and, unless `delimiter` is given, reveals
    the delimiter. Raises PlainError if it does not."""
    csv.field_size_limit(_FIELD_BYTES)
    position = Position()
    lines = (line for _, line in numbered_lines(path, name, position))
    first = next(lines, "")
    separator = _SEPARATOR.fullmatch(first)
    if separator:
        delimiter, first = separator[1], next(lines, "")
    # Delimiters inside quotes do not count.
    delimiter = delimiter or max(_DELIMITERS, key=_QUOTED.sub("", first).count)
    is_quoted = delimiter != "\t" or _is_quoted(path, name, delimiter)
    quoting = csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE
    # Strict: report broken quotes instead of guessing.
    reader = csv.reader(chain([first], lines), delimiter=delimiter, quoting=quoting, strict=True)
    try:
        header = [column.strip(BLANK) for column in next(reader, [])]
    except csv.Error as error:
        raise PlainError(
            f"The first line of {name} is not a list of columns: {_fault(error)}."
        ) from error
    if not any(header):
        raise PlainError(f"The first line of {name} names no columns.")
    if any("\0" in column for column in header):
        raise PlainError(f"The first line of {name} contains a NUL character. {WITHOUT_NUL}")
    reject_duplicate_columns(header, name)
    before = 1 if separator else 0
    dialect = Dialect(delimiter, is_quoted, before + 1)
    return Table(header, _rows(reader, header, before), position, dialect)


def _is_quoted(path: Path, name: str, delimiter: str) -> bool:
    """Returns whether the file uses quotes, from its first lines. It does not if every line has as
    many cells as the first when quotes are ignored, and some cell's quotes are malformed."""
    with open_bytes(path, name) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="ignore", newline="")
        # The line that names the delimiter is not a row.
        text = _SEPARATOR.sub("", lines.read(2 * _SNIFFED_CHARS), count=1)
    # Counted in UTF-16.
    units = text.encode("utf-16-le")
    lines = units[: 2 * _SNIFFED_CHARS].decode("utf-16-le", "ignore").split("\n")
    if len(units) > 2 * _SNIFFED_CHARS:
        lines.pop()  # It may be truncated.
    rows = [full.split(delimiter) for line in lines if (full := line.strip("\r"))]
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return True
    cells = [cell for row in rows for cell in row if cell.startswith('"')]
    is_quoted = [_QUOTED_CELL.fullmatch(cell) is not None for cell in cells]
    if all(is_quoted):
        return True
    # Only a file that uses quotes has a quote inside such a cell.
    inner = (cell[1:-1] for quoted, cell in zip(is_quoted, cells, strict=True) if quoted)
    return any('"' in text for text in inner)


def _rows(reader: CsvReader, header: list[str], before: int) -> Iterator[Row | Dropped]:
    """Yields the rows; `before` lines precede the lines that the reader sees."""
    while True:
        line = before + reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Dropped(line, _fault(error))
            continue
        if not fields:
            continue  # An empty line is no row.
        if len(fields) != len(header):
            yield Dropped(line, f"{_counted(len(fields), 'field')} instead of {len(header)}")
        elif any("\0" in field for field in fields):
            yield Dropped(line, NUL)
        else:
            yield Row(line, dict(zip(header, fields, strict=True)))


def _fault(error: csv.Error) -> str:
    text = str(error)
    if "end of data" in text:
        return "a quote is opened and never closed"
    if "expected after" in text:
        return "there is text after a closing quote"
    if "new-line character" in text:
        return "there is a carriage return inside the line"
    return text


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
