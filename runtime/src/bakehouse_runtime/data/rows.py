"""Rows of a data file, with the exact line of every row that cannot be used.

What makes a single row unusable drops that row with its reason; what makes the file unusable
(not UTF-8, no such column, not the format its name says) raises PlainError.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
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
        header = [column.strip() for column in next(reader, [])]
    except csv.Error as error:
        raise PlainError(f"The first line of {name} is not a list of columns: {error}.") from error
    if not any(header):
        raise PlainError(f"The first line of {name} names no columns.")
    twice = next((column for column in header if header.count(column) > 1), None)
    if twice is not None:
        raise PlainError(f"{name} names the column {twice!r} twice.")
    return Table(header, _csv_rows(reader, header))


def _csv_rows(reader: CsvReader, header: list[str]) -> Iterator[Row | Dropped]:
    while True:
        line = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = (
                "a quote is opened and never closed" if "end of data" in str(error) else str(error)
            )
            yield Dropped(line, reason)
            continue
        if not fields:
            continue  # An empty line is no row.
        if len(fields) != len(header):
            yield Dropped(line, f"{_counted(len(fields), 'field')} instead of {len(header)}")
        else:
            yield Row(line, dict(zip(header, fields, strict=True)))


def _jsonl(path: Path, name: str) -> Table:
    table = Table([], [])
    table.rows = _jsonl_rows(path, name, table.columns)
    return table


def _jsonl_rows(path: Path, name: str, columns: list[str]) -> Iterator[Row | Dropped]:
    for line, text in _lines(path, name):
        if not text.strip():
            continue
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            yield Dropped(line, f"not JSON: {error.msg} at character {error.colno}")
            continue
        yield _object_row(line, value, columns)


def _json(path: Path, name: str) -> Table:
    text = "".join(line for _, line in _lines(path, name))
    if not text.lstrip().startswith("["):
        # Many files called .json hold one object per line.
        return _jsonl(path, name)
    decoder = json.JSONDecoder()
    table = Table([], [])
    rows: list[Row | Dropped] = []
    line, seen, at = 1, 0, text.index("[") + 1
    try:
        while True:
            at = _skip(text, at, ",") if rows else _skip(text, at)
            if text[at : at + 1] == "]":
                break
            line += text.count("\n", seen, at)
            seen = at
            value, at = decoder.raw_decode(text, at)
            rows.append(_object_row(line, value, table.columns))
    except json.JSONDecodeError as error:
        raise PlainError(
            f"{name} is not JSON: {error.msg} on line {error.lineno}, character {error.colno}."
        ) from error
    if text[at + 1 :].strip():
        raise PlainError(f"{name} goes on after the end of its list.")
    table.rows = rows
    return table


def _skip(text: str, at: int, separator: str = "") -> int:
    """The place after white space, and after one separator unless the list ends there."""
    while text[at : at + 1].isspace():
        at += 1
    if not separator or text[at : at + 1] == "]":
        return at
    if text[at : at + 1] != separator:
        raise json.JSONDecodeError(f"'{separator}' expected", text, at)
    return _skip(text, at + 1)


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


def _object_row(line: int, value: object, columns: list[str]) -> Row | Dropped:
    if not isinstance(value, dict):
        return Dropped(line, "not an object with columns")
    columns.extend(key for key in value if key not in columns)
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
            raise DataError(
                f"{Path(file_path).name} has no column {column}. "
                f"Its columns are: {', '.join(table.columns)}.",
                table.columns,
            )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
