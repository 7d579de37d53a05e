"""Detects the format of data files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .cells import list_of
from .layouts.columns import (
    ANSWER,
    CHOICES,
    COLUMNS_ALLOWED_WITH_PROMPTS,
    DIALOGUE,
    FEEDBACK,
    HISTORY,
    INSTRUCTION,
    NATURAL_INSTRUCTIONS,
    PAIRS,
    PREFERENCE,
    PROMPT,
    REFERENCE,
    SYSTEM,
    TEXT,
    find,
    find_all,
    instruction_columns,
    preference_columns,
    rating_of,
)
from .turns import KEYS, is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..protocol import FormatName

# Columns of metadata, which a model should not learn.
_ABOUT_TEXT = re.compile(
    r"(.*_)?(id|idx|index|url|uri|path|score|count|date|time|at|hash)|row|source|link|timestamp"
    r"|title|author|lang|language|license|domain|subset|split|file|file_?name|dump|tags|length"
    r"|meta.*|__.*"
)
# An answer that refers to a choice by number or letter.
_POINTER = re.compile(r"\(?([0-9](?:\.0)?|[A-Ha-h])[).]?")
# Column separators of other formats, which the name of a single column does not contain.
_PARTED = re.compile(r"[,;|\t^~]|\S {2,}\S|\w\s*-?[#:<>=@*/\\]+\s*\w", re.ASCII)
_WORDS = re.compile(r"[A-Za-z0-9_]+")
_NAME_WORDS_MAX = 6
_SENTENCE_END = re.compile(r"[.!?][\"')\]]?\s*$")
# The beginning or end of a list or object written as text; a csv reader may have split its lines.
_STRUCTURE = re.compile(r"^(?:array\()?[\[{]\s*[\[{\"']|(?:[}\]\"']\s*[\]}]|dtype=object\))[,)]*$")
_AROUND = ' \t\r\n"'
# A system prompt is a phrase; the name of a machine, such as `H100 SXM`, must not match.
_PROMPT = re.compile(r"\S\s+(?:\S+\s+\S|[a-z])|[.!?:]$|\b[Yy]ou\b|[^\x00-\x7f]")
# How many rows are inspected.
SNIFFED_ROWS = 20


@dataclass(frozen=True)
class DataFormat:
    """A format with its columns. For `messages`, `sharegpt` and `text` the input column holds
    everything; `alpaca` finds its columns by name. For `prompts` the output column, if any, holds
    the reference."""

    format: FormatName
    input_column: str = ""
    output_column: str = ""
    system_column: str | None = None
    # Only for `preference`, whose input column is empty if the answers include the question.
    rejected_column: str | None = None
    # Only for `feedback`, whose input column is empty if the answer includes the question.
    label_column: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        answers = (self.output_column, self.rejected_column)
        named = (self.input_column, *answers, self.label_column, self.system_column)
        return tuple(column for column in named if column)


def recognise_format(
    columns: Sequence[str],
    rows: Iterable[dict[str, Any]],
    wanted: FormatName | None = None,
    dropped: int = 0,
) -> DataFormat | None:
    """Returns the format of a file by its column names and first rows; `dropped` further rows could
    not be read. With `wanted` it finds the columns of that format. Returns None if the format is
    ambiguous."""
    rows = list(rows)
    rated = _feedback(columns, rows, dropped, wanted) if wanted in (None, "feedback") else None
    if rated or wanted == "feedback":
        return rated
    prompts = _prompts(columns, rows, wanted) if wanted in (None, "prompts") else None
    if prompts or wanted == "prompts":
        return prompts
    return _of_answers(columns, rows, wanted, dropped)


def _feedback(
    columns: Sequence[str], rows: list[dict[str, Any]], dropped: int, wanted: FormatName | None
) -> DataFormat | None:
    """Detects answers with a rating column. Unless requested, the column must rate some of the
    first answers good and others bad."""
    named = [name for name in find_all(columns, *FEEDBACK.names) if _rates(name, rows, wanted)]
    if not named:
        return None
    label = named[0]
    others = [column for column in columns if column != label]
    found = _of_answers(others, rows, None, dropped)
    if found is None or found.format in ("text", "preference"):
        return None
    question, answer = found.input_column, found.output_column
    if found.format == "alpaca":
        question, answer = (name or "" for name in instruction_columns(tuple(columns)))
    elif found.format != "prompt_completion":
        question, answer = "", found.input_column
    return DataFormat("feedback", question, answer, found.system_column, label_column=label)


def _rates(column: str, rows: list[dict[str, Any]], wanted: FormatName | None) -> bool:
    """Returns whether a column holds only ratings, and, unless requested, both kinds."""
    ratings = [rating_of(value) for row in rows if not is_blank(value := row.get(column))]
    return None not in ratings and (wanted is not None or len(set(ratings)) == 2)


def _of_answers(
    columns: Sequence[str],
    rows: list[dict[str, Any]],
    wanted: FormatName | None,
    dropped: int,
) -> DataFormat | None:
    """Returns the format of a file without ratings."""
    system = _system_column(columns, rows)
    found = _of_conversations(columns, rows, wanted, system)
    if found or wanted in ("messages", "sharegpt", "preference"):
        return found
    if wanted in (None, "alpaca") and all(instruction_columns(tuple(columns))):
        return DataFormat("alpaca", system_column=system)
    if wanted in (None, "prompt_completion"):
        for asked, answered in PAIRS:
            question, answer = find(columns, asked), find(columns, answered)
            if question and answer:
                if wanted is None and points_at_choices(columns, rows, answer):
                    return None
                return DataFormat("prompt_completion", question, answer, system)
    if wanted in (None, "text"):
        text = _text_column(columns, rows)
        is_plain = len(rows) >= dropped and text and _is_plain_text(columns, rows, text)
        if text and (wanted or is_plain):
            return DataFormat("text", text)
    return None


def _prompts(
    columns: Sequence[str], rows: list[dict[str, Any]], wanted: FormatName | None
) -> DataFormat | None:
    """Detects questions without answers, with or without references. Unless requested, no column
    may possibly hold an answer."""
    question = find(columns, *PROMPT, *(DIALOGUE.names if wanted else ()))
    if question is None:
        return None
    reference = find(columns, *REFERENCE.names, *(ANSWER.names if wanted else ()))
    used = {question, reference, *find_all(columns, *COLUMNS_ALLOWED_WITH_PROMPTS)}
    if wanted is None and any(_is_tree(row.get(question)) for row in rows):
        return None
    if wanted is None and not all(
        column in used or _ABOUT_TEXT.fullmatch(column.strip().lower()) for column in columns
    ):
        return None
    return DataFormat("prompts", question, reference or "", _system_column(columns, rows))


def _is_tree(value: object) -> bool:
    """Returns whether the value is a message with its replies, as in OpenAssistant."""
    return isinstance(value, dict) and "replies" in value


def _of_conversations(
    columns: Sequence[str],
    rows: list[dict[str, Any]],
    wanted: FormatName | None,
    system: str | None,
) -> DataFormat | None:
    """Returns a format whose rows are conversations, or pairs that differ in their answers."""
    for name in ("messages", "sharegpt"):
        column = _dialogue_column(columns, rows, KEYS[name]) if wanted in (None, name) else None
        if column and (wanted or not _is_part(column, columns)):
            return DataFormat(name, column, system_column=system)
    return _preference(columns, rows, system) if wanted in (None, "preference") else None


def _is_part(column: str, columns: Sequence[str]) -> bool:
    """Returns whether the conversation column is only a part of the row, next to other content
    columns."""
    others = (*PREFERENCE.names, *(HISTORY.names if _has_pair(columns) else ()))
    return find([column], *others) is not None or preference_columns(columns) is not None


def _preference(
    columns: Sequence[str], rows: list[dict[str, Any]], system: str | None
) -> DataFormat | None:
    """Detects a better and a worse answer, with a question column or with conversations that
    include it."""
    found = preference_columns(columns)
    if found is None:
        return None
    question, *answers = found
    holds_question = all(
        any(_holds_dialogues(column, rows, keys) for keys in KEYS.values()) for column in answers
    )
    return (
        DataFormat("preference", question, answers[0], system, answers[1])
        if question or holds_question
        else None
    )


def _has_pair(columns: Sequence[str]) -> bool:
    pairs = (find_all(columns, *pair) for pair in PAIRS)
    return all(instruction_columns(tuple(columns))) or any(len(pair) == 2 for pair in pairs)


def points_at_choices(columns: Sequence[str], rows: Sequence[dict[str, Any]], answer: str) -> bool:
    """Returns whether the answers are only the numbers or letters of choices in another column."""
    answers = [text for row in rows if (text := _plain(row.get(answer))) is not None]
    return (
        find(columns, *CHOICES.names) is not None
        and len(answers) > 0
        and all(_POINTER.fullmatch(text) for text in answers)
    )


def is_several_columns(column: str) -> bool:
    """Returns whether the name of the only column looks like several names that were not split."""
    if _PARTED.search(column):
        return True
    words = [word.lower() for word in _WORDS.findall(column)]
    pairs = ((asked, answered) for asked, answered in PAIRS if len(asked) > 1)
    is_pair = any(asked in words and answered in words for asked, answered in pairs)
    return is_pair or all(find(words, *role.names) for role in (INSTRUCTION, ANSWER))


def is_sentence(column: str) -> bool:
    """Returns whether the name of a column looks like its first row."""
    return len(column.split()) > _NAME_WORDS_MAX or _SENTENCE_END.search(column) is not None


def are_structures(values: Iterable[object]) -> bool:
    """Returns whether at least half of the texts are lists or objects written as text, quoted again
    or not."""
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    found = (_STRUCTURE.search(text.strip(_AROUND)) for text in texts)
    return len(texts) > 0 and 2 * sum(match is not None for match in found) >= len(texts)


def _is_plain_text(columns: Sequence[str], rows: list[dict[str, Any]], text: str) -> bool:
    """Returns whether all other columns are metadata, and the text itself is not structured."""
    if not all(_ABOUT_TEXT.fullmatch(name.strip().lower()) for name in columns if name != text):
        return False
    is_name = len(columns) > 1 or not (is_several_columns(text) or is_sentence(text))
    return is_name and not are_structures(row.get(text) for row in rows)


def _system_column(columns: Sequence[str], rows: list[dict[str, Any]]) -> str | None:
    """Returns the column with system prompts; a column called `system` may instead name a
    machine."""
    column = find(columns, *SYSTEM.names)
    if column is None and all(find(columns, name) for name in NATURAL_INSTRUCTIONS):
        return find(columns, "definition")
    if column is None or find([column], SYSTEM.names[0]) is None:
        return column
    texts = [text for row in rows if (text := _plain(row.get(column)))]
    prompts = sum(_PROMPT.search(text) is not None for text in texts)
    return column if 2 * prompts > len(texts) or not texts else None


def _plain(value: object) -> str | None:
    """Returns the stripped text of a value, or None for lists and objects."""
    if value is None or isinstance(value, list | dict):
        return None
    return str(value).strip()


def _dialogue_column(
    columns: Sequence[str], rows: list[dict[str, Any]], keys: tuple[str, str]
) -> str | None:
    """Returns the one column with conversations, or the one with a usual name if there are
    several."""
    found = [column for column in columns if _holds_dialogues(column, rows, keys)]
    return find(found, *DIALOGUE.names) or (found[0] if len(found) == 1 else None)


def _holds_dialogues(column: str, rows: list[dict[str, Any]], keys: tuple[str, str]) -> bool:
    """Returns whether a column holds lists of turns, natively or in half of its texts."""
    values = [row.get(column) for row in rows]
    if any(_is_dialogue(value, keys) for value in values if not isinstance(value, str)):
        return True
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    found = sum(_is_dialogue(text, keys) for text in texts)
    return found > 0 and 2 * found >= len(texts)


def _is_dialogue(value: object, keys: tuple[str, str]) -> bool:
    turns = list_of(value)
    if not turns:
        return False
    return isinstance(turns[0], dict) and all(key in turns[0] for key in keys)


def _text_column(columns: Sequence[str], rows: list[dict[str, Any]]) -> str | None:
    named = find(columns, *TEXT.names)
    if named is not None:
        return named
    holds_text = len(columns) == 1 and any(isinstance(row.get(columns[0]), str) for row in rows)
    return columns[0] if holds_text else None
