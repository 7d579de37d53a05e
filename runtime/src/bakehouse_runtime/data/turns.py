"""What the sides of a conversation say, turn by turn, as files have it."""

from __future__ import annotations

import json
import math
from datetime import date
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from .cells import json_of, list_of, may_be_list
from .table import NUL, character_fault

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
NO_TOOLS = "tool calls cannot be trained on yet"
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


class UnusableError(Exception):
    """Why a row cannot be used."""


def written_turns(value: object) -> list[object] | None:
    """The turns that are written in a text; None where it holds none."""
    found = list_of(value) if isinstance(value, str) else None
    keys = [turn.keys() for turn in found or [] if isinstance(turn, dict)]
    return found if any(set(names) <= own for own in keys for names in KEYS.values()) else None


def ends_with_an_answer(turns: list[object]) -> bool:
    """Whether the assistant says the last of these turns."""
    last = turns[-1]
    speaker = last.get(keys_of(turns)[0]) if isinstance(last, dict) else None
    return isinstance(speaker, str) and _ROLES.get(speaker.strip().lower()) == "assistant"


def keys_of(turns: list[object]) -> tuple[str, str]:
    """Under which keys these turns have their speakers and contents."""
    is_sharegpt = any(isinstance(turn, dict) and "from" in turn for turn in turns)
    return KEYS["sharegpt" if is_sharegpt else "messages"]


def read_dialogue(values: dict[str, Any], column: str, role_key: str, text_key: str) -> list[Turn]:
    value = values.get(column)
    if isinstance(value, str) and may_be_list(value):
        value = _parsed(value, column)
    if _is_missing(value):
        raise UnusableError(f"column {column} is missing")
    if not isinstance(value, list):
        raise UnusableError(f"column {column} holds {kind_of(value)}, not a list of turns")
    turns = turn_list(value, column, role_key, text_key)
    require_an_answer(turns, column)
    return turns


def turn_list(value: list[object], column: str, role_key: str, text_key: str) -> list[Turn]:
    read = (_turn(turn, f"{column}[{at}]", role_key, text_key) for at, turn in enumerate(value))
    return [turn for turn in read if turn is not None]


def require_an_answer(turns: list[Turn], column: str) -> None:
    if not any(turn.role == "assistant" for turn in turns):
        raise UnusableError(f"{column} has no turn of the assistant: nothing could be learnt")


def _parsed(text: str, column: str) -> object:
    """csv has no lists: there they are written as JSON, or as Python prints them."""
    written = json_of(text)
    if written is None:
        raise UnusableError(f"column {column} is not a list in JSON")
    value: object = json.loads(written)
    if fault := character_fault(written, value):
        raise UnusableError(fault)
    return value


def _turn(turn: object, where: str, role_key: str, text_key: str) -> Turn | None:
    """One turn; None for a system prompt that says nothing."""
    if not isinstance(turn, dict):
        raise UnusableError(f"{where} holds {kind_of(turn)}, not an object")
    fields: dict[str, Any] = turn
    speaker = fields.get(role_key)
    named = speaker.strip().lower() if isinstance(speaker, str) else None
    if named in _TOOL_ROLES:
        raise UnusableError(f"{where}.{role_key} is {speaker}: {NO_TOOLS}")
    for field in _TOOL_FIELDS:
        if fields.get(field):
            raise UnusableError(f"{where}.{field}: {NO_TOOLS}")
    for field in _REASONING_FIELDS:
        if not is_blank(fields.get(field)):
            raise UnusableError(f"{where}.{field}: {_NO_REASONING}")
    role = _ROLES.get(named or "")
    if role is None:
        raise UnusableError(
            f"{where}.{role_key} is missing"
            if speaker is None
            else f"{where}.{role_key} is {shortened(speaker)}, not system, user or assistant"
        )
    content = _joined_parts(fields.get(text_key), f"{where}.{text_key}")
    if role == "system" and is_blank(content):
        return None
    is_learnt = role != "assistant" or _is_learnt(fields, where)
    return Turn(role, as_text(content, f"{where}.{text_key}"), is_learnt)


def _is_learnt(fields: dict[str, Any], where: str) -> bool:
    """Whether an answer is learnt: OpenAI's `weight` says it by 0 or 1, Axolotl's `train` by false
    or true."""
    for field in ("weight", "train"):
        value = fields.get(field)
        if _is_missing(value):
            continue
        if value not in (0, 1):
            allowed = "0 nor 1" if field == "weight" else "true nor false"
            raise UnusableError(f"{where}.{field} is neither {allowed}")
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
            raise UnusableError(f"{where}[{at}] holds {kind_of(part)}, not an object")
        kind = part.get("type")
        if kind != "text":
            raise UnusableError(
                f"{where}[{at}].type is missing"
                if kind is None
                else f"{where}[{at}].type is {shortened(kind)}: only text can be trained on"
            )
        texts.append(as_text(part.get("text"), f"{where}[{at}].text", may_be_blank=True))
    return "".join(texts)


def as_text(value: object, where: str, *, may_be_blank: bool = False) -> str:
    if _is_missing(value):
        raise UnusableError(f"{where} is missing")
    if isinstance(value, str):
        if "\0" in value:
            raise UnusableError(NUL)
        if not may_be_blank and not value.strip():
            raise UnusableError(f"{where} is empty")
        return value
    # Cells of parquet files hold decimals, dates and times as well.
    if isinstance(value, bool | int | float | Decimal | date):
        return str(value)
    raise UnusableError(f"{where} holds {kind_of(value)}, not text")


def is_blank(value: object) -> bool:
    return _is_missing(value) or (isinstance(value, str) and not value.strip())


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def kind_of(value: object) -> str:
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


def shortened(value: object) -> str:
    text = value if isinstance(value, str) else kind_of(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
