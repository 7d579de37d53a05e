"""Selects vLLM's parser that separates tool calls from text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..data.templates.tool_template import add_tools, renders_tools
from ..files import read_optional_object

if TYPE_CHECKING:
    from pathlib import Path

    from ..data.tokens import ModelTokens

# vLLM's parsers, with their model types (all if empty) and the call format that a template
# describes or writes. The first match applies.
_PARSERS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    ("qwen3_coder", (), re.compile(r"<tool_call>.*<function=.*<parameter=", re.DOTALL)),
    ("hermes", (), re.compile(r"<tool_call>.*\\?\"arguments\\?\"", re.DOTALL)),
    ("llama3_json", ("llama", "mllama"), re.compile(r"Environment: ipython")),
    ("mistral", ("mistral", "mixtral"), re.compile(r"\[TOOL_CALLS\]")),
)


def tool_parser(model_type: str, template: str) -> str | None:
    """Returns vLLM's tool parser for a model with this chat template, or None if it is
    uncertain."""
    if not renders_tools(template):
        return None
    return next(
        (
            parser
            for parser, model_types, words in _PARSERS
            if (not model_types or model_type in model_types) and words.search(template)
        ),
        None,
    )


def tool_arguments(base: Path, tokens: ModelTokens) -> list[str]:
    """Returns vLLM's arguments for the chat template and tool calls. If the model's template has no
    known call format, ours is used."""
    template = tokens.template_source
    model_type = str(read_optional_object(base / "config.json").get("model_type"))
    parser = tool_parser(model_type, template)
    words = ["--enable-auto-tool-choice", "--tool-call-parser", parser or "hermes"]
    return words if parser else [*words, "--chat-template", add_tools(template)]
