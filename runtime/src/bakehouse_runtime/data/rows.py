"""Rows of a data file, with the exact line of every row that cannot be used.

What makes a single row unusable drops that row with its reason; what makes the file unusable
(not UTF-8, no such column, not the format its name says) raises PlainError. The web app shows the
same rows before a training: server/src/modules/assets/preview/fixtures/read-alike.json holds both
readers to one table.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import PlainError

if TYPE_CHECKING:
    from _csv import Reader as CsvReader
    from collections.abc import Iterable, Iterator

# Fields of a csv may be whole documents; the module's own limit is 128 kB.
_CSV_FIELD_BYTES = 1 << 28
_CSV_DELIMITERS = (",", ";", "\t", "|")
# What JSON calls white space.
_BLANK = " \t\r\n"
_BLANKS = re.compile(f"[{_BLANK}]*")
# Lists and objects within one another: the parser of another language ends somewhere else.
_NESTING_MAX = 500
# More digits than a float can mean, and fewer than int() refuses.
_DIGITS_MAX = 400
_NAMED_COLUMNS_MAX = 20


class DataError(PlainError):
    """The file cannot be used as it was asked; `columns` are those that it has."""

    def __init__(self, message: str, columns: list[str]) -> None:
        super().__init__(message)
        self.columns = columns


@dataclass(frozen=True)
class Row:
    """A row that has its columns. `line` is where it starts, from 1 (parquet: the row's number)."""

    line: int
    values: dict[str, Any]


@dataclass(frozen=True)
class Dropped:
    """A row that cannot be used, and why."""

    line: int
    reason: str


@dataclass
class Table:
    """The columns that the file names, and its rows in order. Rows are read while iterating;
    `columns` of jsonl and json are complete only afterwards."""

    columns: list[str]
    rows: Iterable[Row | Dropped]


@dataclass
class Pair:
    """A question and its answer, from one row."""

    line: int
    question: str
    answer: str


@dataclass
class Pairs:
    """The usable rows of a file and the dropped ones, in the file's order."""

    columns: list[str]
    kept: list[Pair] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)


def is_text(file_path: str) -> bool:
    """Whether a file of this name is continued as text, without columns."""
    return _ending(file_path) == "txt"


def read_pairs(
    path: Path, file_path: str, question_column: str | None, answer_column: str | None
) -> Pairs:
    """The two columns of a data file. `file_path` is the name whose ending decides the reader.

    Raises PlainError when the file or its columns cannot be used at all.
    """
    table = read_table(path, file_path)
    if question_column is None or answer_column is None:
        raise DataError(
            f"Choose which columns of {Path(file_path).name} hold the question and the answer.",
            _columns_of(table),
        )
    wanted = (question_column, answer_column)
    _require_columns(table, wanted, file_path)
    pairs = Pairs(table.columns)
    for row in table.rows:
        if isinstance(row, Dropped):
            pairs.dropped.append(row)
            continue
        question, answer = (_as_text(row.values, column) for column in wanted)
        if isinstance(question, str) and isinstance(answer, str):
            pairs.kept.append(Pair(row.line, question, answer))
        else:
            unusable = question if isinstance(question, _Unusable) else answer
            pairs.dropped.append(Dropped(row.line, str(unusable)))
    _require_columns(table, wanted, file_path)
    return pairs


def read_text(path: Path, file_path: str) -> str:
    """The whole of a text file. Raises PlainError when it is empty or not UTF-8."""
    text = "".join(line for _, line in _lines(path, Path(file_path).name))
    if not text.strip():
        raise PlainError(f"{Path(file_path).name} holds no text.")
    return text


def read_table(path: Path, file_path: str) -> Table:
    """Opens a data file by the ending of its name. Raises PlainError for what is wrong at once."""
    name = Path(file_path).name
    if path.stat().st_size == 0:
        raise PlainError(f"{name} is empty.")
    match _ending(file_path):
        case "csv":
            return _csv(path, name)
        case "jsonl":
            return _jsonl(path, name)
        case "json":
            return _json(path, name)
        case "parquet":
            return _parquet(path, name)
        case "txt":
            return Table([], [])
    raise PlainError(f"{name} cannot be read: use a csv, jsonl, json, txt or parquet file.")


