"""The autoencoder: Diffusers' `AutoencoderKL`, eight times smaller in each direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL


@dataclass(frozen=True)
class AutoencoderShape:
    """`channels` has one entry a level; each level but the last halves width and height."""

    channels: tuple[int, ...] = (16, 32, 64, 128)
    latent_channels: int = 8
    picture_side: int = 128


def build_autoencoder(shape: AutoencoderShape, seed: int) -> AutoencoderKL:
    """An untrained autoencoder without attention and with one layer a block."""
    torch.manual_seed(seed)
    levels = len(shape.channels)
    # Diffusers declares these as tuples of one.
    blocks: dict[str, Any] = {
        "block_out_channels": shape.channels,
        "down_block_types": ("DownEncoderBlock2D",) * levels,
        "up_block_types": ("UpDecoderBlock2D",) * levels,
    }
    return AutoencoderKL(
        **blocks,
        layers_per_block=1,
        latent_channels=shape.latent_channels,
        norm_num_groups=min(8, shape.channels[0]),
        mid_block_add_attention=False,
        use_quant_conv=False,
        use_post_quant_conv=False,
        sample_size=shape.picture_side,
    )
