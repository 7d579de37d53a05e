"""How vLLM tells the calls of a model from its words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..data.templates.tool_template import add_tools, says_tools
from ..files import read_optional_object

if TYPE_CHECKING:
    from pathlib import Path

    from ..data.tokens import ModelTokens

# vLLM's parsers, with the types of model that each is for (all where none is named) and what the
# template of such a model asks for, or writes of earlier calls itself. The first that fits counts.
_PARSERS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    ("qwen3_coder", (), re.compile(r"<tool_call>.*<function=.*<parameter=", re.DOTALL)),
    ("hermes", (), re.compile(r"<tool_call>.*\\?\"arguments\\?\"", re.DOTALL)),
    ("llama3_json", ("llama", "mllama"), re.compile(r"Environment: ipython")),
    ("mistral", ("mistral", "mixtral"), re.compile(r"\[TOOL_CALLS\]")),
)


def tool_parser(model_type: str, template: str) -> str | None:
    """Which of vLLM's parsers reads the calls of a model with this chat template; None where that
    is not certain."""
    if not says_tools(template):
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
    """What vLLM's command line says of the chat template and of calls. Where the model's template
    asks for calls in no form that is known, ours does."""
    template = tokens.template_source
    model_type = str(read_optional_object(base / "config.json").get("model_type"))
    parser = tool_parser(model_type, template)
    words = ["--enable-auto-tool-choice", "--tool-call-parser", parser or "hermes"]
    return words if parser else [*words, "--chat-template", add_tools(template)]
