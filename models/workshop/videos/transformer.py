"""Builds the transformer of the starter Wan and writes it in Diffusers' format."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from diffusers.models.autoencoders.autoencoder_kl_wan import AutoencoderKLWan
from diffusers.models.transformers.transformer_wan import WanTransformer3DModel
from diffusers.pipelines.wan.pipeline_wan import WanPipeline
from diffusers.schedulers.scheduling_flow_match_euler_discrete import (
    FlowMatchEulerDiscreteScheduler,
)

from bakehouse_runtime.image.model_files import remove_local_paths


def build_video_transformer(
    *, latent_channels: int, text_size: int, layers: int, heads: int, head_size: int,
    mlp_ratio: int, seed: int,
) -> WanTransformer3DModel:  # fmt: skip
    """Returns an untrained Wan transformer."""
    torch.manual_seed(seed)
    transformer = WanTransformer3DModel(
        num_attention_heads=heads,
        attention_head_dim=head_size,
        in_channels=latent_channels,
        out_channels=latent_channels,
        text_dim=text_size,
        freq_dim=128,
        ffn_dim=mlp_ratio * heads * head_size,
        num_layers=layers,
        rope_max_seq_len=64,
    )
    # The prediction starts at zero, as in every diffusion transformer.
    torch.nn.init.zeros_(transformer.proj_out.weight)
    torch.nn.init.zeros_(transformer.proj_out.bias)
    return transformer


def export_wan(
    transformer: WanTransformer3DModel,
    autoencoder: AutoencoderKLWan,
    folder: Path,
    dtype: torch.dtype,
    shift: float,
    index: dict[str, Any],
) -> None:
    """Writes a pipeline that `WanPipeline.from_pretrained` loads with a text encoder and a
    tokenizer, which are not part of the folder. `index` is added to its `model_index.json`."""
    pipeline = WanPipeline(
        tokenizer=None,  # pyright: ignore[reportArgumentType]
        text_encoder=None,  # pyright: ignore[reportArgumentType]
        vae=deepcopy(autoencoder),
        scheduler=FlowMatchEulerDiscreteScheduler(num_train_timesteps=1000, shift=shift),
        transformer=deepcopy(transformer),
        expand_timesteps=True,
    )
    pipeline.to(dtype).save_pretrained(folder)
    remove_local_paths(folder)
    path = folder / "model_index.json"
    whole = json.loads(path.read_text()) | index
    path.write_text(json.dumps(whole, indent=2, sort_keys=True) + "\n")