def _ending(file_path: str) -> str:
    return Path(file_path).suffix.lower().removeprefix(".")


def _csv(path: Path, name: str) -> Table:
    csv.field_size_limit(_CSV_FIELD_BYTES)
    numbered = _lines(path, name)
    first = next(numbered, (1, ""))
    delimiter = max(_CSV_DELIMITERS, key=first[1].count)
    # Strict: broken quotes are named instead of guessed at.
    reader = csv.reader(_chain(first, numbered), delimiter=delimiter, strict=True)
    try:
        header = [column.strip(_BLANK) for column in next(reader, [])]
    except csv.Error as error:
        raise PlainError(
            f"The first line of {name} is not a list of columns: {_csv_fault(error)}."
        ) from error
    if not any(header):
        raise PlainError(f"The first line of {name} names no columns.")
    seen: set[str] = set()
    for column in header:
        if column in seen:
            raise PlainError(f"{name} names the column '{column}' twice.")
        seen.add(column)
    return Table(header, _csv_rows(reader, header))


def _csv_rows(reader: CsvReader, header: list[str]) -> Iterator[Row | Dropped]:
    while True:
        line = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Dropped(line, _csv_fault(error))
            continue
        if not fields:
            continue  # An empty line is no row.
        if len(fields) != len(header):
            yield Dropped(line, f"{_counted(len(fields), 'field')} instead of {len(header)}")
        else:
            yield Row(line, dict(zip(header, fields, strict=True)))


def _csv_fault(error: csv.Error) -> str:
    """The csv module's words in those that a row is dropped with."""
    text = str(error)
    if "end of data" in text:
        return "a quote is opened and never closed"
    if "expected after" in text:
        return "text stands behind a closing quote"
    if "new-line character" in text:
        return "a carriage return stands inside the line"
    return text


def _jsonl(path: Path, name: str) -> Table:
    table = Table([], [])
    table.rows = _jsonl_rows(path, name, table.columns)
    return table


def _jsonl_rows(path: Path, name: str, columns: list[str]) -> Iterator[Row | Dropped]:
    known: set[str] = set()
    for line, text in _lines(path, name):
        start = _skip(text, 0)
        if start == len(text):
            continue
        try:
            value, end = _decode(text, start)
            if _skip(text, end) < len(text):
                raise json.JSONDecodeError("Extra data", text, end)
        except json.JSONDecodeError as error:
            yield Dropped(line, f"not JSON: {error.msg} at character {error.colno}")
            continue
        yield _object_row(line, value, columns, known)


def _json(path: Path, name: str) -> Table:
    text = "".join(line for _, line in _lines(path, name))
    start = _skip(text, 0)
    if not text.startswith("[", start):
        # Many files called .json hold one object per line.
        return _jsonl(path, name)
    table = Table([], [])
    rows: list[Row | Dropped] = []
    known: set[str] = set()
    line, seen, at = 1, 0, start + 1
    try:
        while True:
            at = _next_value(text, at, is_first=not rows)
            if text.startswith("]", at):
                break
            line += text.count("\n", seen, at)
            seen = at
            value, at = _decode(text, at)
            rows.append(_object_row(line, value, table.columns, known))
    except json.JSONDecodeError as error:
        raise PlainError(
            f"{name} is not JSON: {error.msg} on line {error.lineno}, character {error.colno}."
        ) from error
    if _skip(text, at + 1) < len(text):
        raise PlainError(f"{name} goes on after the end of its list.")
    table.rows = rows
    return table


def _next_value(text: str, at: int, *, is_first: bool) -> int:
    """The place of a list's next value, or of its end."""
    at = _skip(text, at)
    if is_first or text.startswith("]", at):
        return at
    if not text.startswith(",", at):
        raise json.JSONDecodeError("',' expected", text, at)
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    """The place after white space."""
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


