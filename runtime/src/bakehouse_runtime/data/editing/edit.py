"""An edit of a row, as the web app sends it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ...errors import PlainError
from ..json_stream import HugeNumber, decode, skip_blanks
from ..table import character_fault

# Files with more rows are not edited.
ROWS_MAX = 100_000


class EditError(PlainError):
    """An edit that cannot be made; `index` is its place in the request."""

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index


class StaleError(PlainError):
    """The row is not the one that the user saw."""


@dataclass(frozen=True)
class Cell:
    """A new value, and its JSON text, which has all digits of its numbers."""

    value: Any
    source: str

    def as_text(self) -> str:
        """Returns the value as a cell of a csv file."""
        if self.value is None:
            return ""
        return self.value if isinstance(self.value, str) else self.source


@dataclass(frozen=True)
class Edit:
    """Changes row `at`, from 0; without `cells` deletes it; without `at` adds a row."""

    index: int
    at: int | None
    was: dict[str, Any]
    cells: dict[str, Cell] | None

    def error(self, problem: str) -> EditError:
        """Returns the error that names the row."""
        row = "The new row" if self.at is None else f"Row {self.at + 1:,}"
        return EditError(f"{row}: {problem}", self.index)

    def assert_row(self, values: dict[str, Any]) -> None:
        """Raises StaleError unless these are the values of the row that the user saw."""
        if any(name not in values or values[name] != old for name, old in self.was.items()):
            raise stale(self)

    def assert_columns(self, columns: list[str]) -> None:
        """Raises EditError if the edit names other columns."""
        known = set(columns)
        for name in self.cells or ():
            if name not in known:
                raise self.error(f"the file has no column {name}.")


def stale(edit: Edit) -> StaleError:
    """Returns the error for an edit of a row that the file does not have."""
    return StaleError(f"Row {(edit.at or 0) + 1:,} is not the row that you edited.")


def read_edits(asked: list[dict[str, Any]]) -> list[Edit]:
    """Parses the edits of a request. Raises EditError for invalid JSON and for two edits of a
    row."""
    edits = [
        Edit(
            index,
            one.get("at"),
            {name: cell.value for name, cell in _cells(one.get("was") or "{}", index).items()},
            _cells(one["cells"], index) if one.get("cells") is not None else None,
        )
        for index, one in enumerate(asked)
    ]
    seen: set[int] = set()
    for edit in edits:
        if edit.at in seen:
            raise edit.error("there are two edits of it.")
        if edit.at is not None:
            seen.add(edit.at)
    return edits


def _cells(text: str, index: int) -> dict[str, Cell]:
    try:
        value, end = decode(text, skip_blanks(text, 0))
        if not isinstance(value, dict) or skip_blanks(text, end) < len(text):
            raise json.JSONDecodeError("No object", text, 0)
    except json.JSONDecodeError as error:
        raise EditError("Send the cells as the JSON text of an object.", index) from error
    if fault := character_fault(text, value):
        raise EditError(f"A cell cannot be saved: {fault}.", index)
    # A line break between two JSON values becomes a space; strings cannot contain one.
    return {
        name: Cell(value[name], re.sub(r"[\r\n]+", " ", text[start:end]))
        if not isinstance(value[name], str)
        else Cell(value[name], text[start:end])
        for name, (start, end) in value_spans(text).items()
    }


def value_spans(text: str) -> dict[str, tuple[int, int]]:
    """Returns where the values of a JSON object are in its text. Of a repeated key, the last value
    counts."""
    spans: dict[str, tuple[int, int]] = {}
    at = skip_blanks(text, skip_blanks(text, 0) + 1)
    while text[at] != "}":
        if text[at] == ",":
            at = skip_blanks(text, at + 1)
        key, at = decode(text, at)
        colon = skip_blanks(text, at)
        start = skip_blanks(text, colon + 1)
        _, end = decode(text, start)
        spans[str(key)] = (start, end)
        at = skip_blanks(text, end)
    return spans


def has_huge_number(value: object) -> bool:
    """Returns whether a value contains a number that no float can represent."""
    match value:
        case dict():
            return any(map(has_huge_number, value.values()))
        case list():
            return any(map(has_huge_number, value))
    return isinstance(value, HugeNumber)
