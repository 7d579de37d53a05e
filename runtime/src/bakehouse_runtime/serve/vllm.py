"""vLLM's OpenAI server as a child process, for NVIDIA GPUs."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from ..data.tokens import read_model_tokens
from ..errors import MachineError, PlainError
from ..files import read_object
from .engine import CLOSE_CHILD_S, answers, gauge_sum, read_metrics
from .parsers import parser_arguments
from .peft_names import checkpoint_modules, is_zero, rename_modules
from .vllm_guard import KeyGuard

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..protocol import ServeEmbeddingSpec, ServeTextSpec

# The sizes for which vLLM compiles its LoRA kernels (vllm/config/lora.py).
_LORA_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
# The most adapters in one batch: each uses memory on the GPU (lora-slots.ts).
_LORAS_IN_BATCH_MAX = 4
# Adapters in host memory; vLLM reads others from disk again.
_LORAS_IN_MEMORY_MAX = 64
_LOAD_TIMEOUT_S = 120.0
# Any text: an adapter changes the probabilities of its tokens.
_PROBE = "The baker sells 12 loaves of rye bread, and the price of each is"
# Smaller differences of log-probabilities do not come from an adapter.
_ROUNDING = 1e-6
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
        self,
        spec: ServeTextSpec | ServeEmbeddingSpec,
        inputs: dict[str, Path],
        words: Callable[[int], list[str]],
        fallback: Callable[[int], list[str]] | None = None,
    ) -> None:
        """Starts the command that `words` returns for a port; it loads until `/health` answers. If
        it ends before, `fallback` is started."""
        port = spec.port or _free_port(spec.host)
        self._fallback = fallback and fallback(port)
        self._base = _folder(inputs, "base_model")
        self._model_name = spec.model_name
        self._adapters_dir = Path(spec.work_dir) / "adapters"
        self.base_url = f"http://{spec.host}:{port}"
        self._tokens = 0
        self._api_key = spec.api_key
        self._process = self._start(words(port))

    def _start(self, words: list[str]) -> subprocess.Popen[bytes]:
        environ = environment(self._api_key)
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, env=environ)

    def ended(self) -> str | None:
        status = self._process.poll()
        if status is None:
            return None
        if self._fallback is not None:
            print("vLLM did not start with adapters; it starts without.", flush=True)
            self._process, self._fallback = self._start(self._fallback), None
            return None
        return f"vLLM ended with status {status}; its log says why."

    def in_flight(self) -> int | None:
        return gauge_sum(
            lambda: read_metrics(self.base_url, self._api_key),
            ("vllm:num_requests_running", "vllm:num_requests_waiting"),
        )

    def advances(self) -> bool:
        """Returns whether tokens were processed since the last call, or no request is running. The
        HTTP process alone would answer even if the engine hangs."""
        self._fallback = None
        tokens = gauge_sum(
            lambda: read_metrics(self.base_url, self._api_key),
            ("vllm:prompt_tokens_total", "vllm:generation_tokens_total"),
        )
        if tokens is None:
            return False
        before, self._tokens = self._tokens, tokens
        return tokens != before or (self.in_flight() == 0 and answers(self))

    def load_adapter(self, name: str, folder: Path) -> None:
        """Loads an adapter. Raises PlainError if vLLM cannot, or if the adapter changes nothing:
        vLLM serves the base under the adapter's name if it knows none of its modules. Raises
        MachineError if vLLM does not answer in time; a later call tries again."""
        served = self._adapters_dir / name
        if served.exists():
            # The last attempt got no answer, so vLLM may have loaded the adapter.
            self.unload_adapter(name)
        rename_modules(folder, checkpoint_modules(self._base), served)
        self._post("/v1/load_lora_adapter", {"lora_name": name, "lora_path": str(served)})
        if is_zero(served):
            return
        base = self._model_name
        if not is_change(self._probe(base), self._probe(name), self._probe(base)):
            self.unload_adapter(name)
            raise PlainError(
                "The adapter changes nothing in vLLM: its modules are not those of the base model."
            )

    def unload_adapter(self, name: str) -> None:
        """Unloads an adapter and deletes its files. Running answers keep it. Raises MachineError if
        vLLM does not answer in time."""
        try:
            self._post("/v1/unload_lora_adapter", {"lora_name": name})
        except MachineError:
            raise
        except PlainError:
            pass  # vLLM had not loaded it.
        shutil.rmtree(self._adapters_dir / name)

    def _probe(self, name: str) -> list[float]:
        """Returns the log-probabilities of the probe's tokens, from the second."""
        body = {"model": name, "prompt": _PROBE, "max_tokens": 1, "prompt_logprobs": 0}
        tokens = self._post("/v1/completions", body).json()["choices"][0]["prompt_logprobs"][1:]
        return [value["logprob"] for token in tokens for value in token.values()]

    def _post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self._api_key}"}
        with httpx.Client(timeout=_LOAD_TIMEOUT_S, trust_env=False) as client:
            try:
                answer = client.post(f"{self.base_url}{path}", json=body, headers=headers)
            except httpx.HTTPError as error:
                raise MachineError(f"vLLM does not answer: {error}.") from error
        if not answer.is_success:
            raise PlainError(f"vLLM could not load the adapter: {_message_of(answer)}")
        return answer

    def close(self) -> None:
        """Terminates the child, and kills it if it does not exit."""
        self._process.terminate()
        try:
            self._process.wait(CLOSE_CHILD_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def is_change(base: list[float], tuned: list[float], again: list[float]) -> bool:
    """Returns whether an adapter changes log-probabilities by more than two calls of the base
    differ: on a GPU, rounding depends on the other requests in a batch."""
    noise, change = (
        max(abs(one - other) for one, other in zip(base, others, strict=True))
        for others in (again, tuned)
    )
    return change > 3 * noise + _ROUNDING


def environment(api_key: str) -> dict[str, str]:
    """Returns the environment of the server."""
    programs = str(Path(sys.executable).parent)
    return {
        **os.environ,
        # Not passed as an argument, because every user of the machine can read the arguments of a
        # process.
        "VLLM_API_KEY": api_key,
        "VLLM_NO_USAGE_STATS": "1",
        # These routes require the key, which only this program has.
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
        # FlashInfer's sampler is compiled at start with nvcc, which a host with only a driver
        # lacks.
        "VLLM_USE_FLASHINFER_SAMPLER": "0",
        # DeepGEMM's kernels, which vLLM prefers for FP8 models, are also compiled with nvcc.
        **({} if _has_cuda_toolkit() else {"VLLM_USE_DEEP_GEMM": "0"}),
        # vLLM's compilers use programs of its own environment, such as ninja.
        "PATH": os.pathsep.join(filter(None, (programs, os.environ.get("PATH")))),
    }


def _has_cuda_toolkit() -> bool:
    home = os.environ.get("CUDA_HOME")
    return shutil.which("nvcc") is not None or (home is not None and Path(home).is_dir())


def command(
    spec: ServeTextSpec, inputs: dict[str, Path], port: int, *, late_adapters: bool = True
) -> list[str]:
    """Returns the command line of the server. It calls the module, not the `vllm` script, so that
    vLLM uses the same interpreter as this program. Adapters are loaded once the server answers;
    `late_adapters` prepares a server without any for them."""
    base = _folder(inputs, "base_model")
    words = _shared_words(spec, base, port, spec.pictures_max)
    words += parser_arguments(base, read_model_tokens(base))
    words += _split_arguments(spec)
    if spec.adapters or (late_adapters and spec.lora_rank > 0):
        words += _lora_arguments(spec)
    return words


def start_vllm(spec: ServeTextSpec, inputs: dict[str, Path]) -> Vllm:
    """Starts a text server. Not all of vLLM's models support adapters, so a server without any
    starts anyway."""
    is_optional = spec.lora_rank > 0 and not spec.adapters
    return Vllm(
        spec,
        inputs,
        lambda port: command(spec, inputs, port),
        (lambda port: command(spec, inputs, port, late_adapters=False)) if is_optional else None,
    )


def embedding_command(spec: ServeEmbeddingSpec, inputs: dict[str, Path], port: int) -> list[str]:
    """Returns the command line for an embedding model; vLLM reads pooling and norm from its
    modules.json."""
    words = _shared_words(spec, _folder(inputs, "base_model"), port)
    return [*words, "--runner", "pooling", *_split_arguments(spec)]


def _shared_words(
    spec: ServeTextSpec | ServeEmbeddingSpec, base: Path, port: int, pictures_max: int = 0
) -> list[str]:
    context = min(spec.context_tokens, context_tokens(base) or spec.context_tokens)
    arguments = {
        "--served-model-name": spec.model_name,
        "--host": spec.host,
        "--port": str(port),
        "--max-model-len": str(context),
        "--gpu-memory-utilization": str(_GPU_MEMORY_PART),
        "--limit-mm-per-prompt": json.dumps({"image": pictures_max, "video": 0, "audio": 0}),
        # Nothing is fetched from an address in a request.
        "--allowed-media-domains": "none.invalid",
        "--middleware": f"{KeyGuard.__module__}.{KeyGuard.__name__}",
    }
    words = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve"]
    words += [str(base)]
    words += [word for pair in arguments.items() for word in pair]
    words.append("--disable-fastapi-docs")
    # Only tests on a CPU set it: machines and clusters start this program without it.
    return words + shlex.split(os.environ.get("BAKEHOUSE_VLLM_ARGUMENTS", ""))


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


def _lora_arguments(spec: ServeTextSpec) -> list[str]:
    rank = max([spec.lora_rank, *(adapter.rank for adapter in spec.adapters)])
    return [
        "--enable-lora",
        *("--max-lora-rank", str(allowed_lora_rank(rank))),
        *("--max-loras", str(_LORAS_IN_BATCH_MAX)),
        *("--max-cpu-loras", str(_LORAS_IN_MEMORY_MAX)),
    ]


def _message_of(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"]["message"])
    except (ValueError, LookupError, TypeError):
        return f"it answers with {answer.status_code}."


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
