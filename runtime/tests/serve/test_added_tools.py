from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bakehouse_server import AUTHORIZED_CLIENT
from serving import Serving, serve_spec
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
