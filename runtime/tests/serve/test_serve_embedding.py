from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest

from bakehouse_runtime.prepare_minilm import prepare_minilm
from bakehouse_runtime.protocol import ServeEmbeddingSpec
from bakehouse_runtime.serve.llamacpp import embedding_params
from bakehouse_runtime.serve.vllm import embedding_command
from bakehouse_server import AUTHORIZED_CLIENT, MODEL_KEY
from serving import Serving
from tiny_model import write_tiny_gguf

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bakehouse_server import BakehouseServer


def embedding_spec(engine: str = "encoder", **changed: Any) -> dict[str, Any]:
    return {
        "kind": "serve",
        "task": "embedding",
        "engine": engine,
        "model_name": "base",
        "model_file": "",
        "host": "127.0.0.1",
        "port": 0,
        "api_key": MODEL_KEY,
        "context_tokens": 4096,
        "parallel_requests": 4,
        "threads": 2,
        **changed,
    }


def parsed(**spec: Any) -> ServeEmbeddingSpec:
    head = {
        "protocol": 1,
        "workload_id": "w",
        "server": {"base_url": "http://server", "token": "t"},
        "work_dir": "/w",
        "inputs_dir": "/w/inputs",
        "inputs": [],
    }
    return ServeEmbeddingSpec.model_validate(head | embedding_spec(**spec))


@pytest.fixture
def url(server: BakehouseServer, tmp_path: Path) -> Iterator[str]:
    model = tmp_path / "minilm"
    prepare_minilm(model)
    spec = server.workload(tmp_path, [server.add_folder("base_model", model)]) | embedding_spec()
    running = Serving(server, tmp_path, spec)
    yield running.url
    running.process.kill()
    running.process.wait()


def test_answers_like_openai_and_names_errors(url: str) -> None:
    calls = f"{url}/v1/embeddings"
    body = {"model": "base", "input": ["Fresh bread", "New loaves"], "encoding_format": "base64"}
    answer = AUTHORIZED_CLIENT.post(calls, json=body).json()
    vectors = [np.frombuffer(base64.b64decode(row["embedding"]), "<f4") for row in answer["data"]]
    assert [row["index"] for row in answer["data"]] == [0, 1]
    assert [len(vector) for vector in vectors] == [384, 384]
    assert answer["usage"]["prompt_tokens"] == 9
    assert 0.3 < float(vectors[0] @ vectors[1]) < 1

    long = AUTHORIZED_CLIENT.post(calls, json={"input": ["short", "word " * 600]})
    assert long.status_code == 400
    expected = {"index": 1, "n_prompt_tokens": 602, "n_ctx": 256}
    assert long.json()["error"] | expected == long.json()["error"]
    for wrong in ({"input": []}, {"input": "text"}, {"input": [1.5]}, {}):
        assert AUTHORIZED_CLIENT.post(calls, json=wrong).status_code == 400
    assert httpx.post(calls, json=body).status_code == 401
    assert AUTHORIZED_CLIENT.post(f"{url}/v1/other", json=body).status_code == 404


def test_llama_cpp_uses_the_files_pooling_and_one_batch_per_text(
    tiny_model: Path, tmp_path: Path
) -> None:
    gguf = write_tiny_gguf(tiny_model, tmp_path / "tiny.gguf")
    params = embedding_params(
        parsed(engine="llamacpp", model_file=gguf.name), {"base_model": tmp_path}
    )
    assert params.embedding
    assert (params.n_batch, params.n_ubatch, params.n_ctx) == (256, 256, 4 * 256)


def test_starts_vllm_as_a_pooling_model(tmp_path: Path) -> None:
    words = embedding_command(parsed(engine="vllm", gpus=2), {"base_model": tmp_path}, 8000)
    assert words[-4:] == ["--runner", "pooling", "--tensor-parallel-size", "2"]
    assert "--enable-lora" not in words
