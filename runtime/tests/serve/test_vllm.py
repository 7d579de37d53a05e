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
from bakehouse_runtime.protocol import ServeEmbeddingSpec, ServeTextSpec
from bakehouse_runtime.serve.engine import gauge_sum
from bakehouse_runtime.serve.vllm import (
    Vllm,
    allowed_lora_rank,
    command,
    embedding_command,
    environment,
    is_change,
)
from with_vllm.cpu import ask_vllm, needs_vllm
from with_vllm.families import FAMILIES, tokens_of, write_base

VLLM_PROGRAM = "vllm.entrypoints.cli.main"
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


def embedding_spec() -> ServeEmbeddingSpec:
    fields = spec().model_dump(exclude={"adapters", "lora_rank", "projector_file", "pictures_max"})
    return ServeEmbeddingSpec.model_validate(fields | {"task": "embedding"})


@pytest.mark.parametrize("most", [0, 16])
def test_limits_the_pictures_of_a_request(inputs: dict[str, Path], most: int) -> None:
    words = command(spec().model_copy(update={"pictures_max": most}), inputs, 8000)
    limits = json.loads(words[words.index("--limit-mm-per-prompt") + 1])
    assert limits == {"image": most, "video": 0, "audio": 0}


# In the gate, the tests of the words of `command` cover it.
@needs_vllm
@pytest.mark.soak
def test_vllm_understands_the_arguments(inputs: dict[str, Path], tmp_path: Path) -> None:
    adapter = {"name": "mine", "input": "a1", "file": "", "rank": 24}
    specs = [
        spec(),
        spec().model_copy(update={"gpus": 4}),
        spec(adapter, adapter | {"name": "other", "rank": 9}),
    ]
    lines = [command(one, inputs, 8000) for one in specs]
    lines.append(embedding_command(embedding_spec(), inputs, 8000))
    assert all(line[:4] == [sys.executable, "-m", VLLM_PROGRAM, "serve"] for line in lines)
    commands = [{"words": line[4:], "tokens": []} for line in lines]
    for number, (model_type, template, tools, thoughts) in enumerate(FAMILIES):
        tokens = tokens_of(tools, thoughts)
        base = write_base(tmp_path / str(number), model_type, template, tokens)
        words = command(spec(), {"base_model": base}, 8000)[4:]
        commands.append({"words": words, "tokens": tokens})
    found_all = ask_vllm("arguments.py", {"commands": commands})["commands"]
    for (_, _, tools, thoughts), found in zip(FAMILIES, found_all[4:], strict=True):
        assert found["tool_call_parser"] == (tools or "hermes")
        assert found["reasoning_parser"] == (thoughts or "")
        assert (found["parser"] == "HarmonyParser") == (tools == "openai")
    plain, split, tuned, embedding = found_all[:4]
    for found in (plain, split, tuned, embedding):
        assert found["model_tag"] == str(inputs["base_model"])
        assert (found["host"], found["port"], found["max_model_len"]) == ("0.0.0.0", 8000, 4096)
        assert found["gpu_memory_utilization"] == 0.9
        assert found["disable_fastapi_docs"]
        # vLLM's own defaults.
        assert found["max_num_seqs"] is None
        assert found["enable_prefix_caching"] is not False
        assert found["enable_chunked_prefill"] is not False
    assert (plain["tensor_parallel_size"], split["tensor_parallel_size"]) == (1, 4)
    assert (plain["tool_call_parser"], plain["enable_auto_tool_choice"]) == ("hermes", True)
    assert (plain["enable_lora"], tuned["enable_lora"]) == (None, True)
    assert (tuned["max_lora_rank"], tuned["max_loras"], tuned["max_cpu_loras"]) == (32, 4, 64)
    assert (plain["runner"], embedding["runner"]) == ("auto", "pooling")


def test_environment_disables_sampler_compilation_and_sets_the_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    variables = environment("key")
    assert variables["VLLM_USE_FLASHINFER_SAMPLER"] == "0"
    assert variables["PATH"] == f"{Path(sys.executable).parent}:/usr/bin"
    assert variables["VLLM_API_KEY"] == "key"


@pytest.mark.parametrize(("programs", "used"), [([], "0"), (["nvcc"], None)])
def test_uses_deep_gemm_only_with_a_cuda_toolkit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, programs: list[str], used: str | None
) -> None:
    for program in programs:
        (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    assert environment("key").get("VLLM_USE_DEEP_GEMM") == used


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


def test_passes_the_training_template_for_a_base_without_one(
    inputs: dict[str, Path],
) -> None:
    (inputs["base_model"] / "chat_template.jinja").unlink()
    words = command(spec(), inputs, 8000)
    template = words[words.index("--chat-template") + 1]
    assert template == add_tools(read_model_tokens(inputs["base_model"]).template_source)


def test_starts_without_adapters_if_the_model_does_not_support_them(
    inputs: dict[str, Path],
) -> None:
    def program(code: str) -> list[str]:
        return [sys.executable, "-c", code]

    vllm = Vllm(
        spec(),
        inputs,
        lambda _: program("raise SystemExit(1)"),
        lambda _: program("import time; time.sleep(60)"),
    )
    vllm._process.wait(30)
    assert vllm.ended() is None
    assert vllm.ended() is None
    vllm.close()
    assert "vLLM ended with status" in str(vllm.ended())


@pytest.mark.parametrize(
    ("base", "tuned", "again", "changed"),
    [
        ([-1.0, -2.0], [-1.0, -2.0], [-1.0, -2.0], False),
        ([-1.0, -2.0], [-1.0, -2.001], [-1.0, -2.0], True),
        # Rounding differs between two answers of the base as much as from the adapter's.
        ([-1.0, -2.0], [-1.01, -2.0], [-1.0, -2.01], False),
        ([-1.0, -2.0], [-1.0, -2.5], [-1.0, -2.01], True),
    ],
)
def test_an_adapter_without_effect_is_told_from_rounding(
    base: list[float], tuned: list[float], again: list[float], changed: bool
) -> None:
    assert is_change(base, tuned, again) == changed


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
