"""Converts an uploaded PEFT adapter to the GGUF adapter that llama.cpp applies. The untrusted file
is only read as tensors and never passed to llama.cpp."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from ..errors import PlainError
from ..files import read_object
from ..gguf_adapter import write_gguf_adapter

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_TENSOR = re.compile(r"base_model\.model\..+\.lora_[AB](\.weight)?")


def convert_adapter(adapter: Path, base: Path, out: Path) -> None:
    """Writes `out` from adapter_config.json and adapter_model.safetensors in `adapter`, for the
    base whose config.json is in `base`. Raises PlainError if llama.cpp cannot apply it."""
    alpha = adapter_alpha(read_object(adapter / "adapter_config.json"))
    tensors = adapter_tensors(adapter / "adapter_model.safetensors")
    try:
        write_gguf_adapter(out, tensors, alpha, read_object(base / "config.json"))
    except (TypeError, ValueError) as error:
        raise PlainError(f"The adapter does not fit the base model: {error}.") from error


def adapter_alpha(config: dict[str, Any]) -> float:
    """Returns the alpha that scales an adapter (divided by the rank). Raises PlainError if
    llama.cpp would apply it differently."""
    if config.get("peft_type", "LORA") != "LORA" or config.get("use_dora"):
        raise PlainError("llama.cpp applies plain LoRA adapters only.")
    if config.get("rank_pattern") or config.get("alpha_pattern"):
        raise PlainError("llama.cpp applies adapters with one rank and one alpha only.")
    rank, alpha = config.get("r"), config.get("lora_alpha")
    if not isinstance(rank, int) or rank < 1 or not isinstance(alpha, (int, float)):
        raise PlainError("adapter_config.json names no rank r, or no lora_alpha.")
    return alpha * math.sqrt(rank) if config.get("use_rslora") else float(alpha)


def adapter_tensors(file: Path) -> dict[str, NDArray[Any]]:
    """Returns the adapter's matrices by name. Raises PlainError for anything else in the file."""
    # Loaded with torch, because NumPy lacks bfloat16, the dtype of most adapters.
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors = load_file(file)
    except SafetensorError as error:
        raise PlainError(f"{file.name} is no safetensors file: {error}.") from error
    for name in tensors:
        if not _TENSOR.fullmatch(name):
            raise PlainError(f"llama.cpp has no place for {name}.")
    return {name: tensor.float().numpy() for name, tensor in tensors.items()}
