"""Parses functions that a model can call, and its calls."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from .cells import list_of
from .json_stream import reject_constant
from .table import UnusableError

# A function in the format of OpenAI's API: `{"type": "function", "function": {"name": ...}}`.
Tool = dict[str, Any]


class ToolCall(NamedTuple):
    name: str
    arguments: dict[str, Any]
    # The id in the file, or empty.
    id: str = ""

    def __str__(self) -> str:
        """Returns the call in readable form: `weather({"city": "Paris"})`."""
        return f"{self.name}({json.dumps(self.arguments, ensure_ascii=False)})"


def read_tools(value: object, where: str) -> list[Tool]:
    """Parses one function or a list, in OpenAI's format or bare, as objects or JSON. Raises
    UnusableError."""
    return [_tool(item, at) for item, at in _items(value, where)]


def read_calls(value: object, where: str) -> tuple[ToolCall, ...]:
    """Parses one call or a list, in OpenAI's format or bare, as objects or JSON. Raises
    UnusableError."""
    return tuple(_call(item, at) for item, at in _items(value, where))


def _items(value: object, where: str) -> list[tuple[object, str]]:
    """Returns the items of a list, or the single item, each with its path."""
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
        # In parquet, each call has the arguments of all other calls, with null values.
        arguments = {name: one for name, one in arguments.items() if one is not None}
    id_ = fields.get("id")
    return ToolCall(function["name"], arguments, id_ if isinstance(id_, str) else "")


def _function(fields: dict[str, Any], where: str) -> tuple[dict[str, Any], str]:
    """Returns the object that has the name, with its path."""
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
        return json.loads(text, parse_constant=reject_constant)
    except (ValueError, RecursionError) as error:
        raise UnusableError(f"{where} is not JSON") from error


def _without_none(value: Any) -> Any:
    """Removes null values: in parquet, each function has the fields of all others."""
    if isinstance(value, dict):
        return {name: _without_none(one) for name, one in value.items() if one is not None}
    return [_without_none(one) for one in value] if isinstance(value, list) else value
