from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bakehouse_runtime.protocol import ServeTextSpec
from bakehouse_runtime.serve.gguf_metadata import context_length, has_chat_template
from bakehouse_runtime.serve.llamacpp import server_params
from tiny_model import write_tiny_gguf

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tiny_gguf(tiny_model: Path, tmp_path: Path) -> Path:
    return write_tiny_gguf(tiny_model, tmp_path / "tiny.gguf")


def test_the_metadata_are_read_without_the_weights(tiny_model: Path, tmp_path: Path) -> None:
    with_template = write_tiny_gguf(tiny_model, tmp_path / "with.gguf")
    without = write_tiny_gguf(tiny_model, tmp_path / "without.gguf", template=None)
    assert [has_chat_template(path) for path in (with_template, without)] == [True, False]
    assert context_length(without) == 256
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(without.read_bytes()[:40])
    assert context_length(broken) is None


@pytest.mark.parametrize(("asked", "served"), [(4096, 256), (64, 64)])
def test_no_more_context_is_served_than_the_model_has(
    tiny_gguf: Path, asked: int, served: int
) -> None:
    spec = ServeTextSpec.model_validate(
        {
            "workload_id": "w",
            "server": {"base_url": "http://server", "token": "t"},
            "work_dir": "/w",
            "inputs_dir": "/w/inputs",
            "inputs": [],
            "api_key": "key",
            "kind": "serve",
            "task": "text",
            "engine": "llamacpp",
            "model_name": "tiny",
            "model_file": tiny_gguf.name,
            "adapters": [],
            "host": "127.0.0.1",
            "port": 0,
            "context_tokens": asked,
            "parallel_requests": 4,
            "threads": 1,
        }
    )
    assert server_params(spec, {"base_model": tiny_gguf.parent}).n_ctx == 4 * served
