"""Reads consecutive JSON values from a file with only a window of it in memory."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

from .table import BLANK, text_pieces

if TYPE_CHECKING:
    from pathlib import Path

    from .table import Position

_BLANKS = re.compile(f"[{BLANK}]*")
# Nesting limit for lists and objects; parsers of other languages have other limits.
_NESTING_MAX = 500
# More digits than a float can represent, and fewer than int() rejects.
_DIGITS_MAX = 400
# A truncated word, escape or number ends within this many characters of the parse error.
_CUT_MAX = 32


class NotJsonError(Exception):
    """A JSON syntax error and its location."""

    def __init__(self, message: str, line: int, character: int) -> None:
        super().__init__(message)
        self.line = line
        self.character = character


class JsonStream:
    """A position in a JSON text. Only as much of the text is in memory as the longest value
    takes."""

    def __init__(self, path: Path, name: str, position: Position) -> None:
        """`position` is updated in bytes."""
        self.line = 1
        self._position = position
        position.total = path.stat().st_size
        self._pieces = text_pieces(path, name)
        self._text = ""
        self._at = 0
        # Characters of this line before the current position.
        self._passed = 0

    def skip(self) -> None:
        while True:
            end = skip_blanks(self._text, self._at)
            self._advance(end)
            if end < len(self._text) or not self._read_on():
                return

    def is_at(self, mark: str) -> bool:
        """Returns whether the next character is `mark`; does not skip white space."""
        return self._text.startswith(mark, self._at)

    def is_at_end(self) -> bool:
        """Returns whether the text ends here; call `skip` first."""
        return self._at == len(self._text)

    def take(self, mark: str) -> None:
        """Consumes this character. Raises NotJsonError for another one."""
        if not self.is_at(mark):
            raise self._fault(f"'{mark}' expected", self._at)
        self._advance(self._at + 1)

    def go_to_next(self, end: str, *, is_first: bool) -> bool:
        """Moves to the next value of a list, or key of an object. Returns False at its `end`."""
        self.skip()
        if not is_first and not self.is_at(end):
            self.take(",")
            self.skip()
        return not self.is_at(end)

    def pass_key(self) -> None:
        """Skips a key of an object, up to its value. Raises NotJsonError."""
        if not self.is_at('"'):
            raise self._fault("a key expected", self._at)
        self.value()
        self.skip()
        self.take(":")
        self.skip()

    def value(self) -> tuple[object, str]:
        """Returns the value at the current position and its source text. Raises NotJsonError."""
        while True:
            try:
                value, end = decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._may_be_cut(error) and self._read_on():
                    continue
                raise self._fault(error.msg, error.pos) from error
            # A number may continue after the window.
            if end < len(self._text) or not self._read_on():
                return value, self._advance(end)

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        is_string = error.msg.startswith("Unterminated string")
        return is_string or error.pos >= len(self._text) - _CUT_MAX

    def _read_on(self) -> bool:
        """Drops the consumed text, and reads at least as much as the remaining text. Returns False
        at the end of the file, without changes."""
        rest = self._text[self._at :]
        read = [rest]
        count = 0
        for piece in self._pieces:
            read.append(piece)
            count += len(piece)
            if count >= len(rest):
                break
        if count == 0:
            return False
        self._text = "".join(read)
        self._at = 0
        return True

    def _advance(self, end: int) -> str:
        passed = self._text[self._at : end]
        newline = passed.rfind("\n")
        self.line += passed.count("\n")
        self._passed = len(passed) - newline - 1 if newline >= 0 else self._passed + len(passed)
        self._position.done += len(passed) if passed.isascii() else len(passed.encode())
        self._at = end
        return passed

    def _fault(self, message: str, at: int) -> NotJsonError:
        before = self._text[self._at : at]
        newline = before.rfind("\n")
        passed = len(before) - newline - 1 if newline >= 0 else self._passed + len(before)
        return NotJsonError(message, self.line + before.count("\n"), passed + 1)


def skip_blanks(text: str, at: int) -> int:
    """Returns the position after white space."""
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


def decode(text: str, at: int) -> tuple[object, int]:
    """Returns one JSON value and its end. Every fault is a JSONDecodeError."""
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


class HugeNumber(float):
    """A number beyond the largest float, which is infinite, with its source text."""

    source: str


def _number(text: str) -> float:
    value = float(text)
    if math.isfinite(value):
        return value
    huge = HugeNumber(value)
    huge.source = text
    return huge


def _whole_number(digits: str) -> float:
    return int(digits) if len(digits) <= _DIGITS_MAX else _number(digits)


def reject_constant(name: str) -> float:
    """Rejects Python's NaN and Infinity, which are not JSON."""
    message = f"{name} is no JSON value"
    raise ValueError(message)


_DECODER = json.JSONDecoder(
    parse_int=_whole_number, parse_float=_number, parse_constant=reject_constant
)
