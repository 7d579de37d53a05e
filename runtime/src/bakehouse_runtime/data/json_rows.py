"""Rows of JSON: one object per line, or a list of objects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..errors import PlainError
from .json_stream import JsonStream, NotJsonError, decode, skip_blanks
from .table import Dropped, Position, Row, Table, character_fault, numbered_lines
from .turns import KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def jsonl_table(path: Path, name: str) -> Table:
    """Opens a file with one JSON object per line."""
    table = Table([], [])
    table.rows = _jsonl_rows(path, name, table)
    return table


def _jsonl_rows(path: Path, name: str, table: Table) -> Iterator[Row | Dropped]:
    known: set[str] = set()
    for line, text in numbered_lines(path, name, table.position):
        start = skip_blanks(text, 0)
        if start == len(text):
            continue
        try:
            value, end = decode(text, start)
            if skip_blanks(text, end) < len(text):
                raise json.JSONDecodeError("Extra data", text, end)
        except json.JSONDecodeError as error:
            yield Dropped(
                line, f"not JSON: {error.msg.removesuffix(' at')} at character {error.colno}"
            )
            continue
        yield _object_row(line, text, value, table.columns, known)


def json_table(path: Path, name: str) -> Table:
    """Opens a list of JSON objects, or one object that holds the list; anything else is read line
    by line."""
    table = Table([], [])
    stream = JsonStream(path, name, table.position)
    stream.skip()
    if stream.is_at("["):
        table.rows = _list_rows(stream, name, table)
        return table
    lists = _lists_of_rows(JsonStream(path, name, Position())) if stream.is_at("{") else None
    if lists is None:
        return jsonl_table(path, name)
    if len(lists) == 1:
        table.rows = _wrapped_rows(stream, lists[0], name, table)
    else:
        table.rows = _only_row(stream, table)
    return table


def _only_row(stream: JsonStream, table: Table) -> Iterator[Row | Dropped]:
    line = stream.line
    value, text = stream.value()
    yield _object_row(line, text, value, table.columns, set())


def _lists_of_rows(stream: JsonStream) -> list[int] | None:
    """Returns the indexes of the values that are lists of rows, in a file that is one object. If
    there is exactly one, it holds the rows. Returns None if the file is not one object."""
    lists: list[int] = []
    try:
        stream.skip()
        stream.take("{")
        at = 0
        while _go_to_value(stream, at):
            if _pass_value(stream):
                lists.append(at)
            at += 1
        stream.take("}")
    except NotJsonError:
        return None
    stream.skip()
    return lists if stream.is_at_end() else None


def _go_to_value(stream: JsonStream, at: int) -> bool:
    """Moves to the value of the next key of an object, at index `at`; False at the end of the
    object."""
    if not stream.go_to_next("}", is_first=at == 0):
        return False
    stream.pass_key()
    return True


def _pass_value(stream: JsonStream) -> bool:
    """Skips a value. Returns whether it is a list of rows, rather than the turns of one
    conversation."""
    if not stream.is_at("["):
        stream.value()
        return False
    stream.take("[")
    are_rows, is_first = True, True
    while stream.go_to_next("]", is_first=is_first):
        item, _ = stream.value()
        are_rows = are_rows and isinstance(item, dict) and not _is_turn(item)
        is_first = False
    stream.take("]")
    return are_rows and not is_first


def _is_turn(item: dict[str, object]) -> bool:
    return any(set(keys) <= item.keys() for keys in KEYS.values())


def _wrapped_rows(
    stream: JsonStream, wanted: int, name: str, table: Table
) -> Iterator[Row | Dropped]:
    """Yields the rows of the list at index `wanted` of an object that was scanned before."""
    stream.take("{")
    for at in range(wanted):
        _go_to_value(stream, at)
        _pass_value(stream)
    _go_to_value(stream, wanted)
    yield from _rows_inside(stream, name, table)
    table.position.done = table.position.total


def _list_rows(stream: JsonStream, name: str, table: Table) -> Iterator[Row | Dropped]:
    yield from _rows_inside(stream, name, table)
    stream.skip()
    if not stream.is_at_end():
        raise PlainError(f"{name} continues after the end of its list.")


def _rows_inside(stream: JsonStream, name: str, table: Table) -> Iterator[Row | Dropped]:
    """Yields the rows of the list at the current position."""
    known: set[str] = set()
    is_first = True
    try:
        stream.take("[")
        while stream.go_to_next("]", is_first=is_first):
            line = stream.line
            value, text = stream.value()
            yield _object_row(line, text, value, table.columns, known)
            is_first = False
        stream.take("]")
    except NotJsonError as error:
        raise PlainError(
            f"{name} is not JSON: {error} on line {error.line}, character {error.character}."
        ) from error


def _object_row(
    line: int, text: str, value: object, columns: list[str], known: set[str]
) -> Row | Dropped:
    """Returns the row of a JSON value and adds its keys to `columns`, whose set is `known`. `text`
    is its source."""
    if not isinstance(value, dict):
        return Dropped(line, "not an object with columns")
    if fault := character_fault(text, value):
        return Dropped(line, fault)
    columns.extend(key for key in value if key not in known)
    known.update(value)
    return Row(line, value)
