"""Rows of a parquet file, unpacked in small pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import PlainError
from .table import Dropped, Position, Row, Table, reject_duplicate_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from pyarrow import RecordBatch
    from pyarrow.parquet import ParquetFile

# Rows unpacked per batch; a short file may hold one long text a million times.
_ROWS_AT_ONCE = 64
# Limit for the columns that are read; pages of a row group may be unpacked whole.
_GROUP_BYTES_MAX = 1 << 30
# Limits for the unpacked file. A dictionary can expand some kilobytes to gigabytes, and reading
# them takes memory bandwidth from every chat on the machine; real data expands far less.
_UNPACKED_BYTES_FREE = 256 << 20
_UNPACKED_TIMES_MAX = 50


def parquet_table(
    path: Path, name: str, wanted: Callable[[list[str]], Collection[str]] | None
) -> Table:
    """Opens a parquet file and unpacks only its `wanted` columns. Raises PlainError if it is no
    parquet file or a row group is too large."""
    file = open_parquet(path, name)
    names = list(file.schema_arrow.names)
    used = names if wanted is None else wanted(names)
    read = [column for column in names if column in used]
    _assert_group_sizes(file, name, read)
    position = Position(total=file.metadata.num_rows)
    return Table(names, _rows(file, name, read, path.stat().st_size, position), position)


def open_parquet(path: Path, name: str) -> ParquetFile:
    """Opens a parquet file. Raises PlainError if it is none, or names a column twice."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise PlainError(f"{name} is not a parquet file.") from error
    reject_duplicate_columns(file.schema_arrow.names, name)
    return file


def _rows(
    file: ParquetFile, name: str, read: list[str], packed_bytes: int, position: Position
) -> Iterator[Row | Dropped]:
    import pyarrow as pa

    left = _UNPACKED_BYTES_FREE + _UNPACKED_TIMES_MAX * packed_bytes
    try:
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=read):
            left -= _unpacked_bytes(batch)
            if left < 0:
                raise PlainError(
                    f"{name} unpacks to more than {_UNPACKED_TIMES_MAX} times its size: write it "
                    "without such long repeated values, or split it."
                )
            for values in _values(batch):
                position.done += 1
                if values is None:
                    yield Dropped(position.done, "contains bytes that are not UTF-8 text")
                else:
                    yield Row(position.done, values)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise PlainError(f"{name} is damaged after row {position.done}.") from error


def _unpacked_bytes(batch: RecordBatch) -> int:
    """Returns the size of the batch without dictionaries."""
    import pyarrow as pa

    return sum(
        column.dictionary_decode().nbytes if pa.types.is_dictionary(column.type) else column.nbytes
        for column in batch.columns
    )


def _values(batch: RecordBatch) -> Sequence[dict[str, Any] | None]:
    """Returns the rows of a batch; None for a row whose text is not UTF-8."""
    try:
        return batch.to_pylist()
    except UnicodeDecodeError:
        return [_row_values(batch.slice(index, 1)) for index in range(batch.num_rows)]


def _row_values(row: RecordBatch) -> dict[str, Any] | None:
    try:
        return row.to_pylist()[0]
    except UnicodeDecodeError:
        return None


def _assert_group_sizes(file: ParquetFile, name: str, read: list[str]) -> None:
    """Checks the sizes in the metadata before anything is unpacked."""
    metadata = file.metadata
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)
        columns = (group.column(number) for number in range(group.num_columns))
        size = sum(
            column.total_uncompressed_size
            for column in columns
            if column.path_in_schema.split(".")[0] in read
        )
        if size > _GROUP_BYTES_MAX:
            raise PlainError(
                f"{name} has a row group of {size / 1e9:.1f} GB: write it with row groups of at "
                f"most {_GROUP_BYTES_MAX / 1e9:.0f} GB."
            )
