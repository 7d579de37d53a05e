from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from bakehouse_runtime.data.templates.chat_template import ChatTemplate
from bakehouse_runtime.data.templates.plain_template import plain_template
from bakehouse_runtime.export.modelfile import go_template, modelfile
from tiny_model import CHAT_TEMPLATE

if TYPE_CHECKING:
    from pathlib import Path

WITH_DEFAULT = (
    "{% if messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nBe kind<|im_end|>\n' }}"
    "{% endif %}" + CHAT_TEMPLATE
)
THINKING = CHAT_TEMPLATE.replace("assistant\n'", "assistant\n<think>\n'")
COUNTING = "{% for message in messages %}{{ loop.index ~ message['content'] }}{% endfor %}"


def converted(source: str, begin: str = "") -> str | None:
    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    template = ChatTemplate(source, tokens, date(2026, 11, 28))
    return go_template(template.prompt, begin, "<|im_end|>")


def test_converts_consecutive_turns_to_a_go_template() -> None:
    assert converted(CHAT_TEMPLATE) == (
        "{{ if not .System }}{{ end }}{{ range .Messages }}"
        '{{ if eq .Role "system" }}<|im_start|>system\n{{ .Content }}<|im_end|>\n'
        '{{ else if eq .Role "user" }}<|im_start|>user\n{{ .Content }}<|im_end|>\n'
        "<|im_start|>assistant\n"
        '{{ else if eq .Role "assistant" }}{{ .Content }}<|im_end|>\n{{ end }}{{ end }}'
    )


def test_uses_the_templates_own_system_prompt_as_default() -> None:
    template = converted(WITH_DEFAULT) or ""
    assert "{{ if not .System }}<|im_start|>system\nBe kind<|im_end|>\n" in template


def test_omits_the_begin_token_that_llama_cpp_adds() -> None:
    assert "<s>" not in (converted(plain_template(begins=True), "<s>") or "<s>")
    assert "<s>" in (converted(plain_template(begins=True)) or "")


@pytest.mark.parametrize("source", [THINKING, COUNTING, "{{ 1 / 0 }}", "{{ messages[0].content }}"])
def test_returns_none_for_complex_templates(source: str) -> None:
    assert converted(source) is None


def test_modelfile_has_the_sampling_of_the_base(tiny_model: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "generation_config.json").write_text('{"temperature": 0.2, "top_p": 0.9}')
    made = modelfile("Loaves.gguf", base, tiny_model)
    assert made.startswith('FROM ./Loaves.gguf\nTEMPLATE """')
    for line in ("temperature 0.2", "top_p 0.9", "repeat_penalty 1", 'stop "<|im_end|>"'):
        assert f"\nPARAMETER {line}\n" in made
