"""`profile`: reads a data file as training does, for the pages that show it.

Writes the rows as Parquet, and returns the columns, the format, the counts and the unreadable
rows. Of a large file only the first rows are read.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from ..errors import PlainError
from .formats import SNIFFED_ROWS, recognise_format
from .json_stream import HugeNumber
from .layouts.shapes import describe_shape
from .rows import kind_of, open_table
from .table import Dropped, Row, Table, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyarrow import Array

# Files up to this size are read to the end.
_WHOLE_BYTES = 16 << 20
# A larger file is read until both of the first two limits are reached, or the third one.
_FIRST_ROWS = 10_000
_FIRST_BYTES = 64 << 20
# The maximum number of written cells; further rows are only counted.
_CELLS_MAX = 4_000_000
_COLUMNS_MAX = 200
_NAMES_CHARS_MAX = 1_000_000
_PACKABLE = {"csv", "tsv", "json", "jsonl", "txt"}
_BROKEN_MAX = 10_000
# Rows are converted in pieces that fit into memory.
_PIECE_BYTES = 4 << 20
_PIECE_CELLS = 100_000

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def profile(path: Path, file_path: str, rows_file: Path) -> dict[str, Any]:
    """Reads a file in the format of `file_path`'s extension, unpacked if `path` ends in .gz. Writes
    the rows of a text file to `rows_file`; rows of a Parquet file are not copied.

    Raises PlainError for a file that cannot be read.
    """
    name = PurePath(file_path).name
    is_packed = path.suffix.lower() == ".gz"
    unpacked = kind_of(name[:-3]) if is_packed else ""
    kind = unpacked if unpacked in _PACKABLE else kind_of(name)
    if kind == "txt":
        table = Table(["text"], [])
        table.rows = _lines(path, name, table)
    else:
        table = open_table(path, name, kind)
    all_rows = iter(table.rows)
    first = list(islice(all_rows, SNIFFED_ROWS))
    values = [item.values for item in first if isinstance(item, Row)]
    broken = len(first) - len(values)
    found = recognise_format(table.columns, values, None, broken)
    shape = None if found or not first else describe_shape(table.columns, values, broken)
    problem = f"{name} {shape}." if shape else None
    if is_packed:
        problem = f"{name} is packed with gzip. Unpack it and upload it again."
    counted = {
        "is_whole": True,
        "row_count": table.position.total,
        "rows_written": 0,
        "broken": [],
        "broken_count": 0,
    }
    if kind != "parquet":
        writer = _Writer(table, is_json=kind in ("json", "jsonl"))
        counted = writer.write(chain(first, all_rows), rows_file)
    columns = table.columns[:_COLUMNS_MAX]
    if sum(map(len, columns)) > _NAMES_CHARS_MAX:
        raise PlainError(f"The column names of {name} have more than a million characters.")
    return {
        "columns": columns,
        "column_count": len(table.columns),
        "format": found and {**asdict(found), "system_column": found.system_column or None},
        "format_problem": problem,
        "dialect": table.dialect and table.dialect._asdict(),
        **counted,
    }


def _lines(path: Path, name: str, table: Table) -> Iterator[Row | Dropped]:
    """Yields every line of a text as a row."""
    for number, line in numbered_lines(path, name, table.position):
        yield Row(number, {"text": line.removesuffix("\n").removesuffix("\r")})


class _Writer:
    """Writes the rows of a table as Parquet with the columns c0, c1 and so on. The cells of csv and
    text are text. The cells of JSON are JSON; a missing cell is null."""

    def __init__(self, table: Table, *, is_json: bool) -> None:
        self._table = table
        self._is_json = is_json
        self._rows: list[dict[str, Any]] = []
        # Each piece has its number of rows, and the cells of the columns that it knows.
        self._pieces: list[tuple[int, list[Array]]] = []
        self._cells = 0
        self._converted_to = 0

    def write(self, items: Iterator[Row | Dropped], rows_file: Path) -> dict[str, Any]:
        """Writes the rows and returns the counts."""
        position, columns = self._table.position, self._table.columns
        broken: list[Dropped] = []
        row_count = broken_count = 0
        is_read = True
        for item in items:
            if isinstance(item, Dropped):
                broken_count += 1
                if len(broken) < _BROKEN_MAX:
                    broken.append(item)
            else:
                row_count += 1
                if self._cells < _CELLS_MAX:
                    self._add(item, min(len(columns), _COLUMNS_MAX))
            if position.done > _WHOLE_BYTES and (
                row_count + broken_count >= _FIRST_ROWS or position.done > _FIRST_BYTES
            ):
                is_read = next(items, None) is None
                break
        self._convert()
        self._write_pieces(rows_file)
        written = sum(count for count, _ in self._pieces)
        return {
            "is_whole": is_read and written == row_count,
            "row_count": row_count if is_read else None,
            "rows_written": written,
            "broken": [{"line": row.line, "reason": row.reason} for row in broken],
            "broken_count": broken_count,
        }

    def _add(self, row: Row, width: int) -> None:
        self._rows.append(row.values)
        self._cells += max(1, width)
        done = self._table.position.done
        if done - self._converted_to > _PIECE_BYTES or len(self._rows) * width > _PIECE_CELLS:
            self._convert()
            self._converted_to = done

    def _convert(self) -> None:
        from pyarrow.lib import StringBuilder

        if not self._rows:
            return
        columns = self._table.columns[:_COLUMNS_MAX]
        cells = (
            [[_cell(row[name]) if name in row else None for row in self._rows] for name in columns]
            if self._is_json
            else [[row[name] for row in self._rows] for name in columns]
        )
        # pa.array would import pandas, which takes longer than reading a small file.
        builder, arrays = StringBuilder(), []
        for texts in cells:
            builder.append_values(texts)
            arrays.append(builder.finish())
        self._pieces.append((len(self._rows), arrays))
        self._rows = []

    def _write_pieces(self, rows_file: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        width = max(1, min(len(self._table.columns), _COLUMNS_MAX))
        schema = pa.schema([(f"c{at}", pa.string()) for at in range(width)])
        # Dictionaries and statistics only pay for files that are read more than a few times.
        options = {"compression": "snappy", "use_dictionary": False, "write_statistics": False}
        with pq.ParquetWriter(rows_file, schema, **options) as writer:
            for count, cells in self._pieces:
                missing = [pa.nulls(count, pa.string())] * (width - len(cells))
                writer.write_table(pa.table([*cells, *missing], schema=schema))


def _cell(value: object) -> str:
    """Returns the JSON of a value, with all digits of its numbers."""
    try:
        return _encode(value)
    except ValueError:
        return _exact(value)


def _exact(value: object) -> str:
    """Returns the JSON of a value that contains numbers beyond the largest float."""
    match value:
        case HugeNumber():
            return value.source
        case dict():
            pairs = (f"{_encode(key)}:{_exact(inner)}" for key, inner in value.items())
            return f"{{{','.join(pairs)}}}"
        case list():
            return f"[{','.join(map(_exact, value))}]"
    return _encode(value)


def answer(asked: dict[str, str]) -> dict[str, Any]:
    """Returns the profile of a file, or the reason why it cannot be read."""
    folder = Path(asked["folder"])
    try:
        return profile(folder / asked["file"], asked["name"], folder / "scratch" / "result")
    except PlainError as error:
        return {"unreadable": str(error)}
