"""Adds a LoRA adapter to a Diffusers network and saves it in Diffusers' format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from peft import LoraConfig
from peft.utils import get_peft_model_state_dict

from ...errors import PlainError

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor, nn

    from ...image.family import Family
    from ...protocol import LoraSpec


def add_adapter(network: Any, lora: LoraSpec, seed: int) -> None:
    """Freezes the network and adds a trainable LoRA adapter in float32."""
    network.requires_grad_(False)
    torch.manual_seed(seed)
    try:
        network.add_adapter(
            LoraConfig(
                r=lora.r,
                lora_alpha=lora.alpha,  # pyright: ignore[reportArgumentType]
                lora_dropout=lora.dropout,
                target_modules=lora.target_modules,
                init_lora_weights="gaussian",
            )
        )
    except ValueError as error:
        raise PlainError(
            f"The model has no modules called {', '.join(lora.target_modules)}."
        ) from error
    for weight in network.parameters():
        if weight.requires_grad:
            weight.data = weight.data.float()


def save_adapter(family: Family, network: Any, folder: Path) -> None:
    """Writes the adapter with its configuration. Without the alpha in it, a loader would scale the
    adapter by 1."""
    weights: dict[str, nn.Module | Tensor] = {
        name: weight.contiguous() for name, weight in get_peft_model_state_dict(network).items()
    }
    # Dropout is only for training, but a loader would create dropout layers and enable them.
    metadata = network.peft_config["default"].to_dict() | {"lora_dropout": 0.0}
    family.lora_loader.save_lora_weights(
        folder, transformer_lora_layers=weights, transformer_lora_adapter_metadata=metadata
    )
