from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tokenizers import Tokenizer, models

from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.serve.reasoning import reasoning_arguments, reasoning_parser
from templates import template_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("template", "model_type", "parser"),
    [
        ("qwen3", "qwen3", "qwen3"),
        ("qwen3", "qwen3_moe", "qwen3"),
        ("qwen3_5_think", "qwen3_5", "qwen3"),
        # It thinks only on request, so its answer would be treated as a thought.
        ("qwen3_5_nothink", "qwen3_5", None),
        ("qwen3_instruct_2507", "qwen3", None),
        ("qwen2_5", "qwen2", None),
        ("llama3", "llama", None),
        ("deepseek_r1_distill", "qwen2", "deepseek_r1"),
        ("deepseekv3", "deepseek_v3", "deepseek_r1"),
        # It thinks like Qwen3, but has a parser of its own.
        ("glm4moe", "glm4_moe", None),
    ],
)
def test_selects_a_parser_only_if_it_is_certain(
    template: str, model_type: str, parser: str | None
) -> None:
    assert reasoning_parser(model_type, template_of(template)) == parser


@pytest.mark.parametrize("line_end", ["\n", "\\n"])
def test_detects_always_thinking_models_by_template(line_end: str) -> None:
    template = "{{- '<|im_start|>assistant\n<think>\n' }}".replace("\n", line_end)
    assert reasoning_parser("qwen2", template) == "deepseek_r1"


@pytest.mark.parametrize("marks", [["<think>", "</think>"], ["<think>"], []])
def test_passes_a_parser_only_if_the_tokenizer_has_the_marks(
    tmp_path: Path, marks: list[str]
) -> None:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.add_tokens(marks)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen3"}))
    (tmp_path / "chat_template.jinja").write_text(template_of("qwen3"))
    told = reasoning_arguments(tmp_path, read_model_tokens(tmp_path))
    assert told == (["--reasoning-parser", "qwen3"] if len(marks) == 2 else [])
