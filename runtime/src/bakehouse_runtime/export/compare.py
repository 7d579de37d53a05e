"""Compares the answers of two models to the same prompts at temperature 0."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from ..errors import PlainError, StopRequested
from ..files import SAFE_TOKENIZER
from ..protocol import ServeTextSpec, ServeTextSpecAdapter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..protocol import ExportGgufSpec

_NEW_TOKENS = 64
_CONTEXT_TOKENS = 4096
_POLL_S = 0.05
_ANSWER_S = 600.0


@dataclass(frozen=True)
class Comparison:
    """The number of prompts, and of answers that are identical word for word."""

    prompts: int
    equal: int

    @property
    def sentence(self) -> str:
        if self.prompts == 0:
            return "Its answers were not compared: the fine-tune has no held-out prompts."
        if self.equal == self.prompts:
            return (
                f"At temperature 0 it answers all {self.prompts} held-out prompts word for word as "
                "the fine-tune does."
            )
        return (
            f"At temperature 0 it answers {self.equal} of {self.prompts} held-out prompts word for "
            "word as the fine-tune does; the others differ."
        )


def compare(one: list[str], other: list[str]) -> Comparison:
    """Compares the answers of two models to the same prompts."""
    return Comparison(len(one), sum(a == b for a, b in zip(one, other, strict=True)))


def generate_served_answers(
    spec: ExportGgufSpec,
    folder: Path,
    file: str,
    adapter: Path | None,
    prompts: list[str],
    stop_requested: Callable[[], bool],
) -> list[str]:
    """Returns llama.cpp's answers with `file` served as in a deployment, with the adapter if there
    is one. Raises PlainError if it cannot load the model, and StopRequested."""
    from ..serve.engine import answers
    from ..serve.llamacpp import LlamaCpp, server_params

    serving = _serve_spec(spec, file, adapter)
    folders = {"base_model": folder, **({"adapter": adapter.parent} if adapter else {})}
    engine = LlamaCpp(serving, server_params(serving, folders))
    try:
        while not answers(engine):
            if stop_requested():
                raise StopRequested
            time.sleep(_POLL_S)
        said = []
        for prompt in prompts:
            if stop_requested():
                raise StopRequested
            said.append(_ask(engine.base_url, serving, prompt))
        return said
    finally:
        engine.close()


def _ask(base_url: str, serving: ServeTextSpec, prompt: str) -> str:
    response = httpx.post(
        f"{base_url}/v1/chat/completions",
        json={
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": _NEW_TOKENS,
            "lora": [{"id": at, "scale": 1.0} for at in range(len(serving.adapters))],
        },
        headers={"Authorization": f"Bearer {serving.api_key}"},
        timeout=_ANSWER_S,
        trust_env=False,
    )
    if not response.is_success:
        raise PlainError(f"The model cannot be asked (status {response.status_code}).")
    return str(response.json()["choices"][0]["message"]["content"])


def _serve_spec(spec: ExportGgufSpec, file: str, adapter: Path | None) -> ServeTextSpec:
    adapters = (
        [ServeTextSpecAdapter(name="adapter", input="adapter", file=adapter.name, rank=1)]
        if adapter
        else []
    )
    return ServeTextSpec(
        **{
            name: getattr(spec, name)
            for name in ("protocol", "workload_id", "server", "work_dir", "inputs_dir", "inputs")
        },
        kind="serve",
        task="text",
        engine="llamacpp",
        model_name="model",
        model_file=file,
        adapters=adapters,
        host="127.0.0.1",
        port=0,
        api_key=secrets.token_urlsafe(),
        context_tokens=_CONTEXT_TOKENS,
        parallel_requests=1,
        threads=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1,
    )


def generate_loaded_answers(
    model: Any, tokenizer_folder: Path, prompts: list[str], stop_requested: Callable[[], bool]
) -> list[str]:
    """Returns the answers of a loaded model, computed by Transformers. Raises StopRequested."""
    import torch
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(tokenizer_folder, **SAFE_TOKENIZER)
    model.eval()
    said = []
    for prompt in prompts:
        if stop_requested():
            raise StopRequested
        asked = tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}],
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
        )
        with torch.inference_mode():
            written = model.generate(**asked, max_new_tokens=_NEW_TOKENS, do_sample=False)
        text = tokenizer.decode(written[0, asked["input_ids"].shape[1] :], skip_special_tokens=True)
        said.append(str(text))
    return said
