"""Merges a PEFT adapter into the weights of a safetensors base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import PlainError
from ..files import read_object
from ..serve.convert_adapter import adapter_tensors, scaling_alpha
from ..train.model_files import copy_non_weight_files, copy_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torch import Tensor

_PREFIX = "base_model.model."


def merge_safetensors(
    base: Path, adapter: Path, out: Path, progress: Callable[[int, int], None]
) -> None:
    """Writes the base's files into `out` with the adapter merged into the weights, in the same
    shards and dtypes. Loads one shard at a time. Raises PlainError if the adapter belongs to
    another model."""
    from safetensors import safe_open
    from safetensors.torch import save_file

    deltas = _Deltas(adapter)
    parts = sorted(base.glob("*.safetensors"))
    if not parts:
        raise PlainError("The base model has no safetensors files.")
    copy_non_weight_files(base, out)
    copy_tokenizer(base, out)
    names = {part: _tensors_of(part) for part in parts}
    total = sum(map(len, names.values()))
    done = 0
    for part in parts:
        merged = {}
        with safe_open(part, framework="pt") as source:
            for name in names[part]:
                merged[name] = deltas.added_to(name, source.get_tensor(name))
                done += 1
                progress(done, total)
        save_file(merged, out / part.name, {"format": "pt"})
    deltas.raise_if_left()


def _tensors_of(part: Path) -> list[str]:
    from safetensors import safe_open

    with safe_open(part, framework="pt") as source:
        return list(source.keys())


class _Deltas:
    """The adapter's update of each matrix, until it is applied."""

    def __init__(self, adapter: Path) -> None:
        import torch

        config = read_object(adapter / "adapter_config.json")
        self._alpha = scaling_alpha(config)
        # The layers store their matrices transposed, as in GPT-2.
        self._is_turned = bool(config.get("fan_in_fan_out"))
        self._left = {
            name.removesuffix(".weight"): torch.from_numpy(values)
            for name, values in adapter_tensors(
                adapter / "adapter_model.safetensors", magnitudes=bool(config.get("use_dora"))
            ).items()
        }

    def added_to(self, name: str, weight: Tensor) -> Tensor:
        module = f"{_PREFIX}{name.removesuffix('.weight')}"
        a = self._left.pop(f"{module}.lora_A", None)
        b = self._left.pop(f"{module}.lora_B", None)
        magnitude = self._left.pop(f"{module}.lora_magnitude_vector", None)
        if a is None or b is None:
            return weight
        delta = (self._alpha / a.shape[0]) * (b @ a)
        delta = delta.T if self._is_turned else delta
        if delta.shape != weight.shape:
            raise PlainError(f"The adapter's {name} is of another shape than the base's.")
        merged = weight.float() + delta
        if magnitude is not None:
            # DoRA: keeps the direction of each row and sets its length to the magnitude.
            inner = 0 if self._is_turned else 1
            merged *= magnitude.unsqueeze(inner) / merged.norm(dim=inner, keepdim=True)
        return merged.to(weight.dtype).contiguous()

    def raise_if_left(self) -> None:
        if self._left:
            module = min(self._left).removeprefix(_PREFIX)
            raise PlainError(f"The base model has no place for {module} of the adapter.")
