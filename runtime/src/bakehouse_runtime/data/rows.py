"""Reads the rows of a data file, with the exact line of every unusable row.

An unusable row is dropped with a reason. An unusable file (not UTF-8, a missing column, not the
format of its name) raises PlainError. `profile.py` reads the rows that the web app shows.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import PlainError
from .conversations import Passage, read_row
from .csv_rows import csv_table
from .formats import SNIFFED_ROWS, DataFormat, are_structures, recognise_format
from .json_rows import json_table, jsonl_table
from .layouts.columns import MEDIA, TEXT, column_warnings, find, used_columns
from .layouts.shapes import describe_shape
from .layouts.usage import Usage, usage_of
from .parquet_rows import parquet_table
from .table import NUL, WITHOUT_NUL, DataError, Dropped, Row, Table, text_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from ..protocol import DataSpec, FormatName
    from .conversations import Conversation
    from .table import Position

_NAMED_COLUMNS_MAX = 20
# The placeholder for a picture, video or sound in a text.
_MEDIA_MARK = re.compile(r"<(?:image|video|audio)>")
_NO_MEDIA: tuple[object, ...] = (None, "", [])


@dataclass
class Rows:
    """The converted rows of a file, with the dropped ones, in file order. They are read while
    iterating; for jsonl and json `columns` is complete only afterwards."""

    columns: list[str]
    format: DataFormat
    rows: Iterable[Conversation | Passage | Dropped]
    position: Position
    usage: Usage

    def warnings(self, file_path: str) -> list[str]:
        """Returns warnings about the columns and their values; call it after the rows are read."""
        return [
            *_name_warnings(self.columns, self.format, file_path),
            *column_warnings(self.columns, self.format, self.usage.ignored),
            *self.usage.warnings(),
        ]


def is_text(file_path: str) -> bool:
    """Returns whether a file of this name is plain text without columns."""
    return kind_of(file_path) == "txt"


def read_rows(path: Path, data: DataSpec) -> Rows:
    """Returns the rows of a data file in the wanted or detected format. The file extension of
    `data.file_path` decides the reader.

    Raises PlainError, immediately or while its rows are read, if the file or its columns are
    unusable.
    """
    data_format = _named_format(data) or _recognised_format(path, data)
    wanted = data_format.columns

    def read() -> Table:
        return read_table(
            path, data.file_path, lambda columns: used_columns(tuple(columns), data_format)
        )

    table = read()
    _require_columns(table, wanted, data.file_path)
    all_rows = iter(table.rows)
    first = list(islice(all_rows, SNIFFED_ROWS))
    usage = usage_of(
        [item for item in first if isinstance(item, Row)],
        data_format,
        lambda: read().rows,
        has_marks=kind_of(data.file_path) in ("csv", "tsv"),
    )

    def rows() -> Iterator[Conversation | Passage | Dropped]:
        for item in chain(first, all_rows):
            used = usage.applied(item) if isinstance(item, Row) else item
            if isinstance(used, Dropped):
                yield used
            else:
                read = read_row(used, data_format)
                yield _without_media(read, used, table.columns)
        _require_columns(table, wanted, data.file_path)

    return Rows(table.columns, data_format, rows(), table.position, usage)


def _without_media(
    read: Conversation | Passage | Dropped, row: Row, columns: list[str]
) -> Conversation | Passage | Dropped:
    """Drops the row if its text refers to a picture, video or sound in another column."""
    if isinstance(read, Dropped):
        return read
    said = [read.text] if isinstance(read, Passage) else [turn.content for turn in read.turns]
    mark = next((found[0] for text in said if (found := _MEDIA_MARK.search(text))), None)
    if mark is None:
        return read
    column = find(columns, *MEDIA)
    # Parquet reads only the columns that are used.
    if column is None or row.values.get(column, True) in _NO_MEDIA:
        return read
    return Dropped(read.line, f"{mark} refers to column {column}: only text can be trained on")


def _named_format(data: DataSpec) -> DataFormat | None:
    """Returns the format whose columns the spec names, or None if the file has to be inspected."""
    wanted, question, answer = data.format, data.input_column, data.output_column
    system = data.system_column or None
    if wanted in (None, "prompt_completion"):
        if not question or not answer:
            return None
        return DataFormat("prompt_completion", question, answer, system)
    if wanted in ("preference", "feedback"):
        rejected = data.rejected_column if wanted == "preference" else None
        label = data.label_column if wanted == "feedback" else None
        if not answer or not (rejected or label):
            return None
        return DataFormat(wanted, question or "", answer, system, rejected or None, label or None)
    if wanted == "alpaca" or not question:
        return None
    reference = answer or "" if wanted == "prompts" else ""
    return DataFormat(wanted, question, reference, system)


def _recognised_format(path: Path, data: DataSpec) -> DataFormat:
    """Detects the format from the first rows; parquet unpacks every column for them. Raises
    DataError if it is ambiguous."""
    table = read_table(path, data.file_path)
    first = list(islice(table.rows, SNIFFED_ROWS))
    rows = [item.values for item in first if isinstance(item, Row)]
    recognised = recognise_format(table.columns, rows, data.format, len(first) - len(rows))
    if recognised is None:
        raise DataError(_why_unrecognised(data, table.columns, first), table.columns)
    # An empty name requests no system prompt.
    named = recognised.system_column if data.system_column is None else data.system_column
    return replace(recognised, system_column=named or None)


def _why_unrecognised(data: DataSpec, columns: list[str], first: list[Row | Dropped]) -> str:
    """Explains why a file with these first rows is not recognised, and the fix."""
    name, ending = Path(data.file_path).name, kind_of(data.file_path)
    if not columns and first and isinstance(first[0], Dropped):
        fault = f"{name} has no rows with columns: line {first[0].line} is {first[0].reason}."
        return f"{fault} {_JSON_LINES}" if ending in ("jsonl", "json") else fault
    rows = [item.values for item in first if isinstance(item, Row)]
    if first and not rows and isinstance(first[0], Dropped) and first[0].reason == NUL:
        return f"{name} has no rows that can be read: line {first[0].line}, {NUL}. {WITHOUT_NUL}"
    shape = describe_shape(columns, rows, len(first) - len(rows))
    reason = f"{name} {shape}." if shape else _UNRECOGNISED[data.format].format(name=name)
    header = _HEADER if ending in ("csv", "tsv") and not shape else ""
    return reason + _named(columns) + header


_JSON_LINES = (
    "A .jsonl file has one complete object per line; save a list of objects as a .json file."
)
_HEADER = " They are named by its first line: put one above it if that is a row already."
# Errors for a file that is not recognised, by wanted format.
_UNRECOGNISED: dict[FormatName | None, str] = {
    None: "The format of {name} is not recognized: choose one, and the columns that it needs.",
    "messages": "{name} must have exactly one column with lists of messages (role, content).",
    "sharegpt": "{name} must have exactly one column with lists of turns (from, value).",
    "alpaca": "{name} has no columns instruction and output.",
    "prompt_completion": "Choose which columns of {name} contain the question and the answer.",
    "text": "Choose which column of {name} contains the text.",
    "preference": "Choose which columns of {name} contain the question, the better and the worse "
    "answer.",
    "feedback": "Choose which columns of {name} contain the question, the answer, and whether it "
    "is good or bad.",
    "prompts": "Choose which column of {name} contains the prompt.",
}


def _name_warnings(columns: list[str], data_format: DataFormat, file_path: str) -> list[str]:
    """Returns a warning if the name of the only column may be a row."""
    is_csv = kind_of(file_path) in ("csv", "tsv")
    if data_format.format != "text" or len(columns) > 1 or not is_csv or find(columns, *TEXT.names):
        return []
    return [
        f"The first line, {columns[0]}, is used as the name of the only column: if it is a row, "
        "insert the line 'text' above it."
    ]


def text_warnings(text: str, file_path: str) -> list[str]:
    """Returns a warning if a text file holds structured rows."""
    lines = (line.strip() for line in islice(io.StringIO(text), SNIFFED_ROWS))
    if are_structures(lines):
        return [
            f"{Path(file_path).name} contains JSON lists or objects, but is trained on as plain "
            "text: name it .jsonl or .json to train on its rows."
        ]
    return []


def read_text(path: Path, file_path: str) -> str:
    """Reads a whole text file. Raises PlainError if it is empty or not UTF-8."""
    text = "".join(text_pieces(path, Path(file_path).name))
    if not text.strip():
        raise PlainError(f"{Path(file_path).name} contains no text.")
    return text


def read_table(
    path: Path, file_path: str, wanted: Callable[[list[str]], Collection[str]] | None = None
) -> Table:
    """Opens a data file by its extension. Parquet unpacks only its `wanted` columns. Raises
    PlainError for faults that show on opening."""
    name = Path(file_path).name
    if path.stat().st_size == 0:
        raise PlainError(f"{name} is empty.")
    return open_table(path, name, kind_of(file_path), wanted)


def open_table(
    path: Path,
    name: str,
    kind: str,
    wanted: Callable[[list[str]], Collection[str]] | None = None,
) -> Table:
    """Opens a file of this kind; `name` is for errors. Raises PlainError for faults that show on
    opening."""
    match kind:
        case "csv":
            return csv_table(path, name)
        case "tsv":
            return csv_table(path, name, delimiter="\t")
        case "jsonl":
            return jsonl_table(path, name)
        case "json":
            return json_table(path, name)
        case "parquet":
            return parquet_table(path, name, wanted)
        case "txt":
            return Table([], [])
        case ending if ending in _PACKED:
            raise PlainError(f"{name} is packed: unpack it first.")
        case ending if ending in _WORKBOOKS:
            raise PlainError(f"{name} is a workbook: save a sheet as CSV.")
    raise PlainError(f"{name} cannot be read: use a csv, jsonl, json, txt or parquet file.")


# Aliases of extensions, and the extensions of packed files and workbooks.
_ALIASES = {"ndjson": "jsonl", "jsonlines": "jsonl", "md": "txt"}
_PACKED = {"gz", "zip", "zst", "bz2", "xz", "7z", "tar", "tgz"}
_WORKBOOKS = {"xlsx", "xls", "xlsm", "ods", "numbers"}


def kind_of(file_path: str) -> str:
    """Returns the normalised file extension, which decides the reader."""
    ending = Path(file_path).suffix.lower().removeprefix(".")
    return _ALIASES.get(ending, ending)


def _named(columns: list[str]) -> str:
    named = columns[:_NAMED_COLUMNS_MAX]
    more = len(columns) - len(named)
    if not named:
        return " It has no rows with columns."
    return f" Its columns are: {', '.join(named)}{f' and {more} more' if more else ''}."


def _require_columns(table: Table, wanted: Iterable[str], file_path: str) -> None:
    """Raises DataError for a missing column, once the columns are known."""
    for column in wanted:
        if table.columns and column not in table.columns:
            message = f"{Path(file_path).name} has no column {column}."
            raise DataError(message + _named(table.columns), table.columns)
