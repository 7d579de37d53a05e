"""Writing a trained autoencoder so that `AutoencoderKL.from_pretrained` reads it."""

from __future__ import annotations

from pathlib import Path

import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from PIL import Image

from ...image.autoencoder import posterior
from ...image.model_files import forget_origins
from ...image.pictures import to_array
from ...image.training.device import fast_arithmetic


def export_autoencoder(model: AutoencoderKL, pictures: list[Image.Image], folder: Path) -> None:
    """Measures mean and spread of the latents of `pictures`, keeps them in the configuration as
    shift and scaling factor, and saves the model."""
    batch = torch.from_numpy(to_array(pictures)).to(model.device)
    with torch.no_grad(), fast_arithmetic(model.device):
        latents = posterior(model, batch).mean.float()
    model.register_to_config(
        shift_factor=round(float(latents.mean()), 4),
        scaling_factor=round(1 / float(latents.std()), 4),
    )
    save_autoencoder(model, folder)


def save_autoencoder(model: AutoencoderKL, folder: Path) -> None:
    """Writes the model as it is."""
    model.save_pretrained(folder)
    forget_origins(folder)
