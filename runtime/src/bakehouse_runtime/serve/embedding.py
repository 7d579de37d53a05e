"""`serve` for embeddings: the runtime's own encoder, llama.cpp or vLLM."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..errors import PlainError
from .serving import serve

if TYPE_CHECKING:
    from pathlib import Path

    from ..protocol import ServeEmbeddingSpec
    from .engine import ServingEngine


def serve_embedding(spec: ServeEmbeddingSpec) -> int:
    """Serves until stopped. Returns the exit status."""
    return serve(spec, lambda inputs: _start(spec, inputs))


def _start(spec: ServeEmbeddingSpec, inputs: dict[str, Path]) -> ServingEngine:
    if "base_model" not in inputs:
        raise PlainError("The spec has no input base_model.")
    match spec.engine:
        case "vllm":
            from .vllm import Vllm, embedding_command

            return Vllm(spec, inputs, lambda port: embedding_command(spec, inputs, port))
        case "llamacpp":
            from .llamacpp import LlamaCpp, embedding_params

            return LlamaCpp(spec, embedding_params(spec, inputs))
        case "encoder":
            # Must be set before NumPy is loaded: otherwise its threads would wait for each other at
            # each matrix product.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            from ..embed.encoder import Encoder
            from .embedding_calls import EncoderServer

            folder = inputs["base_model"]
            return EncoderServer(spec, Encoder(folder, spec.threads, spec.context_tokens))
