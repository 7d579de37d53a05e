"""Runs a model server in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bakehouse_runtime.protocol import ServeEmbeddingSpec, ServeImageSpec, ServeTextSpec
from bakehouse_server import AUTHORIZED_CLIENT, MODEL_KEY, BakehouseServer

SOURCE = str(Path(__file__).parent.parent / "src")
RUNTIME = [sys.executable, "-m", "bakehouse_runtime"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": SOURCE}


class Serving:
    """Runs `serve SPEC.json` in a process of its own, after `pull`."""

    def __init__(
        self,
        server: BakehouseServer,
        tmp_path: Path,
        specification: dict[str, Any],
        program: list[str] = RUNTIME,
    ) -> None:
        path, cache = tmp_path / "serve.json", str(tmp_path / "cache")
        kinds = {"text": ServeTextSpec, "embedding": ServeEmbeddingSpec, "image": ServeImageSpec}
        kind = kinds[specification["task"]]
        path.write_text(kind.model_validate(specification).model_dump_json())
        self.server = server
        self.process = subprocess.Popen(
            [*RUNTIME, "pull", "--cache", cache, str(path), *program, "serve", str(path)],
            env=ENVIRONMENT,
            stderr=(tmp_path / "log").open("w"),
        )

    @property
    def url(self) -> str:
        return str(self.server.wait_for("ready")["base_url"])


def serve_spec(
    server: BakehouseServer, tmp_path: Path, inputs: list[dict[str, Any]]
) -> dict[str, Any]:
    return server.workload(tmp_path, inputs) | {
        "kind": "serve",
        "task": "text",
        "engine": "llamacpp",
        "model_name": "tiny",
        "model_file": "tiny.gguf",
        "adapters": [{"name": "numbers", "input": "a1", "file": "adapter.gguf", "rank": 8}],
        "host": "127.0.0.1",
        "port": 0,
        "api_key": MODEL_KEY,
        "context_tokens": 128,
        "parallel_requests": 2,
        "threads": 1,
    }


def require_served_as_trained(server: BakehouseServer, folder: Path, gguf: Path) -> None:
    """Asserts that llama.cpp answers the held-out rows like the trained model of the run that wrote
    `gguf`, and that the trained model answers differently than its base."""
    (answers,) = server.of_type("held_out_answers")
    assert all(row["base"] != row["tuned"] for row in answers["rows"])
    server.reports.clear()
    folder.mkdir()
    inputs = [{"name": "base_model", "files": [server.add_input(gguf, "tiny.gguf")]}]
    serving = Serving(server, folder, serve_spec(server, folder, inputs) | {"adapters": []})
    for row in answers["rows"]:
        messages = [{"role": "user", "content": row["question"]}]
        response = AUTHORIZED_CLIENT.post(
            f"{serving.url}/v1/chat/completions",
            json={"messages": messages, "temperature": 0, "max_tokens": 64},
            timeout=300,
        )
        served = str(response.json()["choices"][0]["message"]["content"]).strip()
        assert served == row["tuned"].rstrip("…")
    serving.process.terminate()
    assert serving.process.wait(60) == 0


def serve_image_spec(
    server: BakehouseServer, tmp_path: Path, model: Path, parallel_requests: int = 4
) -> dict[str, Any]:
    return server.workload(tmp_path, [server.add_folder("model", model)]) | {
        "kind": "serve",
        "task": "image",
        "engine": "paris",
        "host": "127.0.0.1",
        "port": 0,
        "api_key": MODEL_KEY,
        "parallel_requests": parallel_requests,
        "threads": 1,
    }
