"""`serve` for text: llama.cpp or vLLM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .serving import serve

if TYPE_CHECKING:
    from pathlib import Path

    from ..protocol import ServeTextSpec
    from .engine import ServingEngine


def serve_text(spec: ServeTextSpec) -> int:
    """Serves until stopped. Returns the exit status."""
    return serve(spec, lambda inputs: _start(spec, inputs))


def _start(spec: ServeTextSpec, inputs: dict[str, Path]) -> ServingEngine:
    if spec.engine == "vllm":
        from .vllm import start_vllm

        return start_vllm(spec, inputs)
    from .llamacpp import LlamaCpp, server_params

    return LlamaCpp(spec, server_params(spec, inputs))
