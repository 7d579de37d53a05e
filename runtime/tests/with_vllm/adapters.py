"""Runs in vLLM's environment: the log-probabilities of a prompt with and without an adapter."""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bakehouse_runtime.serve.peft_names import checkpoint_modules, rename_modules


def logprobs(llm: Any, prompt: list[int], lora: Any = None) -> list[float]:
    from vllm import SamplingParams

    (answer,) = llm.generate(
        {"prompt_token_ids": prompt},
        SamplingParams(max_tokens=1, temperature=0, prompt_logprobs=0),
        lora_request=lora,
        use_tqdm=False,
    )
    pairs = zip(answer.prompt_logprobs[1:], prompt[1:], strict=True)
    return [one[token].logprob for one, token in pairs]


def compare(base: Path, adapter: Path, prompt: list[int], dtype: str) -> dict[str, list[float]]:
    from vllm import LLM
    from vllm.distributed import cleanup_dist_env_and_memory
    from vllm.lora.request import LoRARequest

    renamed = adapter.with_name(f"{adapter.name}-renamed")
    rename_modules(adapter, checkpoint_modules(base), renamed)
    llm = LLM(
        str(base),
        enable_lora=True,
        max_lora_rank=8,
        dtype=dtype,
        enforce_eager=True,
        max_model_len=128,
        distributed_executor_backend="uni",
        limit_mm_per_prompt={"image": 0, "video": 0, "audio": 0},
    )
    found = {
        "base": logprobs(llm, prompt),
        "tuned": logprobs(llm, prompt, LoRARequest("renamed", 1, str(renamed))),
    }
    del llm
    cleanup_dist_env_and_memory()
    return found


if __name__ == "__main__":
    found = [
        compare(Path(one["base"]), Path(one["adapter"]), one["prompt"], one["dtype"])
        for one in json.load(sys.stdin)
    ]
    print("\n" + json.dumps(found))
