"""The transformer of the starter Kontext, and its writing in Diffusers' format."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from diffusers.pipelines.flux.pipeline_flux_kontext import FluxKontextPipeline
from diffusers.schedulers.scheduling_flow_match_euler_discrete import (
    FlowMatchEulerDiscreteScheduler,
)

from ...image.model_files import forget_origins


def build_transformer(
    *, latent_channels: int, text_size: int, layers: int, single_layers: int, heads: int,
    head_size: int, axes: tuple[int, int, int], seed: int,
) -> FluxTransformer2DModel:  # fmt: skip
    """An untrained Flux transformer; `axes` divides the head among picture, row and column."""
    torch.manual_seed(seed)
    transformer = FluxTransformer2DModel(
        patch_size=1,
        in_channels=4 * latent_channels,
        num_layers=layers,
        num_single_layers=single_layers,
        attention_head_dim=head_size,
        num_attention_heads=heads,
        joint_attention_dim=text_size,
        pooled_projection_dim=text_size,
        guidance_embeds=True,
        axes_dims_rope=axes,
    )
    # The prediction starts at zero, as in every diffusion transformer.
    torch.nn.init.zeros_(transformer.proj_out.weight)
    torch.nn.init.zeros_(transformer.proj_out.bias)
    return transformer


def export_kontext(
    transformer: FluxTransformer2DModel,
    autoencoder: AutoencoderKL,
    folder: Path,
    dtype: torch.dtype,
) -> None:
    """Writes a pipeline that `FluxKontextPipeline.from_pretrained` loads, given a text encoder and
    a tokenizer: those are not part of the folder."""
    pipeline = FluxKontextPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(num_train_timesteps=1000, shift=1.0),
        vae=deepcopy(autoencoder),
        text_encoder=None,  # pyright: ignore[reportArgumentType]
        tokenizer=None,  # pyright: ignore[reportArgumentType]
        text_encoder_2=None,  # pyright: ignore[reportArgumentType]
        tokenizer_2=None,
        transformer=deepcopy(transformer),
    )
    pipeline.to(dtype).save_pretrained(folder)
    forget_origins(folder)
