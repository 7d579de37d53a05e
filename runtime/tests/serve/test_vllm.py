from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from tokenizers import Tokenizer, models

from bakehouse_runtime.data.templates.tool_template import add_tools
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.protocol import ServeTextSpec
from bakehouse_runtime.serve.engine import gauge_sum
from bakehouse_runtime.serve.vllm import allowed_lora_rank, command, environment

TEMPLATE = '{{ tools }}<tool_call>{"arguments": {{ arguments }}}'


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    """A base with a chat template, and an adapter."""
    base = tmp_path / "base_model"
    base.mkdir()
    Tokenizer(models.BPE()).save(str(base / "tokenizer.json"))
    (base / "chat_template.jinja").write_text(TEMPLATE)
    return {"base_model": base, "a1": Path("/w/inputs/a1")}


def spec(*adapters: dict[str, Any]) -> ServeTextSpec:
    return ServeTextSpec.model_validate(
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
            "engine": "vllm",
            "model_name": "llama",
            "model_file": "",
            "adapters": list(adapters),
            "host": "0.0.0.0",
            "port": 0,
            "context_tokens": 4096,
            "parallel_requests": 16,
            "threads": 8,
        }
    )


def test_omits_lora_arguments_for_a_base_model(inputs: dict[str, Path]) -> None:
    assert command(spec(), inputs, 8000) == [
        sys.executable,
        *("-m", "vllm.entrypoints.cli.main", "serve", str(inputs["base_model"])),
        *("--served-model-name", "llama"),
        *("--host", "0.0.0.0", "--port", "8000"),
        *("--max-model-len", "4096", "--max-num-seqs", "16"),
        *("--gpu-memory-utilization", "0.9"),
        *("--limit-mm-per-prompt", '{"image": 0, "video": 0, "audio": 0}'),
        *("--allowed-media-domains", "none.invalid"),
        *("--middleware", "bakehouse_runtime.serve.vllm_guard.KeyGuard"),
        *("--disable-fastapi-docs", "--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
    ]


def test_environment_disables_sampler_compilation_and_sets_the_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    variables = environment("key")
    assert variables["VLLM_USE_FLASHINFER_SAMPLER"] == "0"
    assert variables["PATH"] == f"{Path(sys.executable).parent}:/usr/bin"
    assert variables["VLLM_API_KEY"] == "key"


def test_splits_a_model_over_several_gpus(inputs: dict[str, Path]) -> None:
    one, four = (spec().model_copy(update={"gpus": gpus}) for gpus in (1, 4))
    assert "--tensor-parallel-size" not in command(one, inputs, 8000)
    assert command(four, inputs, 8000)[-2:] == ["--tensor-parallel-size", "4"]


@pytest.mark.parametrize(
    ("config", "tokens"),
    [
        ({"max_position_embeddings": 2048}, "2048"),
        ({"max_position_embeddings": 131072}, "4096"),
        ({"text_config": {"max_position_embeddings": 1024}}, "1024"),
        ({"n_positions": 1024}, "1024"),
        ({"max_position_embeddings": None}, "4096"),
    ],
)
def test_limits_the_context_to_the_models(
    inputs: dict[str, Path], config: dict[str, Any], tokens: str
) -> None:
    (inputs["base_model"] / "config.json").write_text(json.dumps(config))
    words = command(spec(), inputs, 8000)
    assert words[words.index("--max-model-len") + 1] == tokens


def test_separates_thoughts_from_answers(inputs: dict[str, Path]) -> None:
    base = inputs["base_model"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.add_tokens(["<think>", "</think>"])
    tokenizer.save(str(base / "tokenizer.json"))
    (base / "chat_template.jinja").write_text("{{ '<\uff5cAssistant\uff5c><think>\\n' }}")
    words = command(spec(), inputs, 8000)
    assert words[words.index("--reasoning-parser") + 1] == "deepseek_r1"


def test_limits_the_adapters_per_batch(inputs: dict[str, Path]) -> None:
    adapters = [{"name": f"a{n}", "input": "a1", "file": "", "rank": 8} for n in range(9)]
    words = command(spec(*adapters), inputs, 8000)
    assert words[words.index("--max-loras") + 1] == "4"
    assert words[words.index("--max-cpu-loras") + 1] == "9"


def test_passes_the_training_template_for_a_base_without_one(
    inputs: dict[str, Path],
) -> None:
    (inputs["base_model"] / "chat_template.jinja").unlink()
    words = command(spec(), inputs, 8000)
    template = words[words.index("--chat-template") + 1]
    assert template == add_tools(read_model_tokens(inputs["base_model"]).template_source)


def test_names_adapters_and_rounds_up_the_rank(inputs: dict[str, Path]) -> None:
    adapter = {"name": "mine", "input": "a1", "file": "", "rank": 24}
    words = command(spec(adapter, adapter | {"name": "other", "rank": 9}), inputs, 8000)
    assert words[words.index("--enable-lora") :] == [
        "--enable-lora",
        *("--max-lora-rank", "32", "--max-loras", "2", "--max-cpu-loras", "2"),
        "--lora-modules",
        json.dumps({"name": "mine", "path": "/w/inputs/a1", "base_model_name": "llama"}),
        json.dumps({"name": "other", "path": "/w/inputs/a1", "base_model_name": "llama"}),
    ]


@pytest.mark.parametrize(
    ("rank", "allowed"), [(1, 1), (2, 8), (8, 8), (17, 32), (129, 256), (257, 320), (512, 512)]
)
def test_rounds_ranks_up_to_supported_ones(rank: int, allowed: int) -> None:
    assert allowed_lora_rank(rank) == allowed


def test_rejects_unsupported_specs(inputs: dict[str, Path]) -> None:
    with pytest.raises(PlainError, match="up to rank 512, not 513"):
        allowed_lora_rank(513)
    with pytest.raises(PlainError, match="no input base_model"):
        command(spec(), {}, 8000)
    with pytest.raises(PlainError, match="no input a2"):
        command(spec({"name": "x", "input": "a2", "file": "", "rank": 8}), inputs, 8000)


def test_reads_running_requests_from_the_metrics_page() -> None:
    page = (
        "# HELP vllm:num_requests_running Number of requests.\n"
        'vllm:num_requests_running{engine="0",model_name="llama"} 3.0\n'
        'vllm:num_requests_waiting{engine="0",model_name="llama"} 2.0\n'
        'vllm:num_requests_waiting_total{engine="0"} 90.0\n'
        "llamacpp:requests_processing 4\n"
    )
    names = ("vllm:num_requests_running", "vllm:num_requests_waiting")
    assert gauge_sum(lambda: page, names) == 5
    assert gauge_sum(lambda: page, ["llamacpp:requests_processing"]) == 4


def test_an_unreadable_metrics_page_does_not_mean_zero_requests() -> None:
    def unreachable() -> str:
        raise httpx.ReadTimeout("busy")

    assert gauge_sum(unreachable, ["llamacpp:requests_processing"]) is None
