"""The autoencoder as it is laid out for sampling."""

from __future__ import annotations

from pathlib import Path

import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL

from bakehouse_runtime.image.autoencoder import decode_latents, load_autoencoder
from bakehouse_runtime.image.kontext.pipeline import KontextPipeline
from bakehouse_runtime.image.kontext.stepper import KontextStepper
from bakehouse_runtime.image.paris.pipeline import ParisPipeline
from bakehouse_runtime.train.kontext.model import export_kontext

from .tiny import tiny_autoencoder, tiny_transformer

CPU = torch.device("cpu")


def has_channels_last(autoencoder: AutoencoderKL) -> bool:
    weights = autoencoder.decoder.conv_in.weight
    return weights.is_contiguous(memory_format=torch.channels_last)


def test_on_a_cpu_the_channels_come_last_and_pictures_stay(paris_folder: Path) -> None:
    autoencoder = ParisPipeline.from_folder(paris_folder, CPU).autoencoder
    stored = load_autoencoder(paris_folder / "vae")
    assert has_channels_last(autoencoder)
    assert not has_channels_last(stored), "it could not be saved"
    latents = torch.randn(2, 4, 4, 4)
    torch.testing.assert_close(
        decode_latents(autoencoder, latents), decode_latents(stored, latents)
    )


def test_what_serves_kontext_has_channels_last_and_what_trains_it_has_not(tmp_path: Path) -> None:
    export_kontext(tiny_transformer(), tiny_autoencoder(), tmp_path / "kontext", torch.float32)
    pipeline = KontextPipeline.from_folder(tmp_path / "kontext", CPU)
    assert not has_channels_last(pipeline.autoencoder)
    KontextStepper(pipeline)
    assert has_channels_last(pipeline.autoencoder)
