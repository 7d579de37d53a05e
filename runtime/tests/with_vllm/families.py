"""Chat templates of model families, and the parsers that vLLM has for them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tokenizers import Tokenizer, models

from bakehouse_runtime.serve.parsers import PARSER_TOKENS, REASONING_TOKENS
from templates import template_of

if TYPE_CHECKING:
    from pathlib import Path

# Real templates that TRL ships: their model type, and vLLM's parsers for calls and thoughts.
TEMPLATES: list[tuple[str, str, str | None, str | None]] = [
    ("gptoss", "gpt_oss", "openai", "openai_gptoss"),
    ("qwen2_5", "qwen2", "qwen3_json", None),
    ("qwen3", "qwen3", "qwen3_json", "qwen3"),
    ("qwen3", "qwen3_moe", "qwen3_json", "qwen3"),
    ("qwen3_instruct_2507", "qwen3", "qwen3_json", None),
    ("qwen3_5_think", "qwen3_5", "qwen3_coder", "qwen3"),
    # It thinks only on request, so its answer would be treated as a thought.
    ("qwen3_5_nothink", "qwen3_5", "qwen3_coder", None),
    ("qwen3_6", "qwen3_5", "qwen3_coder", "qwen3"),
    ("qwen3_8", "qwen3_5", "qwen3_coder", "qwen3"),
    ("llama3", "llama", None, None),
    ("llama3_1", "llama", "llama3_json", None),
    ("llama3_2", "llama", "llama3_json", None),
    ("gemma3", "gemma3", None, None),
    ("gemma4", "gemma4", "gemma4", "gemma4"),
    ("gemma4_v5", "gemma4_text", "gemma4", "gemma4"),
    ("glm4moe", "glm4_moe", "glm47", "glm47"),
    ("deepseek_r1_distill", "qwen2", None, "deepseek_r1"),
    # Its template renders calls, but does not list the available tools.
    ("deepseekv3", "deepseek_v3", None, "deepseek_r1"),
    ("nemotron_3_nano", "nemotron_h", "qwen3_coder", "nemotron_v3"),
    ("nemotron_3_5_lightning", "nemotron_h", "qwen3_coder", "nemotron_v3"),
    ("lfm2_v2", "lfm2", "lfm2", None),
    ("phi3_5", "phi3", None, None),
    # Fine-tunes may have the template of another family.
    ("qwen2_5", "llama", "hermes", None),
    ("llama3_2", "granite", None, None),
]

# Call and thought formats in the templates of other families.
WRITTEN = [
    (
        "deepseek_v3",
        "{{ tools }} <\uff5ctool\u2581calls\u2581begin\uff5c> ```json",
        "deepseek_v3",
        None,
    ),
    ("mistral", "[TOOL_CALLS] {{ tools }}", "mistral", None),
    ("mistral3", "[TOOL_CALLS] [THINK] {{ tools }}", "mistral", "mistral"),
    ("llama4", "{{ tools }} [func_name1(params_name1=value)]", "llama4_pythonic", None),
    ("kimi_k2", "{{ tools }} <|tool_calls_section_begin|>", "kimi_k2", None),
    ("kimi_k2", "{{ tools }} <|tool_calls_section_begin|> <think>", "kimi_k2", "kimi_k2"),
    ("minimax_m2", "{{ tools }} <minimax:tool_call> <think>", "minimax_m2", "minimax_m2"),
    ("granitemoehybrid", '{{ tools }} <tool_call>{"arguments"', "granite4", None),
    ("granite", "{{ tools }} <|tool_call|>", "granite", None),
    ("granite", "Here is my thought process", None, "granite"),
    ("phi3", "{{ tools }} functools[", "phi4_mini_json", None),
    (
        "deepseek_v3",
        "{{ tools }} <\uff5ctool\u2581calls\u2581begin\uff5c> thinking </think>",
        "deepseek_v31",
        "deepseek_v3",
    ),
]

# Model type, template and parsers of all of them.
FAMILIES = [(kind, template_of(name), *rest) for name, kind, *rest in TEMPLATES] + WRITTEN


def write_base(folder: Path, model_type: str, template: str, tokens: list[str]) -> Path:
    """Writes the files of a model that select its parsers."""
    folder.mkdir()
    tokenizer = Tokenizer(models.BPE())
    tokenizer.add_tokens(tokens)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    (folder / "chat_template.jinja").write_text(template)
    return folder


def tokens_of(tools: str | None, thoughts: str | None) -> list[str]:
    """Returns the tokens that the parsers need."""
    own = {*PARSER_TOKENS.get(tools or "", ())}
    return sorted(own | {*REASONING_TOKENS.get(thoughts or "", ("<think>", "</think>"))})
