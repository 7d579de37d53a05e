"""Converts between videos and latents with the autoencoder, and scales latents."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from diffusers.models.autoencoders.autoencoder_kl_wan import AutoencoderKLWan
from diffusers.models.autoencoders.vae import DiagonalGaussianDistribution
from torch import Tensor

from ..video import Video, to_values, to_videos


def posterior(autoencoder: AutoencoderKLWan, values: Tensor) -> DiagonalGaussianDistribution:
    """Returns the distribution of the raw latents of videos in -1..1, [n, 3, frames, height,
    width]."""
    return autoencoder.encode(values.to(autoencoder.dtype), return_dict=False)[0]


def decoded(autoencoder: AutoencoderKLWan, raw: Tensor) -> Tensor:
    """Returns the videos of raw latents, in float32."""
    return autoencoder.decode(raw.to(autoencoder.dtype), return_dict=False)[0].float()


@torch.no_grad()
def encode_videos(autoencoder: AutoencoderKLWan, videos: Sequence[Video]) -> Tensor:
    """Returns the videos' latents, shifted and scaled as the transformer expects them, on the
    CPU."""
    mean, std = _scale(autoencoder)
    # One at a time: encoding a full-size video takes gigabytes.
    parts = [
        posterior(autoencoder, to_values([video]).to(autoencoder.device)).mean.float()
        for video in videos
    ]
    return ((torch.cat(parts) - mean) / std).cpu()


@torch.no_grad()
def decode_videos(autoencoder: AutoencoderKLWan, latents: Tensor, fps: float) -> list[Video]:
    """The inverse of `encode_videos`."""
    mean, std = _scale(autoencoder)
    raw = latents.to(mean.device, torch.float32) * std + mean
    return [video for row in raw for video in to_videos(decoded(autoencoder, row[None]), fps)]


def _scale(autoencoder: AutoencoderKLWan) -> tuple[Tensor, Tensor]:
    """Returns mean and standard deviation of each channel of the raw latents."""
    mean, std = (
        torch.tensor(autoencoder.config[name], device=autoencoder.device).reshape(1, -1, 1, 1, 1)
        for name in ("latents_mean", "latents_std")
    )
    return mean, std
