"""Edits Parquet: row groups, types and values that are not edited stay the same."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ...errors import PlainError
from ..parquet_rows import open_parquet
from .edit import ROWS_MAX, Edit, has_huge_number, stale
from .text_lines import too_many_rows

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


class _MisfitError(Exception):
    """Why a value does not fit its column."""


def edit_parquet(path: Path, name: str, edits: list[Edit], target: Path) -> None:
    """Writes an edited copy of a Parquet file, one row group at a time. Raises EditError,
    StaleError, and PlainError for a file that cannot be read or has too many rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = open_parquet(path, name)
    rows = file.metadata.num_rows
    if rows > ROWS_MAX:
        raise too_many_rows(name)
    changed = sorted(
        ((edit.at, edit) for edit in edits if edit.at is not None), key=lambda pair: pair[0]
    )
    if changed and changed[-1][0] >= rows:
        raise stale(changed[-1][1])
    added = [edit for edit in edits if edit.at is None]
    schema = file.schema_arrow
    for edit in edits:
        edit.assert_columns(schema.names)
    try:
        with pq.ParquetWriter(target, schema, compression=_codecs(file)) as writer:
            start = 0
            for index in range(file.num_row_groups):
                group = file.read_row_group(index)
                end = start + group.num_rows
                here = {at - start: edit for at, edit in changed if start <= at < end}
                start = end
                edited = _edit_group(group, here) if here else group
                writer.write_table(edited, row_group_size=max(1, edited.num_rows))
            if added:
                writer.write_table(_added(schema, added))
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise PlainError(f"{name} is damaged, or has a type that cannot be written.") from error


def _codecs(file: Any) -> Any:
    """Returns the compression by column, or one for all columns."""
    if file.num_row_groups == 0:
        return "snappy"
    group = file.metadata.row_group(0)
    columns = [group.column(at) for at in range(group.num_columns)]
    names = {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4"}
    return {
        one.path_in_schema: names.get(one.compression, one.compression) for one in columns
    } or "snappy"


def _edit_group(group: pa.Table, edits: dict[int, Edit]) -> pa.Table:
    """Returns the row group with its edits, by row."""
    import pyarrow as pa

    for at, edit in edits.items():
        _assert_row(group, at, edit)
    for index, field in enumerate(group.schema):
        column = group.column(index)
        pieces: list[pa.Array] = []
        done = 0
        for at, edit in sorted(edits.items()):
            if field.name not in (edit.cells or {}):
                continue
            pieces += [*column.slice(done, at - done).chunks, _new_cell(edit, field)]
            done = at + 1
        if pieces:
            pieces += column.slice(done).chunks
            group = group.set_column(index, field, pa.chunked_array(pieces, field.type))
    deleted = {at for at, edit in edits.items() if edit.cells is None}
    kept = [at for at in range(group.num_rows) if at not in deleted] if deleted else None
    return group if kept is None else group.take(pa.array(kept, pa.int64()))


def _assert_row(group: pa.Table, at: int, edit: Edit) -> None:
    for name, old in edit.was.items():
        if name not in group.column_names or _differs(group.column(name)[at].as_py(), old):
            raise stale(edit)


def _differs(value: Any, old: Any) -> bool:
    """Compares a value with its JSON. Dates, bytes and such, which have no JSON, count as equal."""
    if value is None or old is None:
        return old is not None or isinstance(value, dict | list | bool | int | str)
    match value, old:
        case dict(), dict():
            return any(_differs(one, old.get(key)) for key, one in value.items())
        case list(), list():
            return len(value) != len(old) or any(map(_differs, value, old))
        case float(), _:
            return math.isfinite(value) and value != old
        case bool() | int() | str(), _:
            # The web app gets large integers as text.
            return value != old and str(value) != str(old)
    return False


def _added(schema: pa.Schema, edits: list[Edit]) -> pa.Table:
    import pyarrow as pa

    columns = [
        pa.chunked_array([_new_cell(edit, field) for edit in edits], field.type) for field in schema
    ]
    return pa.table(columns, schema=schema)


def _new_cell(edit: Edit, field: pa.Field) -> pa.Array:
    import pyarrow as pa

    cell = (edit.cells or {}).get(field.name)
    value = cell.value if cell else None
    try:
        if value is None:
            if not field.nullable:
                raise _MisfitError("must have a value")
            return pa.nulls(1, field.type)
        return _array(value, cell.source if cell else "", field.type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, _MisfitError) as error:
        why = (
            str(error)
            if isinstance(error, _MisfitError)
            else f"holds {field.type}, which this value is not"
        )
        raise edit.error(f"column {field.name} {why}.") from error


def _array(value: Any, source: str, kind: pa.DataType) -> pa.Array:
    """Returns a JSON value as an array of one value of a type."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        values = _array(value, source, kind.value_type)
        return pa.DictionaryArray.from_arrays(pa.array([0], kind.index_type), values)
    if pa.types.is_nested(kind):
        if has_huge_number(value):
            raise _MisfitError("cannot hold a number of this size")
        made = pa.array([value], kind)
        if _without_nulls(made.to_pylist()[0]) != _without_nulls(value):
            raise _MisfitError(f"holds {kind}, which cannot be edited to this value")
        return made
    if (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    ):
        raise _MisfitError("holds bytes, which cannot be edited")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.array([value], kind)
    text = value if isinstance(value, str) else source
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return pa.array([_moment(text, kind)], kind)
    made = pa.array([text]).cast(kind)
    if pa.types.is_floating(kind) and math.isinf(made[0].as_py()) and "inf" not in text.lower():
        raise _MisfitError("cannot hold a number of this size")
    return made


def _moment(text: str, kind: pa.DataType) -> Any:
    """Parses a date or time as the web app shows it, with or without a time zone."""
    import pyarrow as pa

    moment = datetime.fromisoformat(text)
    if pa.types.is_date(kind):
        return moment.date()
    if kind.tz is None:
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _without_nulls(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_nulls(one) for key, one in value.items() if one is not None}
        case list():
            return [_without_nulls(one) for one in value]
    return value
