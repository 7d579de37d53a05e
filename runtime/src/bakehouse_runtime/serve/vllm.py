"""vLLM's OpenAI server as a child process, for NVIDIA GPUs."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.tokens import read_model_tokens
from ..errors import PlainError
from ..files import read_object
from .engine import CLOSE_CHILD_S, answers, gauge_sum, read_metrics
from .reasoning import reasoning_arguments
from .tool_calls import tool_arguments
from .vllm_guard import KeyGuard

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..protocol import ServeEmbeddingSpec, ServeTextSpec

# The sizes for which vLLM compiles its LoRA kernels (vllm/config/lora.py).
_LORA_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
# The most adapters in one batch.
_LORAS_IN_BATCH_MAX = 4
# The same share as in placement (choose-placement.ts).
_GPU_MEMORY_PART = 0.9
# The fields in which vLLM looks for a model's context length.
_CONTEXT_NAMES = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "max_sequence_length",
)


class Vllm:
    """Supervises one `vllm` server."""

    def __init__(
        self, spec: ServeTextSpec | ServeEmbeddingSpec, words: Callable[[int], list[str]]
    ) -> None:
        """Starts the command that `words` returns for a port; it loads until `/health` answers."""
        port = spec.port or _free_port(spec.host)
        self.base_url = f"http://{spec.host}:{port}"
        self._tokens = 0
        self._api_key = spec.api_key
        self._process = subprocess.Popen(
            words(port),
            stdin=subprocess.DEVNULL,
            env=environment(spec.api_key),
        )

    def ended(self) -> str | None:
        status = self._process.poll()
        return None if status is None else f"vLLM ended with status {status}; its log says why."

    def in_flight(self) -> int | None:
        return gauge_sum(
            lambda: read_metrics(self.base_url, self._api_key),
            ("vllm:num_requests_running", "vllm:num_requests_waiting"),
        )

    def advances(self) -> bool:
        """Returns whether tokens were processed since the last call, or no request is running. The
        HTTP process alone would answer even if the engine hangs."""
        tokens = gauge_sum(
            lambda: read_metrics(self.base_url, self._api_key),
            ("vllm:prompt_tokens_total", "vllm:generation_tokens_total"),
        )
        if tokens is None:
            return False
        before, self._tokens = self._tokens, tokens
        return tokens != before or (self.in_flight() == 0 and answers(self))

    def close(self) -> None:
        """Terminates the child, and kills it if it does not exit."""
        self._process.terminate()
        try:
            self._process.wait(CLOSE_CHILD_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def environment(api_key: str) -> dict[str, str]:
    """Returns the environment of the server."""
    programs = str(Path(sys.executable).parent)
    return {
        **os.environ,
        # Not passed as an argument, because every user of the machine can read those.
        "VLLM_API_KEY": api_key,
        "VLLM_NO_USAGE_STATS": "1",
        # FlashInfer's sampler is compiled at start with nvcc, which a host with only a driver
        # lacks.
        "VLLM_USE_FLASHINFER_SAMPLER": "0",
        # vLLM's compilers use programs of its own environment, such as ninja.
        "PATH": os.pathsep.join(filter(None, (programs, os.environ.get("PATH")))),
    }


def command(spec: ServeTextSpec, inputs: dict[str, Path], port: int) -> list[str]:
    """Returns the command line of the server. It calls the module, not the `vllm` script, so that
    vLLM uses the same interpreter as this program."""
    base = _folder(inputs, "base_model")
    words = _shared_words(spec, base, port)
    tokens = read_model_tokens(base)
    words += tool_arguments(base, tokens)
    words += reasoning_arguments(base, tokens)
    words += _split_arguments(spec)
    return words + _lora_arguments(spec, inputs) if spec.adapters else words


def embedding_command(spec: ServeEmbeddingSpec, inputs: dict[str, Path], port: int) -> list[str]:
    """Returns the command line for an embedding model; vLLM reads pooling and norm from its
    modules.json."""
    words = _shared_words(spec, _folder(inputs, "base_model"), port)
    return [*words, "--runner", "pooling", *_split_arguments(spec)]


def _shared_words(spec: ServeTextSpec | ServeEmbeddingSpec, base: Path, port: int) -> list[str]:
    context = min(spec.context_tokens, context_tokens(base) or spec.context_tokens)
    arguments = {
        "--served-model-name": spec.model_name,
        "--host": spec.host,
        "--port": str(port),
        "--max-model-len": str(context),
        "--max-num-seqs": str(spec.parallel_requests),
        "--gpu-memory-utilization": str(_GPU_MEMORY_PART),
        # Text only: nothing is fetched from an address in a request.
        "--limit-mm-per-prompt": '{"image": 0, "video": 0, "audio": 0}',
        "--allowed-media-domains": "none.invalid",
        "--middleware": f"{KeyGuard.__module__}.{KeyGuard.__name__}",
    }
    words = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve"]
    words += [str(base)]
    words += [word for pair in arguments.items() for word in pair]
    words.append("--disable-fastapi-docs")
    return words


def _split_arguments(spec: ServeTextSpec | ServeEmbeddingSpec) -> list[str]:
    return ["--tensor-parallel-size", str(spec.gpus)] if spec.gpus > 1 else []


def context_tokens(base: Path) -> int | None:
    """Returns the context length in a base's configuration, or None. vLLM rejects a larger one."""
    if not (base / "config.json").is_file():
        return None
    config = read_object(base / "config.json")
    nested = config.get("text_config")
    config = nested if isinstance(nested, dict) else config
    known = [config.get(name) for name in _CONTEXT_NAMES]
    return min((value for value in known if isinstance(value, int) and value > 0), default=None)


def _lora_arguments(spec: ServeTextSpec, inputs: dict[str, Path]) -> list[str]:
    modules = [
        json.dumps(
            {
                "name": adapter.name,
                "path": str(_folder(inputs, adapter.input)),
                "base_model_name": spec.model_name,
            }
        )
        for adapter in spec.adapters
    ]
    return [
        "--enable-lora",
        "--max-lora-rank",
        str(allowed_lora_rank(max(adapter.rank for adapter in spec.adapters))),
        # Each uses memory on the GPU; other adapters wait in host memory.
        "--max-loras",
        str(min(len(spec.adapters), _LORAS_IN_BATCH_MAX)),
        "--max-cpu-loras",
        str(len(spec.adapters)),
        "--lora-modules",
        *modules,
    ]


def _folder(inputs: dict[str, Path], name: str) -> Path:
    if name not in inputs:
        raise PlainError(f"The spec has no input {name}.")
    return inputs[name]


def allowed_lora_rank(rank: int) -> int:
    """Returns the smallest supported rank of vLLM's kernels that is at least `rank`."""
    for allowed in _LORA_RANKS:
        if allowed >= rank:
            return allowed
    raise PlainError(f"vLLM serves adapters up to rank {_LORA_RANKS[-1]}, not {rank}.")


def _free_port(host: str) -> int:
    with socket.create_server((host, 0)) as probe:
        return int(probe.getsockname()[1])
