"""Tests the memory layout of the autoencoder for sampling."""

from __future__ import annotations

from pathlib import Path

import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL

from bakehouse_runtime.image.autoencoder import decode_latents, load_autoencoder
from bakehouse_runtime.image.flux.load import load_flux
from bakehouse_runtime.image.flux.pipeline import KontextPipeline
from bakehouse_runtime.image.paris.pipeline import ParisPipeline

from .tiny import write_tiny_kontext

CPU = torch.device("cpu")


def has_channels_last(autoencoder: AutoencoderKL) -> bool:
    weights = autoencoder.decoder.conv_in.weight
    return weights.is_contiguous(memory_format=torch.channels_last)


def test_uses_channels_last_on_a_cpu_without_changing_pictures(paris_folder: Path) -> None:
    autoencoder = ParisPipeline.from_folder(paris_folder, CPU).family.autoencoder
    stored = load_autoencoder(paris_folder / "vae")
    assert has_channels_last(autoencoder)
    assert not has_channels_last(stored), "it could not be saved"
    latents = torch.randn(2, 4, 4, 4)
    torch.testing.assert_close(
        decode_latents(autoencoder, latents), decode_latents(stored, latents)
    )


def test_uses_channels_last_for_serving_but_not_for_training(tmp_path: Path) -> None:
    write_tiny_kontext(tmp_path / "kontext")
    model = load_flux(tmp_path / "kontext", CPU)
    assert not has_channels_last(model.family.autoencoder)
    KontextPipeline(model)
    assert has_channels_last(model.family.autoencoder)
