from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.data.templates.plain_template import plain_template
from bakehouse_runtime.data.templates.tool_template import add_tools, renders_tools
from tiny_model import CHAT_TEMPLATE

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}"
    "{% for message in messages %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate') }}{% endif %}"
    "{{ '<' + message['role'] + '>' + message['content'] }}{% endfor %}"
)
WITH_SYSTEM = CHAT_TEMPLATE + "{# system #}"

ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
}


def call(name: str, arguments: Any) -> dict[str, Any]:
    return {
        "id": f"call_{name}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "What is 1 + 2, and when?"},
    {"role": "assistant", "content": "", "tool_calls": [call("add", {"a": 1}), call("now", "{}")]},
    {"role": "tool", "content": "3", "tool_call_id": "call_add"},
    {"role": "tool", "content": "Noon", "tool_call_id": "call_now"},
    {"role": "assistant", "content": "3, at noon."},
    {"role": "user", "content": "Sure?"},
]


@pytest.fixture(scope="module")
def write(tiny_model: Path) -> Any:
    """Returns a function that renders a conversation with Transformers."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_model)

    def written(template: str, messages: list[dict[str, Any]], tools: Any = None) -> str:
        return tokenizer.apply_chat_template(
            messages, tools=tools, chat_template=template, tokenize=False
        )

    return written


@pytest.mark.parametrize("template", [WITH_SYSTEM, WITHOUT_SYSTEM, plain_template(begins=True)])
def test_does_not_change_a_conversation_without_tools(write: Any, template: str) -> None:
    turns = [HISTORY[0], HISTORY[4], HISTORY[5]]
    assert write(add_tools(template), turns) == write(template, turns)


def test_renders_calls_and_results_as_text_turns(write: Any) -> None:
    written = write(add_tools(WITHOUT_SYSTEM), HISTORY, [ADD])
    first, called, results, answer, again = re.split("<(?:user|assistant)>", written)[1:]
    about, question = first.split("</tool_call>\n\n")
    assert json.dumps(ADD) in about
    assert question == "What is 1 + 2, and when?"
    assert called == (
        '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>\n'
        '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
    )
    assert results == (
        "<tool_response>\n3\n</tool_response>\n<tool_response>\nNoon\n</tool_response>"
    )
    assert [answer, again] == ["3, at noon.", "Sure?"]


@pytest.mark.parametrize("system", [[], [{"role": "system", "content": "Be brief."}]])
def test_lists_the_functions_in_the_first_turn(write: Any, system: list[dict[str, Any]]) -> None:
    turns = [*system, HISTORY[0]]
    written = write(add_tools(WITH_SYSTEM), turns, [ADD])
    first, question = written.split("<|im_end|>\n")[:2]
    assert first.startswith("<|im_start|>system\n" + ("Be brief.\n\n" if system else ""))
    assert json.dumps(ADD) in first
    assert question == "<|im_start|>user\nWhat is 1 + 2, and when?"


def test_detects_tool_support_by_the_variable_name() -> None:
    assert renders_tools("{% if tools %}{{ tools | tojson }}{% endif %}")
    assert not renders_tools(CHAT_TEMPLATE)
