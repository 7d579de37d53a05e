"""A PEFT adapter as a GGUF adapter, which llama.cpp applies to its base per request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import PlainError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gguf import MODEL_ARCH
    from numpy.typing import NDArray

# Families whose name in config.json differs from llama.cpp's name for their architecture.
_ARCHITECTURES = {"mistral": "llama", "phi3": "phi3", "gemma3_text": "gemma3"}
# Families whose q and k rows llama.cpp stores in another order, for its rotary embedding.
_ROTARY_ORDER = {"llama"}
_PREFIX = "base_model.model."


def write_gguf_adapter(
    path: Path, tensors: Mapping[str, NDArray[Any]], alpha: float, config: Mapping[str, Any]
) -> None:
    """Writes the tensors of `adapter_model.safetensors` for a base with this `config.json`.

    Raises PlainError when llama.cpp does not know the base's family or one of its modules.
    """
    from gguf import MODEL_ARCH_NAMES, GGUFWriter, get_tensor_name_map

    architecture = _architecture(str(config["model_type"]))
    name = MODEL_ARCH_NAMES[architecture]
    names = get_tensor_name_map(architecture, int(config["num_hidden_layers"]))
    heads = int(config["num_attention_heads"])
    key_heads = int(config.get("num_key_value_heads") or heads)

    writer = GGUFWriter(path, name)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    for key in sorted(tensors):
        module, part = key.removeprefix(_PREFIX).removesuffix(".weight").rsplit(".", 1)
        target = names.get_name(module)
        if target is None or part not in {"lora_A", "lora_B"}:
            raise PlainError(f"llama.cpp has no place for {key}.")
        values = np.ascontiguousarray(tensors[key], dtype=np.float32)
        if part == "lora_B" and name in _ROTARY_ORDER:
            if module.endswith("q_proj"):
                values = rotary_rows(values, heads)
            elif module.endswith("k_proj"):
                values = rotary_rows(values, key_heads)
        writer.add_tensor(f"{target}.weight.{part.lower()}", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def rotary_rows(rows: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Rows of q or k in llama.cpp's order: the two halves of each head interleaved."""
    out, columns = rows.shape
    halves = rows.reshape(heads, 2, out // heads // 2, columns)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(out, columns))


def _architecture(model_type: str) -> MODEL_ARCH:
    from gguf import MODEL_ARCH_NAMES

    wanted = _ARCHITECTURES.get(model_type, model_type)
    for architecture, name in MODEL_ARCH_NAMES.items():
        if name == wanted:
            return architecture
    raise PlainError(f"llama.cpp does not know the model family {model_type}.")
