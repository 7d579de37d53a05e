"""Converts the turns of a conversation to the messages that chat templates expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..turns import THINKING_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..tools import ToolCall
    from ..turns import Turn

Message = dict[str, Any]


def messages_of(turns: list[Turn]) -> list[Message]:
    """Returns messages as Transformers passes them to templates, with arguments as objects. Call
    ids have nine letters or digits, which Mistral's template requires."""
    ids: dict[int, str] = {}

    def id_of(call: ToolCall) -> str:
        return ids.setdefault(id(call), f"call{len(ids):05}")

    return [_message(turn, map(id_of, _calls_of(turn))) for turn in turns]


def _calls_of(turn: Turn) -> tuple[ToolCall, ...]:
    return turn.calls if turn.result_of is None else (turn.result_of,)


def _message(turn: Turn, ids: Iterable[str]) -> Message:
    message: Message = {"role": turn.role, "content": turn.content}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": id_,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call, id_ in zip(turn.calls, ids, strict=True)
        ]
    if turn.result_of:
        message |= {"name": turn.result_of.name, "tool_call_id": next(iter(ids))}
    # Templates use different names for thoughts, so set all of them.
    return message | dict.fromkeys(THINKING_FIELDS if turn.thinking else (), turn.thinking)
