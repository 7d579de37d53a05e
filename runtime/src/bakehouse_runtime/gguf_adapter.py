"""Writes a PEFT adapter as a GGUF adapter, which llama.cpp applies to its base per request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import PlainError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from gguf import MODEL_ARCH, TensorNameMap
    from numpy.typing import NDArray

# Model families by their name in config.json, with llama.cpp's architecture name. An adapter must
# follow what llama.cpp's converter (convert_hf_to_gguf.py) does to the base's matrices, which no
# file records; a wrong adapter loads but answers wrongly. So only families whose converter was
# checked are listed, and all others are rejected. For the families below, the converter reorders
# the rows of q and k for llama.cpp's rotary embedding.
_REORDERED = {
    "arcee": "arcee",
    "granite": "granite",
    "granitemoe": "granitemoe",
    "llama": "llama",
    "ministral3": "mistral3",
    "mistral": "llama",
    "mixtral": "llama",
    "olmo": "olmo",
    "smollm3": "smollm3",
}
# For these families, the converter leaves all matrices unchanged.
_AS_STORED = {
    "apertus": "apertus",
    "cohere": "command-r",
    "cohere2": "cohere2",
    "exaone4": "exaone4",
    "gemma": "gemma",
    "gemma2": "gemma2",
    "gemma3_text": "gemma3",
    "olmo2": "olmo2",
    "olmo3": "olmo2",
    "phi": "phi2",
    "phi3": "phi3",
    "qwen2": "qwen2",
    "qwen2_moe": "qwen2moe",
    "qwen3": "qwen3",
    "qwen3_moe": "qwen3moe",
    "seed_oss": "seed_oss",
    "starcoder2": "starcoder2",
}
_ARCHITECTURES = _REORDERED | _AS_STORED
_LANGUAGE_MODEL = re.compile(r"^(model\.language_model|language_model\.model)\.")
_PREFIX = "base_model.model."


def write_gguf_adapter(
    path: Path, tensors: Mapping[str, NDArray[Any]], alpha: float, config: Mapping[str, Any]
) -> None:
    """Writes the tensors of `adapter_model.safetensors` for a base with this `config.json`.

    Raises PlainError if llama.cpp does not know the base's family or one of its modules.
    """
    from gguf import GGUFWriter

    name, names = _tensor_names(config)
    config = config.get("text_config") or config
    heads = int(config["num_attention_heads"])
    key_heads = int(config.get("num_key_value_heads") or heads)

    writer = GGUFWriter(path, name)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    for key in sorted(tensors):
        module, part = key.removeprefix(_PREFIX).removesuffix(".weight").rsplit(".", 1)
        target = _tensor_name(names, module)
        if part not in {"lora_A", "lora_B"}:
            raise PlainError(f"llama.cpp has no place for {key}.")
        values = np.ascontiguousarray(tensors[key], dtype=np.float32)
        if part == "lora_B" and config["model_type"] in _REORDERED:
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
    """Returns rows of q or k in llama.cpp's order: the two halves of each head interleaved."""
    out, columns = rows.shape
    halves = rows.reshape(heads, 2, out // heads // 2, columns)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(out, columns))


def gguf_obstacle(modules: Iterable[str], config: Mapping[str, Any]) -> str | None:
    """Returns why an adapter on these modules of a base with this `config.json` cannot be written,
    as one plain sentence, or None if it can. Modules have their full names, as in the base's
    weights."""
    try:
        _, names = _tensor_names(config)
        for module in modules:
            _tensor_name(names, module)
    except PlainError as error:
        return str(error)
    return None


def _tensor_names(config: Mapping[str, Any]) -> tuple[str, TensorNameMap]:
    """Returns llama.cpp's names of the base's architecture and of its tensors."""
    from gguf import MODEL_ARCH_NAMES, get_tensor_name_map

    # From a multimodal base, llama.cpp makes a model of text.
    config = config.get("text_config") or config
    for name in ("model_type", "num_hidden_layers", "num_attention_heads"):
        if name not in config:
            raise PlainError(f"llama.cpp needs a base whose config.json names {name}.")
    architecture = _architecture(str(config["model_type"]))
    names = get_tensor_name_map(architecture, int(config["num_hidden_layers"]))
    return MODEL_ARCH_NAMES[architecture], names


def _tensor_name(names: TensorNameMap, module: str) -> str:
    target = names.get_name(_LANGUAGE_MODEL.sub("model.", module))
    if target is None:
        raise PlainError(f"llama.cpp has no place for {module}.")
    return target


def _architecture(model_type: str) -> MODEL_ARCH:
    from gguf import MODEL_ARCH_NAMES

    wanted = _ARCHITECTURES.get(model_type)
    for architecture, name in MODEL_ARCH_NAMES.items():
        if name == wanted:
            return architecture
    raise PlainError(f"Bakehouse does not know how llama.cpp stores the model family {model_type}.")
