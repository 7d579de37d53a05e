"""The formats of data files, and which one a file is in.

The web app recognises them in the same way before anything is validated: recognise-format.ts of the
server's preview; fixtures/recognise-alike.json holds both to one table.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .conversations import INSTRUCTION, INSTRUCTION_INPUT, INSTRUCTION_OUTPUT, KEYS, SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Format = Literal["messages", "sharegpt", "alpaca", "prompt_completion", "text"]

# How conversations are called where several columns hold one.
_DIALOGUE_NAMES = ("messages", "conversations", "conversation")
# How public datasets call what is asked and what is answered, the plainest first.
_PAIRS = (
    ("question", "answer"),
    ("prompt", "completion"),
    ("prompt", "response"),
    ("query", "response"),
    ("input", "output"),
)
_TEXT_NAMES = ("text", "content")
# Of preferences there are two conversations: one of them would be learnt by chance.
_PREFERENCES = ("chosen", "rejected")
# What may stand beside a text and says nothing that a model should learn.
_ABOUT_TEXT = re.compile(
    r"(.*_)?(id|idx|index|url|uri|path|score|count|date|time|at|hash)|row|source|link|timestamp"
    r"|title|author|lang|language|license|domain|subset|split|file|file_?name|dump|tags|length"
    r"|meta.*|__.*"
)
# Rows that are looked at.
SNIFFED_ROWS = 20


@dataclass(frozen=True)
class DataFormat:
    """A format with the columns that it needs. Of `messages`, `sharegpt` and `text` the input
    column holds everything; those of `alpaca` are found by their names."""

    format: Format
    input_column: str = ""
    output_column: str = ""
    system_column: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names."""
        named = (self.input_column, self.output_column, self.system_column)
        return tuple(column for column in named if column)


def recognise_format(
    columns: Sequence[str], rows: Iterable[dict[str, Any]], wanted: Format | None = None
) -> DataFormat | None:
    """The format of a file with these columns, by their names and by its first rows; with `wanted`
    the columns of that format. None where nobody could say."""
    rows = list(rows)
    system = _find(columns, *SYSTEM)
    for name in ("messages", "sharegpt"):
        if wanted not in (None, name):
            continue
        column = _dialogue_column(columns, rows, KEYS[name])
        is_preference = wanted is None and column and _find([column], *_PREFERENCES)
        if column and not is_preference:
            return DataFormat(name, column, system_column=system)
    if (
        wanted in (None, "alpaca")
        and _find(columns, *INSTRUCTION)
        and _find(columns, *INSTRUCTION_OUTPUT)
    ):
        return DataFormat("alpaca", system_column=system)
    if wanted in (None, "prompt_completion"):
        for asked, answered in _PAIRS:
            question, answer = _find(columns, asked), _find(columns, answered)
            if question and answer:
                return DataFormat("prompt_completion", question, answer, system)
    if wanted in (None, "text"):
        text = _text_column(columns, rows)
        if text and (wanted or all(_is_about_text(name) for name in columns if name != text)):
            return DataFormat("text", text)
    return None


def is_used(column: str, data_format: DataFormat) -> bool:
    """Whether a column is read in this format."""
    of_instruction = (*INSTRUCTION, *INSTRUCTION_INPUT, *INSTRUCTION_OUTPUT)
    is_instruction = data_format.format == "alpaca" and _find([column], *of_instruction)
    return bool(is_instruction) or column in data_format.columns


def _find(columns: Sequence[str], *names: str) -> str | None:
    """The first of these columns, whatever its case."""
    by_name = {column.strip().lower(): column for column in reversed(columns)}
    return next((by_name[name] for name in names if name in by_name), None)


def _dialogue_column(
    columns: Sequence[str], rows: list[dict[str, Any]], keys: tuple[str, str]
) -> str | None:
    """The one column with conversations, or that of them which is called so."""
    found = [
        column for column in columns if any(_is_dialogue(row.get(column), keys) for row in rows)
    ]
    return _find(found, *_DIALOGUE_NAMES) or (found[0] if len(found) == 1 else None)


def _is_dialogue(value: object, keys: tuple[str, str]) -> bool:
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return False
    if not isinstance(value, list) or not value:
        return False
    first: object = value[0]
    return isinstance(first, dict) and all(key in first for key in keys)


def _is_about_text(column: str) -> bool:
    return _ABOUT_TEXT.fullmatch(column.strip().lower()) is not None


def _text_column(columns: Sequence[str], rows: list[dict[str, Any]]) -> str | None:
    named = _find(columns, *_TEXT_NAMES)
    if named is not None:
        return named
    holds_text = len(columns) == 1 and any(isinstance(row.get(columns[0]), str) for row in rows)
    return columns[0] if holds_text else None
