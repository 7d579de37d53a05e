"""Layouts of public files that cannot be read directly: how to detect each, and the advice to
show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..cells import list_of
from ..formats import are_structures, is_sentence, is_several_columns, points_at_choices
from .columns import ANSWER, CHOICES, DIALOGUE, PREFERENCE, find, find_all

if TYPE_CHECKING:
    from collections.abc import Sequence


class Shape(NamedTuple):
    """A layout that is detected by its column names, and the sentence about it."""

    # In lower case. All columns of one of the sets must be present.
    columns: tuple[frozenset[str], ...]
    said: str


def _shape(said: str, *columns: set[str]) -> Shape:
    return Shape(tuple(map(frozenset, columns)), said)


_AS_MESSAGES = "write each conversation as one row with a list of messages (role, content)"
_ONE_A_ROW = f"holds one turn on each row: {_AS_MESSAGES}"
_SHAPES = (
    _shape(
        "holds preferences without the question, or without one of two answers: write one row for "
        "each, with the columns prompt, chosen and rejected",
        *({name} for name in PREFERENCE.names),
    ),
    _shape(
        "has the layout of SQuAD, with questions inside paragraphs: write one row for each "
        "question, with the columns question, context and answer",
        {"paragraphs"},
    ),
    _shape(
        "has a list or an object in answers: write the answer of each row as text into a column "
        "called answer",
        {"question", "answers"},
        {"query", "answers"},
    ),
    _shape(
        f"holds trees of messages, as OpenAssistant has them: {_AS_MESSAGES}",
        {"message_tree_id"},
        {"message_id", "parent_id"},
        {"prompt", "replies"},
    ),
    _shape(f"is an export of ChatGPT, whose messages form trees: {_AS_MESSAGES}", {"mapping"}),
    _shape(f"has Gemini's layout (contents, parts): {_AS_MESSAGES}", {"contents"}),
    _shape(
        "holds instances inside each instruction: write one row for each, with the columns "
        "instruction, input and output",
        {"instruction", "instances"},
    ),
    _shape(
        _ONE_A_ROW,
        *({"role", "content"}, {"role", "text"}, {"role", "parts"}, {"from", "value"}),
        *({"speaker", "text"}, {"type", "content"}, {"type", "data"}),
    ),
)
# Layouts that are detected by the keys of the turns in a list.
_TURNS = (
    ({"role", "parts"}, "Gemini"),
    ({"type", "data"}, "LangChain"),
    ({"type", "content"}, "LangChain"),
    ({"lc", "kwargs"}, "LangChain"),
    ({"human", "assistant"}, "BELLE and Firefly"),
    ({"input", "output"}, "Capybara"),
)
# Columns with these names should hold turns, whatever their values.
_DIALOGUES = (*DIALOGUE.names, "chat", "dialog", "dialogue", "turns")
_SPLITS = ("train", "training", "test", "validation", "valid", "val", "dev", "eval")
_NAMED_KEYS_MAX = 5


def describe_shape(
    columns: Sequence[str], rows: Sequence[dict[str, Any]], dropped: int
) -> str | None:
    """Describes a file of unknown format and the fix, as the end of a sentence that begins with its
    name; None if nothing is known. `dropped` of its first rows cannot be read."""
    if len(columns) == 1 and dropped > len(rows):
        return (
            f"has one column, {columns[0]}, and several fields in most of its rows: put each value "
            "into double quotes where it contains a comma"
        )
    return (
        _describe_columns(columns, rows)
        or next((said for name in columns if (said := _describe_list(name, rows))), None)
        or _describe_only_column(columns, rows)
    )


def _describe_columns(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> str | None:
    splits = find_all(columns, *_SPLITS)
    if len(splits) > 1 and all(list_of(row.get(splits[0])) for row in rows):
        return f"holds several lists of rows ({', '.join(splits)}): save the one to train on alone"
    names = {column.strip().lower() for column in columns}
    for shape in _SHAPES:
        if any(needed <= names for needed in shape.columns):
            return shape.said
    answer, choices = find(columns, *ANSWER.names), find(columns, *CHOICES.names)
    if answer and choices and points_at_choices(columns, rows, answer):
        return (
            f"answers with numbers or letters of {choices}: write the choices into the question, "
            f"and the right one as text into {answer}"
        )
    return None


def _describe_list(column: str, rows: Sequence[dict[str, Any]]) -> str | None:
    """Describes the lists in a column that are not readable as turns."""
    first = next((found for row in rows if (found := list_of(row.get(column)))), None)
    if first is None:
        return None
    is_dialogue = find([column], *_DIALOGUES) is not None
    items = [item for item in first if isinstance(item, dict)]
    keys = set(items[0]) if items else set()
    of = next((f", as in {name}" for known, name in _TURNS if known <= keys), "")
    if not is_dialogue and not of:
        return None
    if items:
        listed = ", ".join(sorted(keys)[:_NAMED_KEYS_MAX])
        return (
            f"has objects with {listed} in the lists of {column}{of}: write each turn with role "
            "and content, or with from and value"
        )
    if all(isinstance(item, str) for item in first):
        return (
            f"has lists of texts in {column}, which do not say who speaks: write each text as an "
            "object with role and content"
        )
    return f"has lists in {column} that hold no turns: {_AS_MESSAGES}"


def _describe_only_column(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> str | None:
    if len(columns) != 1:
        return None
    (column,) = columns
    if is_several_columns(column):
        return (
            f"has one column, which is called '{_shortened(column)}': separate its columns with "
            "commas, without quotes around whole lines, or choose Text if it is one column"
        )
    if is_sentence(column):
        return (
            f"has one column, which is called '{_shortened(column)}': put a line with the name "
            "text above it if that is a row already, or choose Text if it is a name"
        )
    if are_structures(row.get(column) for row in rows):
        return (
            f"has lists or objects written as text in {column}, which cannot be read: write them "
            "as JSON, or choose Text to train on them as they stand"
        )
    return None


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"
