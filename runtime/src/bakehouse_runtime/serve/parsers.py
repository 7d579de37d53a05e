"""Selects vLLM's parsers for tool calls and for thoughts, by model family and chat template."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..data.templates.tool_template import add_tools, renders_tools
from ..files import read_optional_object

if TYPE_CHECKING:
    from pathlib import Path

    from ..data.tokens import ModelTokens

_JSON_CALLS = r"<tool_call>.*\\?\"arguments\\?\""
_XML_CALLS = r"<tool_call>.*<function=.*<parameter="
_NEVER = r"(?!)"
# Templates that open every answer with a thought: DeepSeek R1 and its distillations, QwQ, and Qwen3
# Thinking. DeepSeek uses full-width bars; the newline may be escaped.
_THINKS_ALWAYS = r"(<\uff5cAssistant\uff5c>|<\|im_start\|>assistant(\n|\\n))<think>(\n|\\n)"
# Templates that think unless a request disables it. Templates that think only on request must not
# match: their answers would be treated as thoughts.
_THINKS_BY_DEFAULT = r"enable_thinking is false.*<think>|<think>.*enable_thinking is false"


@dataclass(frozen=True)
class _Family:
    """A row of the table. A parser applies if `types` and its pattern match, and is None if the
    family has none."""

    # Beginnings of `model_type`; empty for all.
    types: tuple[str, ...]
    # The call format that the template describes or writes.
    calls: str
    tool_parser: str | None
    # The template's format of thoughts.
    thoughts: str = _NEVER
    reasoning_parser: str | None = None


# The first match applies, separately for calls and thoughts.
_FAMILIES = (
    # vLLM renders and parses gpt-oss itself, and does not start with other parsers.
    _Family(("gpt_oss",), r"", "openai", r"", "openai_gptoss"),
    _Family(("nemotron_h",), _XML_CALLS, "qwen3_coder", r"<think>", "nemotron_v3"),
    _Family((), _NEVER, None, _THINKS_ALWAYS, "deepseek_r1"),
    _Family(("kimi",), r"<\|tool_calls_section_begin\|>", "kimi_k2", r"<think>", "kimi_k2"),
    _Family(("deepseek",), "<\uff5ctool\u2581calls\u2581begin\uff5c>.*```json", "deepseek_v3"),
    _Family(
        ("deepseek",),
        "<\uff5ctool\u2581calls\u2581begin\uff5c>",
        "deepseek_v31",
        r"thinking.*</think>",
        "deepseek_v3",
    ),
    _Family(("minimax",), r"minimax:tool_call", "minimax_m2", r"<think>", "minimax_m2"),
    _Family(("glm",), r"<tool_call>.*<arg_key>", "glm47", r"<think>", "glm47"),
    _Family(("gemma4",), r"<\|tool_call>", "gemma4", r"<\|channel>", "gemma4"),
    _Family(("qwen3",), _XML_CALLS, "qwen3_coder", _THINKS_BY_DEFAULT, "qwen3"),
    _Family(("qwen",), _JSON_CALLS, "qwen3_json"),
    _Family(("mistral", "mixtral", "ministral"), r"\[TOOL_CALLS\]", "mistral"),
    _Family(("mistral", "ministral"), _NEVER, None, r"\[THINK\]", "mistral"),
    _Family(("llama4",), r"\[func_name1\(", "llama4_pythonic"),
    _Family(("llama", "mllama"), r"Environment: ipython", "llama3_json"),
    _Family(("granitemoehybrid",), _JSON_CALLS, "granite4"),
    _Family(("granite",), r"<\|tool_call\|>", "granite"),
    _Family(("granite",), _NEVER, None, r"Here is my thought process", "granite"),
    _Family(("phi",), r"functools\[", "phi4_mini_json"),
    _Family(("lfm2",), r"<\|tool_call_start\|>", "lfm2"),
    # Fine-tunes of other families that write these formats.
    _Family((), _XML_CALLS, "qwen3_coder"),
    _Family((), _JSON_CALLS, "hermes"),
)

# Tokens that a parser needs: without them vLLM does not start, or returns no answer.
_THINK_TOKENS = ("<think>", "</think>")
_DEEPSEEK_TOKENS = tuple(
    f"<\uff5ctool\u2581{part}\uff5c>"
    for part in ("calls\u2581begin", "calls\u2581end", "call\u2581begin", "call\u2581end")
)
PARSER_TOKENS = {
    "deepseek_v3": _DEEPSEEK_TOKENS,
    "deepseek_v31": _DEEPSEEK_TOKENS,
    "lfm2": ("<|tool_call_start|>", "<|tool_call_end|>"),
    "llama3_json": ("<|python_tag|>",),
    "mistral": ("[TOOL_CALLS]",),
}
REASONING_TOKENS = {
    "openai_gptoss": (),
    "gemma4": ("<|channel>", "<channel|>"),
    "granite": (),
    "mistral": ("[TOOL_CALLS]", "[THINK]", "[/THINK]"),
}


def tool_parser(model_type: str, template: str) -> str | None:
    """Returns vLLM's tool parser for a model with this chat template, or None if its call format is
    unknown."""
    return next(
        (
            row.tool_parser
            for row in _FAMILIES
            if _is_of(row, model_type)
            and re.search(row.calls, template, re.DOTALL)
            and (row.calls == "" or renders_tools(template))
        ),
        None,
    )


def reasoning_parser(model_type: str, template: str) -> str | None:
    """Returns vLLM's reasoning parser for a model with this chat template, or None if it is
    uncertain: a wrong parser treats the answer as a thought."""
    return next(
        (
            row.reasoning_parser
            for row in _FAMILIES
            if _is_of(row, model_type) and re.search(row.thoughts, template, re.DOTALL)
        ),
        None,
    )


def parser_arguments(base: Path, tokens: ModelTokens) -> list[str]:
    """Returns vLLM's arguments for tool calls, thoughts and the chat template. If the template has
    no known call format, ours is used, which `hermes` parses."""
    template = tokens.template_source
    model_type = str(read_optional_object(base / "config.json").get("model_type"))

    def has_all(names: tuple[str, ...]) -> bool:
        return all(tokens.tokenizer.token_to_id(name) is not None for name in names)

    words = ["--enable-auto-tool-choice", "--tool-call-parser"]
    tools = tool_parser(model_type, template)
    if tools is not None and has_all(PARSER_TOKENS.get(tools, ())):
        words.append(tools)
    else:
        words += ["hermes", "--chat-template", add_tools(template)]
    thoughts = reasoning_parser(model_type, template)
    if thoughts is not None and has_all(REASONING_TOKENS.get(thoughts, _THINK_TOKENS)):
        words += ["--reasoning-parser", thoughts]
    return words


def _is_of(row: _Family, model_type: str) -> bool:
    return not row.types or model_type.startswith(row.types)
