from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.protocol import ServeTextSpec
from bakehouse_runtime.serve.llamacpp import server_params
from tiny_model import write_tiny_gguf

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tiny_gguf(tiny_model: Path, tmp_path: Path) -> Path:
    return write_tiny_gguf(tiny_model, tmp_path / "tiny.gguf")


def params(gguf: Path, context_tokens: int = 4096) -> Any:
    spec = ServeTextSpec.model_validate(
        {
            "protocol": 1,
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
            "model_file": gguf.name,
            "adapters": [],
            "host": "127.0.0.1",
            "port": 0,
            "context_tokens": context_tokens,
            "parallel_requests": 4,
            "threads": 1,
        }
    )
    return server_params(spec, {"base_model": gguf.parent})


@pytest.mark.parametrize(("asked", "served"), [(4096, 256), (64, 64)])
def test_limits_the_context_to_the_models(tiny_gguf: Path, asked: int, served: int) -> None:
    assert params(tiny_gguf, asked).n_ctx == 4 * served


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (None, [1, 1, 0, 0, 1]),
        ({"eos_token_id": 2, "do_sample": True}, [1, 1, 0, 0, 1]),
        (
            {"temperature": 0.7, "top_p": 0.8, "top_k": 20, "repetition_penalty": 1.05},
            [0.7, 0.8, 20, 0, 1.05],
        ),
        ({"temperature": -1, "top_p": 7, "top_k": "40", "min_p": float("nan")}, [1, 1, 0, 0, 1]),
    ],
)
def test_sampling_defaults_to_the_model_and_then_to_openai(
    tiny_gguf: Path, said: dict[str, Any] | None, expected: list[float]
) -> None:
    if said is not None:
        (tiny_gguf.parent / "generation_config.json").write_text(json.dumps(said))
    sampling = params(tiny_gguf).sampling
    found = [
        sampling.temp,
        sampling.top_p,
        sampling.top_k,
        sampling.min_p,
        sampling.penalty_repeat,
    ]
    assert found == pytest.approx(expected)
