"""Rows of a data file, with the exact line of every row that cannot be used.

What makes a single row unusable drops that row with its reason; what makes the file unusable
(not UTF-8, no such column, not the format its name says) raises PlainError. The web app shows the
same rows before a training: server/src/modules/assets/preview/fixtures/read-alike.json holds both
readers to one table.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import PlainError
from .csv_rows import csv_table
from .json_rows import json_table, jsonl_table
from .parquet_rows import parquet_table
from .table import NUL, DataError, Dropped, Row, Table, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NAMED_COLUMNS_MAX = 20


@dataclass
class Pair:
    """A question and its answer, from one row."""

    line: int
    question: str
    answer: str


@dataclass
class Pairs:
    """The usable rows of a file and the dropped ones, in the file's order. They are read while
    iterating; `columns` of jsonl and json are complete only afterwards."""

    columns: list[str]
    rows: Iterable[Pair | Dropped]


def is_text(file_path: str) -> bool:
    """Whether a file of this name is continued as text, without columns."""
    return _ending(file_path) == "txt"


def read_pairs(
    path: Path, file_path: str, question_column: str | None, answer_column: str | None
) -> Pairs:
    """The two columns of a data file. `file_path` is the name whose ending decides the reader.

    Raises PlainError, at once or while its rows are read, when the file or its columns cannot be
    used at all.
    """
    if question_column is None or answer_column is None:
        raise DataError(
            f"Choose which columns of {Path(file_path).name} hold the question and the answer.",
            _columns_of(read_table(path, file_path)),
        )
    wanted = (question_column, answer_column)
    table = read_table(path, file_path, wanted)
    _require_columns(table, wanted, file_path)

    def rows() -> Iterator[Pair | Dropped]:
        for row in table.rows:
            yield row if isinstance(row, Dropped) else _pair(row, *wanted)
        _require_columns(table, wanted, file_path)

    return Pairs(table.columns, rows())


def _pair(row: Row, question_column: str, answer_column: str) -> Pair | Dropped:
    question = _as_text(row.values, question_column)
    answer = _as_text(row.values, answer_column)
    if isinstance(question, str) and isinstance(answer, str):
        return Pair(row.line, question, answer)
    return Dropped(row.line, str(question if isinstance(question, _Unusable) else answer))


def read_text(path: Path, file_path: str) -> str:
    """The whole of a text file. Raises PlainError when it is empty or not UTF-8."""
    text = "".join(line for _, line in numbered_lines(path, Path(file_path).name))
    if not text.strip():
        raise PlainError(f"{Path(file_path).name} holds no text.")
    return text


def read_table(path: Path, file_path: str, wanted: tuple[str, ...] | None = None) -> Table:
    """Opens a data file by the ending of its name. Of parquet only the `wanted` columns are
    unpacked. Raises PlainError for what is wrong at once."""
    name = Path(file_path).name
    if path.stat().st_size == 0:
        raise PlainError(f"{name} is empty.")
    match _ending(file_path):
        case "csv":
            return csv_table(path, name)
        case "jsonl":
            return jsonl_table(path, name)
        case "json":
            return json_table(path, name)
        case "parquet":
            return parquet_table(path, name, wanted)
        case "txt":
            return Table([], [])
    raise PlainError(f"{name} cannot be read: use a csv, jsonl, json, txt or parquet file.")


def _ending(file_path: str) -> str:
    return Path(file_path).suffix.lower().removeprefix(".")


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
        if "\0" in value:
            return _Unusable(NUL)
        return value if value.strip() else _Unusable(f"column {column} is empty")
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, bytes):
        return _Unusable(f"column {column} holds bytes, not text")
    return _Unusable(f"column {column} holds a {type(value).__name__}, not text")


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
