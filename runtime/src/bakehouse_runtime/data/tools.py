"""Functions that a model can call, and its calls, as files have them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from .cells import list_of
from .json_stream import refuse_constant
from .table import UnusableError

# A function as OpenAI's API has it: `{"type": "function", "function": {"name": ...}}`.
Tool = dict[str, Any]


class ToolCall(NamedTuple):
    """A call that an answer makes."""

    name: str
    arguments: dict[str, Any]
    # As the file has it; empty where it has none.
    id: str = ""

    def __str__(self) -> str:
        """As a person reads it: `weather({"city": "Paris"})`."""
        return f"{self.name}({json.dumps(self.arguments, ensure_ascii=False)})"


def read_tools(value: object, where: str) -> list[Tool]:
    """Functions: a list of them or one, as OpenAI has them or bare, as objects or in JSON. Raises
    UnusableError."""
    return [_tool(item, at) for item, at in _items(value, where)]


def read_calls(value: object, where: str) -> tuple[ToolCall, ...]:
    """Calls: a list of them or one, as OpenAI has them or bare, as objects or in JSON. Raises
    UnusableError."""
    return tuple(_call(item, at) for item, at in _items(value, where))


def _items(value: object, where: str) -> list[tuple[object, str]]:
    """The items of a list, or the only one, each with its place."""
    if isinstance(value, str):
        value = list_of(value) or (_parsed(value, where) if value.strip() else None)
    if isinstance(value, list):
        return [(item, f"{where}[{at}]") for at, item in enumerate(value)]
    return [] if value is None else [(value, where)]


def _tool(value: object, where: str) -> Tool:
    function, where = _function(_without_none(_object(value, where)), where)
    return {"type": "function", "function": function}


def _call(value: object, where: str) -> ToolCall:
    fields = _object(value, where)
    function, place = _function(fields, where)
    given = function.get("arguments", function.get("parameters"))
    arguments = {} if given in (None, "") else _object(given, f"{place}.arguments")
    if isinstance(given, dict):
        # Columns of parquet give each call the arguments of all others, without a value.
        arguments = {name: one for name, one in arguments.items() if one is not None}
    id_ = fields.get("id")
    return ToolCall(function["name"], arguments, id_ if isinstance(id_, str) else "")


def _function(fields: dict[str, Any], where: str) -> tuple[dict[str, Any], str]:
    """What has the name, with its place."""
    function, place = (
        (fields["function"], f"{where}.function") if "function" in fields else (fields, where)
    )
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or not name.strip():
        raise UnusableError(f"{place}.name is missing")
    return function, place


def _object(value: object, where: str) -> dict[str, Any]:
    found = _parsed(value, where) if isinstance(value, str) else value
    if not isinstance(found, dict):
        raise UnusableError(f"{where} is not an object")
    return found


def _parsed(text: str, where: str) -> object:
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise UnusableError(f"{where} is not JSON") from error


def _without_none(value: Any) -> Any:
    """Without what has no value: columns of parquet give each function the fields of all others."""
    if isinstance(value, dict):
        return {name: _without_none(one) for name, one in value.items() if one is not None}
    return [_without_none(one) for one in value] if isinstance(value, list) else value
