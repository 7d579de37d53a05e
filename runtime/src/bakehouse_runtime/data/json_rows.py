"""Rows of JSON: one object per line, or a list of them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ..errors import PlainError
from .conversations import KEYS
from .table import BLANK, Dropped, Position, Row, Table, character_fault, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BLANKS = re.compile(f"[{BLANK}]*")
# Lists and objects within one another: the parser of another language ends somewhere else.
_NESTING_MAX = 500
# More digits than a float can mean, and fewer than int() refuses.
_DIGITS_MAX = 400


def jsonl_table(path: Path, name: str) -> Table:
    """One JSON object per line."""
    table = Table([], [])
    table.rows = _jsonl_rows(path, name, table)
    return table


def _jsonl_rows(path: Path, name: str, table: Table) -> Iterator[Row | Dropped]:
    known: set[str] = set()
    for line, text in numbered_lines(path, name, table.position):
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
        yield _object_row(line, text, value, table.columns, known)


def json_table(path: Path, name: str) -> Table:
    """A list of JSON objects, or one object that holds it; another file is read line by line."""
    text = "".join(line for _, line in numbered_lines(path, name))
    start = _skip(text, 0)
    table = Table([], [], Position(total=len(text)))
    if text.startswith("{", start):
        rows = _wrapped_list(text, start)
        if rows is None:
            return jsonl_table(path, name)
        begin, end = rows
        if begin == start:
            table.rows = _only_row(text, start, table)
        else:
            table.rows = _list_rows(text[:end], begin + 1, name, table)
        return table
    if not text.startswith("[", start):
        return jsonl_table(path, name)
    table.rows = _list_rows(text, start + 1, name, table)
    return table


def _only_row(text: str, start: int, table: Table) -> Iterator[Row | Dropped]:
    """The row of a file that is one object."""
    line = 1 + text.count("\n", 0, start)
    yield _object_row(line, text, _decode(text, start)[0], table.columns, set())
    table.position.done = len(text)


def _wrapped_list(text: str, start: int) -> tuple[int, int] | None:
    """Where the one list of rows stands in a text that is one object, from `start` on; where the
    object does if it holds none, or several, and is a row itself. None where the text is not one
    object."""
    at, is_first = start + 1, True
    lists: list[tuple[int, int]] = []
    try:
        while True:
            at = _next_value(text, at, is_first=is_first, end="}")
            if text.startswith("}", at):
                break
            key, at = _decode(text, at)
            at = _skip(text, at)
            if not isinstance(key, str) or not text.startswith(":", at):
                return None
            begin = _skip(text, at + 1)
            value, at = _decode(text, begin)
            if _is_list_of_rows(value):
                lists.append((begin, at))
            is_first = False
    except json.JSONDecodeError:
        return None
    if _skip(text, at + 1) < len(text):
        return None
    return lists[0] if len(lists) == 1 else (start, at + 1)


def _is_list_of_rows(value: object) -> bool:
    """Whether a value is a list of objects that are rows, and not the turns of one conversation."""
    if not isinstance(value, list) or not value:
        return False
    turns = [set(keys) for keys in KEYS.values()]
    return all(
        isinstance(item, dict) and not any(keys <= item.keys() for keys in turns) for item in value
    )


def _list_rows(text: str, at: int, name: str, table: Table) -> Iterator[Row | Dropped]:
    """The rows of a JSON list whose first value may stand at `at`."""
    known: set[str] = set()
    line, seen, is_first = 1, 0, True
    try:
        while True:
            at = _next_value(text, at, is_first=is_first)
            if text.startswith("]", at):
                break
            line += text.count("\n", seen, at)
            seen = at
            value, at = _decode(text, at)
            table.position.done = at
            yield _object_row(line, text[seen:at], value, table.columns, known)
            is_first = False
    except json.JSONDecodeError as error:
        raise PlainError(
            f"{name} is not JSON: {error.msg} on line {error.lineno}, character {error.colno}."
        ) from error
    if _skip(text, at + 1) < len(text):
        raise PlainError(f"{name} goes on after the end of its list.")


def _next_value(text: str, at: int, *, is_first: bool, end: str = "]") -> int:
    """The place of the next value of a list, or key of an object, or of its end."""
    at = _skip(text, at)
    if is_first or text.startswith(end, at):
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


def _object_row(
    line: int, text: str, value: object, columns: list[str], known: set[str]
) -> Row | Dropped:
    """The row of a JSON value; its keys join `columns`, of which `known` is the set. `text` is what
    it was read from."""
    if not isinstance(value, dict):
        return Dropped(line, "not an object with columns")
    if fault := character_fault(text, value):
        return Dropped(line, fault)
    columns.extend(key for key in value if key not in known)
    known.update(value)
    return Row(line, value)
