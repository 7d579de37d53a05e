"""Rows of a csv file."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from ..errors import PlainError
from .table import BLANK, NUL, Dropped, Position, Row, Table, numbered_lines, refuse_twins

if TYPE_CHECKING:
    from _csv import Reader as CsvReader
    from collections.abc import Iterator
    from pathlib import Path

# Fields may be whole documents; the csv module's own limit is 128 kB.
_FIELD_BYTES = 1 << 28
_DELIMITERS = (",", ";", "\t", "|")
_QUOTED = re.compile(r'"[^"]*(?:"|$)')


def csv_table(path: Path, name: str, delimiter: str | None = None) -> Table:
    """A csv file; its first line names the columns, and shows what parts them unless that is known.
    Raises PlainError where it does not."""
    csv.field_size_limit(_FIELD_BYTES)
    position = Position()
    numbered = numbered_lines(path, name, position)
    first = next(numbered, (1, ""))
    # What stands in quotes parts no columns.
    delimiter = delimiter or max(_DELIMITERS, key=_QUOTED.sub("", first[1]).count)
    # Strict: broken quotes are named instead of guessed at.
    reader = csv.reader(_chain(first, numbered), delimiter=delimiter, strict=True)
    try:
        header = [column.strip(BLANK) for column in next(reader, [])]
    except csv.Error as error:
        raise PlainError(
            f"The first line of {name} is not a list of columns: {_fault(error)}."
        ) from error
    if not any(header):
        raise PlainError(f"The first line of {name} names no columns.")
    refuse_twins(header, name)
    return Table(header, _rows(reader, header), position)


def _rows(reader: CsvReader, header: list[str]) -> Iterator[Row | Dropped]:
    while True:
        line = reader.line_num + 1
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
    """The csv module's words in those that a row is dropped with."""
    text = str(error)
    if "end of data" in text:
        return "a quote is opened and never closed"
    if "expected after" in text:
        return "there is text after a closing quote"
    if "new-line character" in text:
        return "there is a carriage return inside the line"
    return text


def _chain(first: tuple[int, str], rest: Iterator[tuple[int, str]]) -> Iterator[str]:
    yield first[1]
    for _, line in rest:
        yield line


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
