from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.serve.tool_calls import tool_parser
from bakehouse_server import AUTHORIZED_CLIENT
from serving import Serving, serve_spec
from templates import template_of
from tiny_model import write_tiny_gguf

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 99}},
            "required": ["a"],
            "additionalProperties": False,
        },
    },
}


@pytest.mark.parametrize(
    ("template", "model_type", "parser"),
    [
        ("qwen2_5", "qwen2", "hermes"),
        ("qwen3", "qwen3", "hermes"),
        ("qwen3_5_think", "qwen3_5", "qwen3_coder"),
        ("llama3_2", "llama", "llama3_json"),
        # The same text for another model type.
        ("llama3_2", "granite", None),
        # Its calls use the same marks with another format.
        ("glm4moe", "glm4_moe", None),
        ("llama3", "llama", None),
        ("gemma4", "gemma4", None),
    ],
)
def test_selects_the_parser_of_the_templates_call_format(
    template: str, model_type: str, parser: str | None
) -> None:
    assert tool_parser(model_type, template_of(template)) == parser


def test_llama_cpp_supports_tools_for_a_template_without_them(
    server: BakehouseServer, tmp_path: Path, tiny_model: Path
) -> None:
    gguf = write_tiny_gguf(tiny_model, tmp_path / "tiny.gguf")
    inputs = [{"name": "base_model", "files": [server.add_input(gguf, "tiny.gguf")]}]
    spec = serve_spec(server, tmp_path, inputs) | {"adapters": [], "context_tokens": 256}
    running = Serving(server, tmp_path, spec)
    try:
        request: dict[str, Any] = {"messages": [{"role": "user", "content": "?"}], "tools": [ADD]}
        prompt = AUTHORIZED_CLIENT.post(
            f"{running.url}/apply-template", json=request, timeout=60
        ).json()
        assert json.dumps(ADD["function"]["name"]) in prompt["prompt"]
        capabilities = AUTHORIZED_CLIENT.get(f"{running.url}/props").json()["chat_template_caps"]
        assert capabilities["supports_tools"]
        assert capabilities["supports_tool_calls"]
    finally:
        running.process.kill()
        running.process.wait()
