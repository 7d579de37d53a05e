"""The autoencoder as it is laid out for sampling."""

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


def test_on_a_cpu_the_channels_come_last_and_pictures_stay(paris_folder: Path) -> None:
    autoencoder = ParisPipeline.from_folder(paris_folder, CPU).family.autoencoder
    stored = load_autoencoder(paris_folder / "vae")
    assert has_channels_last(autoencoder)
    assert not has_channels_last(stored), "it could not be saved"
    latents = torch.randn(2, 4, 4, 4)
    torch.testing.assert_close(
        decode_latents(autoencoder, latents), decode_latents(stored, latents)
    )


def test_what_serves_kontext_has_channels_last_and_what_trains_it_has_not(tmp_path: Path) -> None:
    write_tiny_kontext(tmp_path / "kontext")
    model = load_flux(tmp_path / "kontext", CPU)
    assert not has_channels_last(model.family.autoencoder)
    KontextPipeline(model)
    assert has_channels_last(model.family.autoencoder)
