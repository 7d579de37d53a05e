"""How vLLM tells what a model thinks from what it answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..files import read_optional_object

if TYPE_CHECKING:
    from pathlib import Path

    from ..data.tokens import ModelTokens

_MARKS = ("<think>", "</think>")
# A template that opens every answer with a thought: DeepSeek R1 and what was distilled from it,
# QwQ, and Qwen3 Thinking. DeepSeek's bars are wide ones; the line's end may be escaped.
_THINKS_ALWAYS = re.compile(
    r"(<\uff5cAssistant\uff5c>|<\|im_start\|>assistant(\n|\\n))<think>(\n|\\n)"
)


def reasoning_parser(model_type: str, template: str) -> str | None:
    """Which of vLLM's parsers takes the thoughts out of the answers of a model with this chat
    template; None where that is not certain: a wrong one takes the answer for a thought."""
    if _THINKS_ALWAYS.search(template):
        return "deepseek_r1"
    # It thinks unless a request says not to, where others think only if one says so.
    thinks_by_default = "<think>" in template and "enable_thinking is false" in template
    return "qwen3" if model_type.startswith("qwen3") and thinks_by_default else None


def reasoning_arguments(base: Path, tokens: ModelTokens) -> list[str]:
    """What vLLM's command line says of it. Its parsers answer nothing at all where the tokenizer
    does not have the marks."""
    if any(tokens.tokenizer.token_to_id(mark) is None for mark in _MARKS):
        return []
    model_type = read_optional_object(base / "config.json").get("model_type")
    parser = reasoning_parser(str(model_type), tokens.template_source)
    return [] if parser is None else ["--reasoning-parser", parser]
