"""Parses the turns of a conversation."""

from __future__ import annotations

import json
import math
import re
from datetime import date
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from .cells import json_of, list_of, may_be_list
from .table import NUL, UnusableError, character_fault
from .tools import ToolCall, read_calls

Role = Literal["system", "user", "assistant", "tool"]

# Roles by the names that files use for them.
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
    # The content of these turns is a call, as in LLaMA-Factory.
    "function_call": "assistant",
    "tool_call": "assistant",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
    "observation": "tool",
    "tool_response": "tool",
}
_CALLERS = {"function_call", "tool_call"}
_CALL_FIELDS = ("tool_calls", "function_call")
# The prefix of results whose calls are written in the text, as in Hermes.
_WRITTEN_RESULT = "<tool_response>"
_WRITTEN_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
# Fields for the thoughts of an answer in the APIs of DeepSeek, OpenRouter and gpt-oss.
THINKING_FIELDS = ("reasoning_content", "reasoning", "thinking")
# The keys of a turn's speaker and content.
KEYS = {"messages": ("role", "content"), "sharegpt": ("from", "value")}


class Turn(NamedTuple):
    """One turn. Only the assistant's turns count in the loss."""

    role: Role
    content: str
    # Whether an answer counts in the loss; the file may exclude it.
    is_learnt: bool = True
    # The calls of an answer, and the thoughts before it.
    calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    # For a result: the call that it answers.
    result_of: ToolCall | None = None

    @property
    def is_learnt_answer(self) -> bool:
        return self.role == "assistant" and self.is_learnt

    @property
    def said(self) -> str:
        """Returns thoughts, content and calls of the turn in readable form."""
        return "\n".join(filter(None, [self.thinking, self.content, *map(str, self.calls)]))


def written_turns(value: object) -> list[object] | None:
    """Returns the turns that are written in a text, or None."""
    found = list_of(value) if isinstance(value, str) else None
    keys = [turn.keys() for turn in found or [] if isinstance(turn, dict)]
    return found if any(set(names) <= own for own in keys for names in KEYS.values()) else None


def ends_with_an_answer(turns: list[object]) -> bool:
    """Returns whether the last turn is the assistant's."""
    last = turns[-1]
    speaker = last.get(keys_of(turns)[0]) if isinstance(last, dict) else None
    return isinstance(speaker, str) and _ROLES.get(speaker.strip().lower()) == "assistant"


def keys_of(turns: list[object]) -> tuple[str, str]:
    """Returns the keys of the speakers and contents of these turns."""
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
    turns: list[Turn] = []
    # The calls that still lack a result.
    open_calls: list[ToolCall] = []
    read = [
        (f"{column}[{at}]", item, _turn(item, f"{column}[{at}]", role_key, text_key))
        for at, item in enumerate(value)
    ]
    # Calls that are written in the text stay there, unless results are separate turns.
    has_results = any(
        turn and turn.role == "tool" and not _is_written_result(turn) for _, _, turn in read
    )
    for where, item, read_turn in read:
        if read_turn is None:
            continue
        turn = read_turn
        if has_results and turn.role == "assistant" and not turn.calls:
            turn = _with_written_calls(turn, where)
        if turn.role == "tool":
            turn = _result(turn, item, where, open_calls)
        open_calls.extend(turn.calls)
        turns.append(turn)
    return turns


def _result(turn: Turn, item: object, where: str, open_calls: list[ToolCall]) -> Turn:
    """Returns the result with its call, which it removes from `open_calls`: the call that it names,
    otherwise the first."""
    named = item.get("tool_call_id") if isinstance(item, dict) else None
    answered = next((call for call in open_calls if not named or call.id == named), None)
    if answered:
        open_calls.remove(answered)
        return turn._replace(result_of=answered)
    if _is_written_result(turn):
        return turn._replace(role="user")
    raise UnusableError(f"{where} is the result of no call before it")


