"""LoRAs of a tiny transformer, as trainers write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from diffusers.pipelines.flux.pipeline_flux_kontext import FluxKontextPipeline
from safetensors.torch import save_file

if TYPE_CHECKING:
    from pathlib import Path

    from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
    from torch import Tensor

# Of both kinds of blocks, and one that is not attention.
LAYERS = (
    "transformer_blocks.0.attn.to_q",
    "transformer_blocks.0.ff.net.2",
    "single_transformer_blocks.0.proj_out",
)


def lora_weights(
    transformer: FluxTransformer2DModel, seed: int, rank: int = 2
) -> dict[str, Tensor]:
    """Matrices that show in a picture, by the names that Diffusers writes."""
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    for name in LAYERS:
        layer = transformer.get_submodule(name)
        assert isinstance(layer, torch.nn.Linear)
        for part, shape in (
            ("lora_A", (rank, layer.in_features)),
            ("lora_B", (layer.out_features, rank)),
        ):
            weights[f"transformer.{name}.{part}.weight"] = torch.randn(shape, generator=generator)
    return weights


def write_lora(
    file: Path,
    weights: dict[str, Tensor],
    metadata: dict[str, str] | None = None,
) -> Path:
    save_file(weights, file, metadata)
    return file


def write_as_diffusers(file: Path, weights: dict[str, Tensor], alpha: float) -> Path:
    """With the alpha that Diffusers notes beside the weights."""
    FluxKontextPipeline.save_lora_weights(
        file.parent,
        {name.removeprefix("transformer."): one for name, one in weights.items()},
        weight_name=file.name,
        transformer_lora_adapter_metadata={
            "r": 2,
            "lora_alpha": alpha,
            "target_modules": list(LAYERS),
        },
    )
    return file
