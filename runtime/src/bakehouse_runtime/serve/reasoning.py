"""Selects vLLM's parser that separates thoughts from answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..files import read_optional_object

if TYPE_CHECKING:
    from pathlib import Path

    from ..data.tokens import ModelTokens

_MARKS = ("<think>", "</think>")
# A template that opens every answer with a thought: DeepSeek R1 and its distillations, QwQ, and
# Qwen3 Thinking. DeepSeek uses full-width bars; the newline may be escaped.
_THINKS_ALWAYS = re.compile(
    r"(<\uff5cAssistant\uff5c>|<\|im_start\|>assistant(\n|\\n))<think>(\n|\\n)"
)


def reasoning_parser(model_type: str, template: str) -> str | None:
    """Returns vLLM's reasoning parser for a model with this chat template, or None if it is
    uncertain: a wrong parser treats the answer as a thought."""
    if _THINKS_ALWAYS.search(template):
        return "deepseek_r1"
    # Thinks unless a request disables it; other models only think if a request enables it.
    thinks_by_default = "<think>" in template and "enable_thinking is false" in template
    return "qwen3" if model_type.startswith("qwen3") and thinks_by_default else None


def reasoning_arguments(base: Path, tokens: ModelTokens) -> list[str]:
    """Returns vLLM's reasoning arguments. Its parsers return no answer at all if the tokenizer
    lacks the marks."""
    if any(tokens.tokenizer.token_to_id(mark) is None for mark in _MARKS):
        return []
    model_type = read_optional_object(base / "config.json").get("model_type")
    parser = reasoning_parser(str(model_type), tokens.template_source)
    return [] if parser is None else ["--reasoning-parser", parser]