def _is_written_result(turn: Turn) -> bool:
    return turn.content.lstrip().startswith(_WRITTEN_RESULT)


def _with_written_calls(turn: Turn, where: str) -> Turn:
    """Returns the answer with the calls that are written in its text, as in Hermes."""
    written = _WRITTEN_CALL.findall(turn.content)
    if not written:
        return turn
    # As a list, because Python notation is only parsed in lists.
    calls = list_of(f"[{','.join(written)}]")
    if calls is None:
        raise UnusableError(f"{where} has a <tool_call> that is not JSON")
    content = _WRITTEN_CALL.sub("", turn.content).strip()
    return turn._replace(content=content, calls=read_calls(calls, where))


def require_an_answer(turns: list[Turn], column: str) -> None:
    if not any(turn.role == "assistant" for turn in turns):
        raise UnusableError(f"{column} has no turn of the assistant: nothing could be learnt")


def _parsed(text: str, column: str) -> object:
    """CSV cells hold lists as JSON, or as Python prints them."""
    written = json_of(text)
    if written is None:
        raise UnusableError(f"column {column} is not a list in JSON")
    value: object = json.loads(written)
    if fault := character_fault(written, value):
        raise UnusableError(fault)
    return value


def _turn(turn: object, where: str, role_key: str, text_key: str) -> Turn | None:
    """Parses one turn; None for an empty system prompt."""
    if not isinstance(turn, dict):
        raise UnusableError(f"{where} holds {kind_of(turn)}, not an object")
    fields: dict[str, Any] = turn
    speaker = fields.get(role_key)
    named = speaker.strip().lower() if isinstance(speaker, str) else ""
    role = _ROLES.get(named)
    if role is None:
        raise UnusableError(
            f"{where}.{role_key} is missing"
            if speaker is None
            else f"{where}.{role_key} is {shortened(speaker)}, not system, user, assistant or tool"
        )
    content, place = fields.get(text_key), f"{where}.{text_key}"
    if role == "tool":
        return Turn(role, _result_text(content, place))
    if named in _CALLERS:
        return Turn(role, "", _is_learnt(fields, where), read_calls(content, place))
    content = _joined_parts(content, place)
    if role == "system" and is_blank(content):
        return None
    if role != "assistant":
        return Turn(role, as_text(content, place))
    found = (read_calls(fields.get(field), f"{where}.{field}") for field in _CALL_FIELDS)
    calls = next(filter(None, found), ())
    said = "" if calls and is_blank(content) else as_text(content, place)
    return Turn(role, said, _is_learnt(fields, where), calls, _thinking(fields, where))


def _result_text(content: object, where: str) -> str:
    """Returns the text of a call's result, which may be empty; parts are joined, other objects
    become JSON."""
    if isinstance(content, list) and all(
        isinstance(one, dict) and "type" in one for one in content
    ):
        content = _joined_parts(content, where)
    if isinstance(content, dict | list):
        return json.dumps(content, ensure_ascii=False, default=str)
    return "" if _is_missing(content) else as_text(content, where, may_be_blank=True)


def _thinking(fields: dict[str, Any], where: str) -> str:
    for field in THINKING_FIELDS:
        if not is_blank(fields.get(field)):
            return as_text(fields[field], f"{where}.{field}")
    return ""


def _is_learnt(fields: dict[str, Any], where: str) -> bool:
    """Returns whether an answer counts in the loss: OpenAI's `weight` is 0 or 1, Axolotl's `train`
    a boolean."""
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
    """Joins the text of a content in parts, the format of APIs for pictures and sound."""
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
    # Cells of parquet files also hold decimals, dates and times.
    if isinstance(value, bool | int | float | Decimal | date):
        return str(value)
    raise UnusableError(f"{where} holds {kind_of(value)}, not text")


def is_blank(value: object) -> bool:
    return _is_missing(value) or (isinstance(value, str) and not value.strip())


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def kind_of(value: object) -> str:
    """Returns the kind of a value in words for users who do not know Python."""
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
