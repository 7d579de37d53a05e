from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.data.templates.tool_template import add_tools
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.serve.parsers import parser_arguments, reasoning_parser, tool_parser
from templates import template_of
from with_vllm.cpu import ask_vllm, needs_vllm
from with_vllm.families import TEMPLATES, WRITTEN, tokens_of, write_base

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("template", "model_type", "tools", "thoughts"), TEMPLATES)
def test_selects_the_parsers_of_a_template(
    template: str, model_type: str, tools: str | None, thoughts: str | None
) -> None:
    source = template_of(template)
    assert tool_parser(model_type, source) == tools
    assert reasoning_parser(model_type, source) == thoughts


@pytest.mark.parametrize(("model_type", "template", "tools", "thoughts"), WRITTEN)
def test_selects_the_parsers_of_a_family(
    model_type: str, template: str, tools: str | None, thoughts: str | None
) -> None:
    assert tool_parser(model_type, template) == tools
    assert reasoning_parser(model_type, template) == thoughts


@pytest.mark.parametrize("line_end", ["\n", "\\n"])
def test_detects_always_thinking_models_by_template(line_end: str) -> None:
    template = "{{- '<|im_start|>assistant\n<think>\n' }}".replace("\n", line_end)
    assert reasoning_parser("qwen2", template) == "deepseek_r1"


@pytest.mark.parametrize("marks", [["<think>", "</think>"], ["<think>"], []])
def test_passes_a_reasoning_parser_only_if_the_tokenizer_has_the_marks(
    tmp_path: Path, marks: list[str]
) -> None:
    base = write_base(tmp_path / "base", "qwen3", template_of("qwen3"), marks)
    words = parser_arguments(base, read_model_tokens(base))
    assert ("--reasoning-parser" in words) == (len(marks) == 2)


def test_falls_back_to_hermes_with_our_template(tmp_path: Path) -> None:
    # The tokenizer lacks the token that vLLM's parser for Llama 3 needs.
    template = template_of("llama3_2")
    base = write_base(tmp_path / "base", "llama", template, [])
    words = parser_arguments(base, read_model_tokens(base))
    assert words[-3:] == ["hermes", "--chat-template", add_tools(template)]


TOOL = {
    "type": "function",
    "function": {
        "name": "price",
        "description": "The price of bread.",
        "parameters": {
            "type": "object",
            "properties": {"bread": {"type": "string"}, "loaves": {"type": "integer"}},
            "required": ["bread"],
        },
    },
}
CALL = {"name": "price", "arguments": {"bread": "rye", "loaves": 2}}


def answer_of(template: str, message: dict[str, Any]) -> str:
    """Returns what a model writes for this message, rendered by its template."""
    from transformers.utils.chat_template_utils import render_jinja_template

    question = {"role": "user", "content": "What is the price of rye?"}

    def render(messages: list[dict[str, Any]], *, begin: bool) -> str:
        (texts, _) = render_jinja_template(
            conversations=[messages],
            tools=[TOOL],
            chat_template=template,
            add_generation_prompt=begin,
            bos_token="<s>",
            eos_token="</s>",
        )
        return texts[0]

    asked = render([question], begin=True)
    whole = render([question, message], begin=False)
    # A template may open the thought in the prompt.
    while not whole.startswith(asked):
        asked = asked[: asked.rstrip().rfind("<")]
    return whole[len(asked) :]


@needs_vllm
@pytest.mark.soak
def test_vllm_parses_the_calls_that_templates_write() -> None:
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "call_1", "type": "function", "function": CALL}],
    }
    rows = [row for row in TEMPLATES if row[2] not in (None, "openai")]
    cases = [
        {
            "tools": [TOOL],
            "tool_parser": tools,
            "reasoning_parser": thoughts,
            "tokens": tokens_of(tools, thoughts),
            "answer": answer_of(template_of(name), message),
        }
        for name, _, tools, thoughts in rows
    ]
    for row, case, found in zip(
        rows, cases, ask_vllm("arguments.py", {"answers": cases})["answers"], strict=True
    ):
        assert found["calls"] == [CALL], (row, case["answer"], found)