def _decode(text: str, at: int) -> tuple[object, int]:
    """One JSON value and the place behind it. All that is wrong with it is a JSONDecodeError."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except RecursionError:
        raise json.JSONDecodeError("Nested too deeply", text, at) from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise json.JSONDecodeError(str(error), text, at) from error
    if text.count("[", at, end) + text.count("{", at, end) > _NESTING_MAX and _is_deep(value):
        raise json.JSONDecodeError("Nested too deeply", text, at)
    return value, end


def _is_deep(value: object) -> bool:
    level: list[object] = [value]
    for _ in range(_NESTING_MAX):
        level = [
            inner
            for outer in level
            if isinstance(outer, list | dict)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, list | dict)
        ]
        if not level:
            return False
    return True


def _whole_number(digits: str) -> float:
    return int(digits) if len(digits) <= _DIGITS_MAX else float(digits)


def _refuse_constant(name: str) -> float:
    """Python's own NaN and Infinity are not JSON."""
    message = f"{name} is no JSON value"
    raise ValueError(message)


_DECODER = json.JSONDecoder(parse_int=_whole_number, parse_constant=_refuse_constant)


def _parquet(path: Path, name: str) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise PlainError(f"{name} is not a parquet file.") from error

    def rows() -> Iterator[Row]:
        number = 0
        for batch in file.iter_batches(batch_size=1024):
            for values in batch.to_pylist():
                number += 1
                yield Row(number, values)

    return Table(list(file.schema_arrow.names), rows())


def _object_row(line: int, value: object, columns: list[str], known: set[str]) -> Row | Dropped:
    """The row of a JSON value; its keys join `columns`, of which `known` is the set."""
    if not isinstance(value, dict):
        return Dropped(line, "not an object with columns")
    columns.extend(key for key in value if key not in known)
    known.update(value)
    return Row(line, value)


@dataclass(frozen=True)
class _Unusable:
    reason: str

    def __str__(self) -> str:
        return self.reason


def _as_text(values: dict[str, Any], column: str) -> str | _Unusable:
    """A column's value as text, or why it cannot be one."""
    value = values.get(column)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return _Unusable(f"column {column} is missing")
    if isinstance(value, str):
        return value if value.strip() else _Unusable(f"column {column} is empty")
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, bytes):
        return _Unusable(f"column {column} holds bytes, not text")
    return _Unusable(f"column {column} holds a {type(value).__name__}, not text")


def _lines(path: Path, name: str) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file with their numbers, ends of line included."""
    offset = 0
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            size = len(raw)
            if number == 1:
                if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise PlainError(f"{name} is UTF-16 text: save it as UTF-8.")
                raw = raw.removeprefix(b"\xef\xbb\xbf")  # noqa: PLW2901 - byte order mark
            try:
                yield number, raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise PlainError(
                    f"{name} is not UTF-8 text: line {number}, byte {error.start + 1} "
                    f"(byte {offset + error.start + 1} of the file)."
                ) from error
            offset += size


def _chain(first: tuple[int, str], rest: Iterator[tuple[int, str]]) -> Iterator[str]:
    yield first[1]
    for _, line in rest:
        yield line


def _columns_of(table: Table) -> list[str]:
    """The columns of a file; those of jsonl show after some rows."""
    if not table.columns:
        for _ in itertools.islice(table.rows, 100):
            pass
    return table.columns


def _require_columns(table: Table, wanted: Iterable[str], file_path: str) -> None:
    """Refuses a missing column as soon as the columns are known."""
    for column in wanted:
        if table.columns and column not in table.columns:
            named = table.columns[:_NAMED_COLUMNS_MAX]
            more = len(table.columns) - len(named)
            raise DataError(
                f"{Path(file_path).name} has no column {column}. "
                f"Its columns are: {', '.join(named)}{f' and {more} more' if more else ''}.",
                table.columns,
            )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
