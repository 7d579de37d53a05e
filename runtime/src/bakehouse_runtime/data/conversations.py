"""What one row of a data file becomes: a conversation, or a text that is continued."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .cells import is_missing_mark, json_of, list_of, may_be_list
from .layouts.columns import (
    context_columns,
    decisive_columns,
    history_column,
    pair_columns,
)
from .table import NUL, Dropped, character_fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from .formats import DataFormat
    from .segments import Span
    from .table import Row

Role = Literal["system", "user", "assistant"]

# Who speaks, by the words that files have for it.
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "prompter": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "ai": "assistant",
    "bard": "assistant",
    "bing": "assistant",
}
_TOOL_ROLES = {"tool", "function", "function_call", "tool_call", "observation", "tool_response"}
_TOOL_FIELDS = ("tool_calls", "function_call")
_NO_TOOLS = "tool calls cannot be trained on yet"
# Thoughts beside an answer, as the APIs of DeepSeek, OpenRouter and gpt-oss return them.
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_NO_REASONING = "thoughts beside an answer cannot be trained on yet"
# Under which keys a turn has its speaker and its content.
KEYS = {"messages": ("role", "content"), "sharegpt": ("from", "value")}


class Turn(NamedTuple):
    """What one side says. The model learns to write what the assistant says, and reads the rest."""

    role: Role
    content: str
    # Whether an answer is learnt; the file may ask that it be only read.
    is_learnt: bool = True

    @property
    def is_learnt_answer(self) -> bool:
        """Whether the model learns to write it."""
        return self.role == "assistant" and self.is_learnt


@dataclass
class Conversation:
    """The turns of one row; the last one is an answer that is learnt."""

    line: int
    turns: list[Turn]


@dataclass
class Passage:
    """A row whose text is continued, all of it learnt."""

    line: int
    text: str


@dataclass(frozen=True)
class Rendered:
    """A conversation as one text, and where in it stands what the model learns to write."""

    text: str
    learnt: list[Span]
    # The numbers of the turns of which those parts are.
    learnt_turns: list[int]
    # Whether the chat template rewrites an earlier answer, which is only read then.
    is_rewritten: bool = False
    # Whether a special token ends every part that is learnt.
    is_ended: bool = True


def read_row(row: Row, data_format: DataFormat) -> Conversation | Passage | Dropped:
    """What the row becomes in this format, or why it cannot be used, with the name of the field."""
    values = row.values
    try:
        _refuse_left_out(values, data_format)
        if data_format.format == "text":
            column = data_format.input_column
            return Passage(row.line, _as_text(values.get(column), f"column {column}"))
        turns = _turns(values, data_format)
    except _UnusableError as error:
        return Dropped(row.line, str(error))
    return Conversation(row.line, turns)


class _UnusableError(Exception):
    """Why a row cannot be used."""


def _refuse_left_out(values: dict[str, Any], data_format: DataFormat) -> None:
    """Raises _UnusableError where the row itself says that it is not to be learnt."""
    for column, rule in decisive_columns(tuple(values), data_format):
        if rule.leaves_out(values[column]):
            said = _shortened(str(values[column]))
            raise _UnusableError(f"column {column} is {said}: not to be learnt")


def _turns(values: dict[str, Any], data_format: DataFormat) -> list[Turn]:
    match data_format.format:
        case "messages" | "sharegpt" as name:
            turns = _dialogue(values, data_format.input_column, *KEYS[name])
        case _:
            turns = [*_history(values, data_format), *_pair(values, data_format)]
    prompt = _optional_text(values, data_format.system_column)
    if prompt is not None and turns[0].role != "system":
        turns.insert(0, Turn("system", prompt))
    return _up_to_the_last_learnt(turns)


def _up_to_the_last_learnt(turns: list[Turn]) -> list[Turn]:
    """What follows the last answer that is learnt is never read."""
    if turns[0].role == "assistant":
        # Nothing asks for it: what a template writes before it would be learnt with it.
        turns[0] = turns[0]._replace(is_learnt=False)
    learnt = [at for at, turn in enumerate(turns) if turn.is_learnt_answer]
    if not learnt:
        raise _UnusableError(
            "every answer is only read, as its weight says or because it opens the conversation: "
            "nothing could be learnt"
        )
    return turns[: learnt[-1] + 1]


def _pair(values: dict[str, Any], data_format: DataFormat) -> list[Turn]:
    """A question with what it is about, and its answer."""
    question, answer = pair_columns(tuple(values), data_format)
    *earlier, asked = _side(values, question, "user")
    contexts = (_context(values, name) for name in context_columns(tuple(values), data_format))
    said = "\n\n".join([asked.content, *(context for context in contexts if context)])
    return [
        *(
            turn._replace(is_learnt=turn.role != "assistant")
            for turn in (*earlier, asked._replace(content=said))
        ),
        *_side(values, answer, "assistant"),
    ]


def _context(values: dict[str, Any], column: str) -> str | None:
    """What a question is about; several passages are told apart as paragraphs are."""
    value = values[column]
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    return _optional_text(values, column)


def is_context(value: object) -> bool:
    """Whether it can be read with a question."""
    return _can_be_read(lambda: _context({"": value}, ""))


def _history(values: dict[str, Any], data_format: DataFormat) -> list[Turn]:
    """The turns before a question."""
    column = history_column(tuple(values), data_format)
    return [] if column is None else _earlier_turns(values[column], column)


def is_history(value: object) -> bool:
    """Whether it holds turns before a question."""
    return _can_be_read(lambda: _earlier_turns(value, ""))


def _can_be_read(read: Callable[[], object]) -> bool:
    try:
        read()
    except _UnusableError:
        return False
    return True


def _earlier_turns(value: object, column: str) -> list[Turn]:
    """Turns, or pairs of them, as ChatGLM and LLaMA-Factory have them."""
    if _is_blank(value):
        return []
    found = list_of(value)
    if found is None:
        raise _UnusableError(f"column {column} holds {_kind(value)}, not earlier turns")
    if any(isinstance(item, dict) for item in found):
        return _turn_list(found, column, *_keys_of(found))
    turns: list[Turn] = []
    for at, pair in enumerate(found):
        where = f"{column}[{at}]"
        if not isinstance(pair, list) or len(pair) != 2:
            raise _UnusableError(f"{where} is no pair of a question and its answer")
        turns.append(Turn("user", _as_text(pair[0], f"{where}[0]")))
        turns.append(Turn("assistant", _as_text(pair[1], f"{where}[1]")))
    return turns


def _side(values: dict[str, Any], column: str, role: Role) -> list[Turn]:
    """One side of a pair: a text, or turns that stand in a list."""
    value = values.get(column)
    if not isinstance(value, list) or not any(isinstance(turn, dict) for turn in value):
        return [Turn(role, _as_text(value, f"column {column}"))]
    turns = _turn_list(value, column, *_keys_of(value))
    if role == "assistant":
        _require_an_answer(turns, column)
    if not turns:
        raise _UnusableError(f"{column} has no turn that says anything")
    return turns


def written_turns(value: object) -> list[object] | None:
    """The turns that are written in a text; None where it holds none."""
    found = list_of(value) if isinstance(value, str) else None
    keys = [turn.keys() for turn in found or [] if isinstance(turn, dict)]
    return found if any(set(names) <= own for own in keys for names in KEYS.values()) else None


def ends_with_an_answer(turns: list[object]) -> bool:
    """Whether the assistant says the last of these turns."""
    last = turns[-1]
    speaker = last.get(_keys_of(turns)[0]) if isinstance(last, dict) else None
    return isinstance(speaker, str) and _ROLES.get(speaker.strip().lower()) == "assistant"


def _keys_of(turns: list[object]) -> tuple[str, str]:
    """Under which keys these turns have their speakers and contents."""
    is_sharegpt = any(isinstance(turn, dict) and "from" in turn for turn in turns)
    return KEYS["sharegpt" if is_sharegpt else "messages"]


def _dialogue(values: dict[str, Any], column: str, role_key: str, text_key: str) -> list[Turn]:
    value = values.get(column)
    if isinstance(value, str) and may_be_list(value):
        value = _parsed(value, column)
    if _is_missing(value):
        raise _UnusableError(f"column {column} is missing")
    if not isinstance(value, list):
        raise _UnusableError(f"column {column} holds {_kind(value)}, not a list of turns")
    turns = _turn_list(value, column, role_key, text_key)
    _require_an_answer(turns, column)
    return turns


def _turn_list(value: list[object], column: str, role_key: str, text_key: str) -> list[Turn]:
    read = (_turn(turn, f"{column}[{at}]", role_key, text_key) for at, turn in enumerate(value))
    return [turn for turn in read if turn is not None]


def _require_an_answer(turns: list[Turn], column: str) -> None:
    if not any(turn.role == "assistant" for turn in turns):
        raise _UnusableError(f"{column} has no turn of the assistant: nothing could be learnt")


def _parsed(text: str, column: str) -> object:
    """csv has no lists: there they are written as JSON, or as Python prints them."""
    written = json_of(text)
    if written is None:
        raise _UnusableError(f"column {column} is not a list in JSON")
    value: object = json.loads(written)
    if fault := character_fault(written, value):
        raise _UnusableError(fault)
    return value


def _turn(turn: object, where: str, role_key: str, text_key: str) -> Turn | None:
    """One turn; None for a system prompt that says nothing."""
    if not isinstance(turn, dict):
        raise _UnusableError(f"{where} holds {_kind(turn)}, not an object")
    fields: dict[str, Any] = turn
    speaker = fields.get(role_key)
    named = speaker.strip().lower() if isinstance(speaker, str) else None
    if named in _TOOL_ROLES:
        raise _UnusableError(f"{where}.{role_key} is {speaker}: {_NO_TOOLS}")
    for field in _TOOL_FIELDS:
        if fields.get(field):
            raise _UnusableError(f"{where}.{field}: {_NO_TOOLS}")
    for field in _REASONING_FIELDS:
        if not _is_blank(fields.get(field)):
            raise _UnusableError(f"{where}.{field}: {_NO_REASONING}")
    role = _ROLES.get(named or "")
    if role is None:
        raise _UnusableError(
            f"{where}.{role_key} is missing"
            if speaker is None
            else f"{where}.{role_key} is {_shortened(speaker)}, not system, user or assistant"
        )
    content = _joined_parts(fields.get(text_key), f"{where}.{text_key}")
    if role == "system" and _is_blank(content):
        return None
    is_learnt = role != "assistant" or _is_learnt(fields, where)
    return Turn(role, _as_text(content, f"{where}.{text_key}"), is_learnt)


def _is_learnt(fields: dict[str, Any], where: str) -> bool:
    """Whether an answer is learnt: OpenAI's `weight` says it by 0 or 1, Axolotl's `train` by false
    or true."""
    for field in ("weight", "train"):
        value = fields.get(field)
        if _is_missing(value):
            continue
        if value not in (0, 1):
            allowed = "0 nor 1" if field == "weight" else "true nor false"
            raise _UnusableError(f"{where}.{field} is neither {allowed}")
        if not value:
            return False
    return True


def _joined_parts(content: object, where: str) -> object:
    """The text of a content that comes in parts, as the APIs for pictures and sound have it."""
    if not isinstance(content, list):
        return content
    texts: list[str] = []
    for at, part in enumerate(content):
        if not isinstance(part, dict):
            raise _UnusableError(f"{where}[{at}] holds {_kind(part)}, not an object")
        kind = part.get("type")
        if kind != "text":
            raise _UnusableError(
                f"{where}[{at}].type is missing"
                if kind is None
                else f"{where}[{at}].type is {_shortened(kind)}: only text can be trained on"
            )
        texts.append(_as_text(part.get("text"), f"{where}[{at}].text", may_be_blank=True))
    return "".join(texts)


def _optional_text(values: dict[str, Any], column: str | None) -> str | None:
    """The text of a column that rows may leave empty."""
    if column is None:
        return None
    value = values.get(column)
    is_none = _is_blank(value) or (isinstance(value, str) and is_missing_mark(value))
    return None if is_none else _as_text(value, f"column {column}")


def _as_text(value: object, where: str, *, may_be_blank: bool = False) -> str:
    if _is_missing(value):
        raise _UnusableError(f"{where} is missing")
    if isinstance(value, str):
        if "\0" in value:
            raise _UnusableError(NUL)
        if not may_be_blank and not value.strip():
            raise _UnusableError(f"{where} is empty")
        return value
    # Cells of parquet files hold decimals, dates and times as well.
    if isinstance(value, bool | int | float | Decimal | date):
        return str(value)
    raise _UnusableError(f"{where} holds {_kind(value)}, not text")


def _is_blank(value: object) -> bool:
    return _is_missing(value) or (isinstance(value, str) and not value.strip())


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _kind(value: object) -> str:
    """What a value is, in words that a person without Python knows."""
    if isinstance(value, bytes):
        return "bytes"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "text"
    return "a number" if isinstance(value, int | float) else f"a {type(value).__name__}"


def _shortened(value: object) -> str:
    text = value if isinstance(value, str) else _kind(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
