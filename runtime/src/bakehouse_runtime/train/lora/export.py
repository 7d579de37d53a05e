"""Writes the result of a run with tokenizer and model card: an adapter for PEFT and llama.cpp, or a
whole model after a full fine-tune or with DoRA, which no engine serves as an adapter."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...base_model import exports_standalone_model
from ...errors import PlainError
from ...export.merge_adapter import load_with_adapter, save_merged, save_model
from ...files import read_object, read_optional_object, write_json
from ...gguf_adapter import write_gguf_adapter
from ...serve.convert_adapter import adapter_alpha, adapter_tensors
from ..card import base_model_id
from ..model_files import copy_tokenizer
from .model_card import ADAPTER_FOLDER, GGUF_NAME, model_card

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from peft import PeftModel

    from ...data.prepared import Prepared
    from ...protocol import TrainTextSpec
    from .outcome import Outcome

_ADAPTER_GGUF = "adapter.gguf"


def export(
    model: Any,
    spec: TrainTextSpec,
    inputs: dict[str, Path],
    out: Path,
    prepared: Prepared,
    outcome: Outcome,
) -> list[str]:
    """Writes the files of the finished model into `out`; returns further warnings.

    An adapter also gets adapter.gguf if llama.cpp knows the base's family, and a whole model gets
    model-F16.gguf if the base has a GGUF. DoRA is a whole model, plus the adapter in adapter/.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    base, lora = inputs["base_model"], spec.parameters.lora
    if lora is None:
        save_model(model.to(stored_dtype(base)), base, out)
    else:
        adapter = out / ADAPTER_FOLDER if lora.use_dora else out
        _save_adapter(model, base_model_id(spec), adapter)
        if lora.use_dora:
            # The model in training is stored in another dtype.
            save_merged(load_with_adapter(base, adapter), base, out)
        else:
            copy_tokenizer(base, out)
    is_whole = exports_standalone_model(spec.parameters)
    warnings = _write_whole_gguf(spec.title, inputs, out) if is_whole else _write_gguf(base, out)
    has_gguf = (out / (GGUF_NAME if is_whole else _ADAPTER_GGUF)).exists()
    told = replace(outcome, warnings=[*outcome.warnings, *warnings])
    card = model_card(spec, prepared, told, has_gguf=has_gguf)
    (out / "README.md").write_text(card, encoding="utf-8")
    return warnings


def _save_adapter(model: PeftModel, base_id: str | None, out: Path) -> None:
    # Do not save the base's own embeddings, even with an adapter on lm_head.
    model.save_pretrained(str(out), save_embedding_layers=False)
    # PEFT writes a card of its own.
    (out / "README.md").unlink()
    # PEFT records a local folder.
    config_file = out / "adapter_config.json"
    write_json(config_file, read_object(config_file) | {"base_model_name_or_path": base_id})


def _write_gguf(base: Path, out: Path) -> list[str]:
    """Writes the adapter for llama.cpp, or returns why it cannot."""
    try:
        write_gguf_adapter(
            out / _ADAPTER_GGUF,
            adapter_tensors(out / "adapter_model.safetensors"),
            adapter_alpha(read_object(out / "adapter_config.json")),
            read_optional_object(base / "config.json"),
        )
    except PlainError as error:
        (out / _ADAPTER_GGUF).unlink(missing_ok=True)
        return [f"The adapter cannot be served by llama.cpp: {error}"]
    return []


def _write_whole_gguf(title: str, inputs: dict[str, Path], out: Path) -> list[str]:
    from .whole_gguf import write_full_gguf

    source = next(inputs["base_gguf"].rglob("*.gguf"), None) if "base_gguf" in inputs else None
    if source is None:
        return []
    try:
        write_full_gguf(source, inputs["base_model"], out, out / GGUF_NAME, title)
    except PlainError as error:
        (out / GGUF_NAME).unlink(missing_ok=True)
        return [f"The model cannot be served by llama.cpp: {error}"]
    return []


def stored_dtype(base: Path) -> torch.dtype:
    """Returns the dtype of the base's stored weights from its config.json, which its fine-tune uses
    too. Defaults to float32."""
    import torch

    config = read_optional_object(base / "config.json")
    named = config.get("dtype") or config.get("torch_dtype")
    found = getattr(torch, named, None) if isinstance(named, str) else None
    return found if isinstance(found, torch.dtype) and found.is_floating_point else torch.float32
