"""The rows of a data file while they are read, in any format."""

from __future__ import annotations

import codecs
import gzip
import json
import re
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import PlainError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from io import BufferedReader
    from pathlib import Path

# White space in JSON.
BLANK = " \t\r\n"
NUL = "the text contains a NUL character"
# Advice for a file with NUL characters.
WITHOUT_NUL = "Remove these characters, save the file as UTF-8 text and upload it again."
_PIECE_BYTES = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Magic bytes of other file types, with the advice for each.
_OTHER_KINDS = (
    (b"PK\x03\x04", "is an Excel workbook or another zip archive. Save its rows as CSV"),
    (b"\x1f\x8b", "is packed with gzip. Unpack it"),
    (b"\xff\xfe\0\0", "is UTF-32 text. Save it as UTF-8"),
    (b"\0\0\xfe\xff", "is UTF-32 text. Save it as UTF-8"),
    (b"\xff\xfe", "is UTF-16 text. Save it as UTF-8"),
    (b"\xfe\xff", "is UTF-16 text. Save it as UTF-8"),
)
# In UTF-16, every second byte of most texts is NUL.
_SNIFFED_BYTES = 1024
# Escapes of possibly invalid characters; a text without them needs no closer check.
_ESCAPED = re.compile(r"\\u(0000|[dD][89a-fA-F])")


class DataError(PlainError):
    """The file cannot be used as requested; `columns` are its columns."""

    def __init__(self, message: str, columns: list[str]) -> None:
        super().__init__(message)
        self.columns = columns

    def __reduce__(self) -> tuple[type[DataError], tuple[str, list[str]]]:
        """Pickles all arguments, so that the error can cross a process boundary."""
        return DataError, (str(self), self.columns)


@dataclass(frozen=True)
class Row:
    """A readable row. `line` is its first line, from 1 (parquet: the row's number)."""

    line: int
    values: dict[str, Any]


class UnusableError(Exception):
    """The reason why a row cannot be used."""


@dataclass(frozen=True)
class Dropped:
    """An unusable row, and the reason."""

    line: int
    reason: str


@dataclass
class Position:
    """How much of a file has been read, in the reader's own unit: bytes, characters or rows."""

    done: int = 0
    total: int = 0

    @property
    def part(self) -> float:
        """Returns the share from 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0


class Dialect(NamedTuple):
    """How a csv file separates its values. `first_line` is the line that names the columns."""

    delimiter: str
    is_quoted: bool
    first_line: int


@dataclass
class Table:
    """The columns and rows of a file, in order. Rows are read while iterating; for jsonl and json
    `columns` is complete only afterwards."""

    columns: list[str]
    rows: Iterable[Row | Dropped]
    position: Position = field(default_factory=Position)
    # Only for csv.
    dialect: Dialect | None = None


def character_fault(text: str, value: object) -> str | None:
    """Returns what is wrong with the characters of a JSON value or its keys, which were read from
    `text`: invalid characters that neither tokenizers nor databases accept."""
    if not _ESCAPED.search(text):
        return None
    written = json.dumps(value, ensure_ascii=False)
    try:
        written.encode("utf-8")
    except UnicodeEncodeError:
        return "half of a surrogate pair stands where a character should"
    # In JSON it is always escaped; a literal backslash before it would be doubled.
    return NUL if re.search(r"(?<!\\)(\\\\)*\\u0000", written) else None


def reject_duplicate_columns(columns: Iterable[str], name: str) -> None:
    """Raises PlainError if two columns have the same name, which would be ambiguous."""
    seen: set[str] = set()
    for column in columns:
        if column in seen:
            raise PlainError(f"{name} names the column '{column}' twice.")
        seen.add(column)


@contextmanager
def open_bytes(path: Path, name: str) -> Iterator[BufferedReader | gzip.GzipFile]:
    """Opens a file for reading, unpacked if its path ends in .gz: only pages show such a file,
    training rejects it by its name. Raises PlainError if a packed file is incomplete."""
    if path.suffix.lower() != ".gz":
        with path.open("rb") as stream:
            yield stream
        return
    try:
        with gzip.open(path) as stream:
            yield stream
    except EOFError as error:
        raise PlainError(f"{name} is cut off: upload it again.") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise PlainError(f"{name} is damaged: upload it again.") from error


def numbered_lines(
    path: Path, name: str, position: Position | None = None
) -> Iterator[tuple[int, str]]:
    """Yields the lines of a UTF-8 file with their numbers, line endings included. Updates
    `position`."""
    position = position or Position()
    position.total = path.stat().st_size
    with open_bytes(path, name) as stream:
        _assert_kinds(stream.peek(_SNIFFED_BYTES)[:_SNIFFED_BYTES], name)
        for number, raw in enumerate(stream, start=1):
            size = len(raw)
            if number == 1:
                raw = raw.removeprefix(_BYTE_ORDER_MARK)  # noqa: PLW2901 - byte order mark
            try:
                yield number, raw.decode("utf-8")
            except UnicodeDecodeError as error:
                place = position.done + error.start + 1
                raise _other_encoding(name, number, error.start + 1, place) from error
            position.done += size


def _other_encoding(name: str, line: int, byte: int, place: int) -> PlainError:
    return PlainError(
        f"{name} is not UTF-8 text: line {line}, byte {byte} (byte {place} of the file). Save it "
        "as UTF-8 and upload it again."
    )


def text_pieces(path: Path, name: str) -> Iterator[str]:
    """Yields the text of a UTF-8 file in pieces of bounded length, however long its lines are."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    # The line in which the next piece begins, and the file offsets of that line and of the piece.
    line, line_start, start = 1, 0, 0
    with open_bytes(path, name) as stream:
        pieces = iter(lambda: stream.read(_PIECE_BYTES), b"")
        for raw, following in pairwise(chain(pieces, [b""])):
            if start == 0:
                _assert_kinds(raw[:_SNIFFED_BYTES], name)
                line_start = len(raw) - len(raw.removeprefix(_BYTE_ORDER_MARK))
            pending = len(decoder.getstate()[0])
            try:
                text = decoder.decode(raw, final=not following)
            except UnicodeDecodeError as error:
                before = raw[: max(0, error.start - pending)]
                if b"\n" in before:
                    line_start = start + before.rfind(b"\n") + 1
                line += before.count(b"\n")
                at = start - pending + error.start
                raise _other_encoding(name, line, at - line_start + 1, at + 1) from error
            yield text.removeprefix("\ufeff") if start == 0 else text
            if b"\n" in raw:
                line += raw.count(b"\n")
                line_start = start + raw.rfind(b"\n") + 1
            start += len(raw)


def _assert_kinds(beginning: bytes, name: str) -> None:
    for magic, sentence in _OTHER_KINDS:
        if beginning.startswith(magic):
            raise PlainError(f"{name} {sentence} and upload it again.")
    if beginning.count(0) > len(beginning) / 8:
        raise PlainError(
            f"{name} is not UTF-8 text: it is full of NUL bytes, as binary files and UTF-16 are. "
            "Save it as UTF-8 and upload it again."
        )
