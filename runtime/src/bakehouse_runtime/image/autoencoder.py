"""Converts between pictures and latents with the autoencoder, and scales latents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.autoencoders.vae import DiagonalGaussianDistribution
from PIL import Image
from torch import Tensor

from .model_files import load_picture_model
from .pictures import to_array, to_pictures

# Pixels per batch: 32 pictures of the starter models' size. A full-size picture exceeds the limit
# and is a batch of its own.
PIXELS_AT_ONCE = 32 * 128**2
PREVIEW_SIDE_MAX = 128


def load_autoencoder(folder: Path, device: torch.device | None = None) -> AutoencoderKL:
    """Loads the `AutoencoderKL` in `folder`, in float32, by default on the CPU.

    Raises PlainError if it cannot be loaded.
    """
    what = f"The autoencoder in {folder.name}"
    model = load_picture_model(AutoencoderKL, folder, what, torch.float32)
    return model.to(device or "cpu")  # pyright: ignore[reportArgumentType]


def use_channels_last(autoencoder: AutoencoderKL, device: torch.device) -> None:
    """Moves the autoencoder to the device for sampling. On a CPU it uses channels-last, which takes
    a fifth less time; weights in that layout cannot be saved."""
    on_cpu = device.type == "cpu"
    layout = torch.channels_last if on_cpu else torch.preserve_format
    autoencoder.to(device=device).to(memory_format=layout).eval()  # pyright: ignore[reportCallIssue]


def posterior(autoencoder: AutoencoderKL, pictures: Tensor) -> DiagonalGaussianDistribution:
    """Returns the distribution of the raw latents of pictures in -1..1."""
    return autoencoder.encode(pictures.to(autoencoder.dtype), return_dict=False)[0]


def decoded(autoencoder: AutoencoderKL, latents: Tensor) -> Tensor:
    """Returns the pictures of raw latents, in float32."""
    return autoencoder.decode(latents, return_dict=False)[0].float()  # pyright: ignore[reportArgumentType]


@torch.no_grad()
def encode_pictures(autoencoder: AutoencoderKL, pictures: Sequence[Image.Image]) -> Tensor:
    """Returns the pictures' latents, shifted and scaled as the transformers expect them, on the
    CPU."""
    parts = []
    at_once = max(1, PIXELS_AT_ONCE // (pictures[0].width * pictures[0].height))
    for start in range(0, len(pictures), at_once):
        batch = torch.from_numpy(to_array(pictures[start : start + at_once]))
        latents = posterior(autoencoder, batch.to(autoencoder.device)).mean.float()
        parts.append(((latents - _shift(autoencoder)) * _scale(autoencoder)).cpu())
    return torch.cat(parts)


@torch.no_grad()
def decode_latents(autoencoder: AutoencoderKL, latents: Tensor) -> Tensor:
    """The inverse of `encode_pictures`: returns [n, 3, height, width] in float32, in about
    -1..1."""
    raw = latents / _scale(autoencoder) + _shift(autoencoder)
    return decoded(autoencoder, raw.to(autoencoder.device, autoencoder.dtype))


@torch.no_grad()
def decode_preview(autoencoder: AutoencoderKL, latents: Tensor) -> Image.Image:
    """Returns a preview of one row of latents, at half size and at most PREVIEW_SIDE_MAX, which
    costs at most a quarter of a full decoding."""
    halvings = len(autoencoder.config["block_out_channels"]) - 1
    side = max(latents.shape[-2:]) * 2**halvings
    small = F.avg_pool2d(latents[None], max(2, math.ceil(side / PREVIEW_SIDE_MAX)))
    return to_pictures(decode_latents(autoencoder, small).cpu().numpy())[0]


def _scale(autoencoder: AutoencoderKL) -> float:
    return float(autoencoder.config["scaling_factor"])


def _shift(autoencoder: AutoencoderKL) -> float:
    return float(autoencoder.config["shift_factor"] or 0.0)
