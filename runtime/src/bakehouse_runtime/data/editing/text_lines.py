"""Edits csv and JSON lines. Every line without an edit keeps its bytes, and so does every cell
without one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, BinaryIO

from ...errors import PlainError
from ..json_stream import skip_blanks
from ..rows import kind_of, open_table
from ..table import BLANK, Dialect, Row
from .edit import ROWS_MAX, Edit, stale, value_spans

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..table import Table

_MARK = b"\xef\xbb\xbf"


class _Place:
    """The lines of a row, from `first` up to the next row, and the edit of it."""

    def __init__(self, row: Row, edit: Edit) -> None:
        self.row = row
        self.edit = edit
        self.next: int | None = None


def edit_lines(path: Path, name: str, edits: list[Edit], target: BinaryIO) -> None:
    """Writes an edited copy of a csv, tsv or jsonl file. Raises EditError, StaleError, and
    PlainError for a file that cannot be read or has too many rows."""
    table = open_table(path, name, kind_of(name))
    places = _find_rows(table, name, {edit.at: edit for edit in edits if edit.at is not None})
    added = [edit for edit in edits if edit.at is None]
    with path.open("rb") as stream:
        first = stream.readline()
    ending = b"\r\n" if first.endswith(b"\r\n") else b"\n"
    last = first
    for lines, place in _extents(path, places):
        written = _edited(lines, place, table) if place else b"".join(lines)
        target.write(written)
        last = written or last
    if not added:
        return
    header = first.removeprefix(_MARK).decode() if table.dialect else ""
    rows = [_added(edit, table, header).encode() for edit in added]
    is_closed = last.endswith(b"\n") or not last
    target.write(
        (b"" if is_closed else ending) + ending.join(rows) + (ending if is_closed else b"")
    )


def _find_rows(table: Table, name: str, edits: dict[int, Edit]) -> dict[int, _Place]:
    """Returns the rows to edit by their first lines."""
    places: dict[int, _Place] = {}
    count = 0
    open_place: _Place | None = None
    for item in table.rows:
        if open_place:
            open_place.next, open_place = item.line, None
        if not isinstance(item, Row):
            continue
        edit = edits.get(count)
        count += 1
        if edit:
            edit.assert_row(item.values)
            open_place = places[item.line] = _Place(item, edit)
        if count > ROWS_MAX:
            raise too_many_rows(name)
    if missing := next((edit for at, edit in edits.items() if at >= count), None):
        raise stale(missing)
    return places


def too_many_rows(name: str) -> PlainError:
    """Returns the error for a file with too many rows to edit."""
    return PlainError(
        f"{name} has more than {ROWS_MAX:,} rows. Edit the file on your computer and upload it."
    )


def _extents(path: Path, places: dict[int, _Place]) -> Iterator[tuple[list[bytes], _Place | None]]:
    """Yields all lines of the file: those of a row to edit together, others one by one."""
    taken: list[bytes] = []
    place: _Place | None = None
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if place and number == place.next:
                yield taken, place
                taken, place = [], None
            place = place or places.get(number)
            if place:
                taken.append(line)
            else:
                yield [line], None
    if place:
        yield taken, place


def _edited(lines: list[bytes], place: _Place, table: Table) -> bytes:
    count = len(lines)
    # Blank lines after the row are no part of it.
    while count > 1 and not lines[count - 1].strip(BLANK.encode()):
        count -= 1
    raw = b"".join(lines[:count])
    mark = _MARK if place.row.line == 1 and raw.startswith(_MARK) else b""
    after = b"".join(lines[count:])
    if place.edit.cells is None:
        return mark + after
    text = raw[len(mark) :].decode()
    body = text.removesuffix("\n").removesuffix("\r")
    write = _csv_line if table.dialect else _json_line
    return mark + (write(body, place, table) + text[len(body) :]).encode() + after


def _json_line(line: str, place: _Place, _: Table) -> str:
    cells = dict(place.edit.cells or {})
    spans = value_spans(line)
    known = sorted((spans[name], cells.pop(name)) for name in list(cells) if name in spans)
    for (start, end), cell in reversed(known):
        line = line[:start] + cell.source + line[end:]
    for name, cell in cells.items():
        close = line.rindex("}")
        comma = "" if line[skip_blanks(line, 0) + 1 : close].strip(BLANK) == "" else ", "
        line = f"{line[:close]}{comma}{_json(name)}: {cell.source}{line[close:]}"
    return line


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _csv_line(line: str, place: _Place, table: Table) -> str:
    edit, dialect = place.edit, _dialect(table)
    edit.assert_columns(table.columns)
    cells = _split(line, dialect)
    if [_unquoted(cell, dialect) for cell in cells] != list(place.row.values.values()):
        raise edit.error("its quotes cannot be kept. Edit the file on your computer.")
    for name, cell in (edit.cells or {}).items():
        at = table.columns.index(name)
        is_quoted = dialect.is_quoted and cells[at].startswith('"')
        cells[at] = _quoted(cell.as_text(), edit, table, is_quoted=is_quoted)
    return dialect.delimiter.join(cells)


def _split(line: str, dialect: Dialect) -> list[str]:
    """Returns the cells of a row as they are written."""
    if not dialect.is_quoted:
        return line.split(dialect.delimiter)
    cell = re.compile(f'"(?:[^"]|"")*"|[^{re.escape(dialect.delimiter)}]*')
    cells: list[str] = []
    at = 0
    while found := cell.match(line, at):
        cells.append(found[0])
        at = found.end() + 1
        if not line.startswith(dialect.delimiter, found.end()):
            break
    return cells


def _unquoted(cell: str, dialect: Dialect) -> str:
    if dialect.is_quoted and cell.startswith('"'):
        return cell[1:-1].replace('""', '"')
    return cell


def _quoted(text: str, edit: Edit, table: Table, *, is_quoted: bool) -> str:
    dialect = _dialect(table)
    needs_quotes = any(mark in text for mark in ("\r", "\n", dialect.delimiter)) or (
        text == "" and len(table.columns) == 1
    )
    if dialect.is_quoted:
        if is_quoted or needs_quotes or '"' in text:
            return '"' + text.replace('"', '""') + '"'
    elif needs_quotes:
        raise edit.error("a cell of this file, which has no quotes, is one line without tabs.")
    return text


def _added(edit: Edit, table: Table, header: str) -> str:
    cells = edit.cells or {}
    dialect = table.dialect
    if dialect is None:
        pairs = (f"{_json(name)}: {cell.source}" for name, cell in cells.items())
        return f"{{{', '.join(pairs)}}}"
    edit.assert_columns(table.columns)
    # If the header is in quotes, so are the cells.
    is_quoted = dialect.is_quoted and header.startswith('"')
    texts = (cells[name].as_text() if name in cells else "" for name in table.columns)
    return dialect.delimiter.join(_quoted(text, edit, table, is_quoted=is_quoted) for text in texts)


def _dialect(table: Table) -> Dialect:
    return table.dialect or Dialect(",", is_quoted=True, first_line=1)
