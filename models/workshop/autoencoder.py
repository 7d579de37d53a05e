"""Trains and writes the autoencoder: Diffusers' `AutoencoderKL`, which scales down eight times in
each direction."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from PIL import Image
from torch import Tensor, nn

from bakehouse_runtime.image.autoencoder import decoded, posterior
from bakehouse_runtime.image.model_files import remove_local_paths
from bakehouse_runtime.image.pictures import grid, to_array, to_pictures
from bakehouse_runtime.image.training.device import fast_arithmetic, sent, training_device
from bakehouse_runtime.image.training.loop import (
    LoopSettings,
    Training,
    TrainingReporter,
    run_loop,
    step_generator,
)
from bakehouse_runtime.image.training.random_draws import noise_like

from .classifier import Classifier, feature_loss

EVAL_PICTURES = 64
SAMPLE_PICTURES = 16


class PictureSource(Protocol):
    """An endless supply of square RGB pictures of one size."""

    def draw(self, rng: np.random.Generator, count: int) -> list[Image.Image]:
        """Returns `count` pictures that depend only on `rng`."""
        ...


@dataclass(frozen=True)
class AutoencoderShape:
    """`channels` has one entry per level; each level but the last halves width and height."""

    channels: tuple[int, ...] = (16, 32, 64, 128)
    latent_channels: int = 8
    picture_side: int = 128


def build_autoencoder(shape: AutoencoderShape, seed: int) -> AutoencoderKL:
    """Returns an untrained autoencoder without attention and with one layer per block."""
    torch.manual_seed(seed)
    levels = len(shape.channels)
    # Diffusers declares these as one-element tuples.
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


@dataclass(frozen=True)
class AutoencoderTraining:
    """`freeze_encoder` trains only the decoder, so that existing latents stay valid.
    `feature_weight` weighs the features of a classifier, if there is one."""

    loop: LoopSettings
    batch_size: int = 16
    kl_weight: float = 1e-4
    gradient_weight: float = 1.0
    feature_weight: float = 0.0
    freeze_encoder: bool = False


def train_autoencoder(
    model: AutoencoderKL,
    pictures: PictureSource,
    held_out: list[Image.Image],
    settings: AutoencoderTraining,
    work_dir: Path,
    reporter: TrainingReporter,
    device_name: str = "auto",
    classifier: Classifier | None = None,
) -> bool:
    """Trains `model` in place and leaves it with its averaged weights.

    Every checkpoint is measured on the pictures `held_out` (`eval_psnr`, in dB, and `eval_features`
    by the `classifier`, which must be frozen and on the device). Returns False if it was stopped
    before the last step.
    """
    device = training_device(device_name)
    model.encoder.requires_grad_(not settings.freeze_encoder)
    training = Training(model, settings.loop, device)
    seed = settings.loop.seed
    evaluated = torch.from_numpy(to_array(held_out[:EVAL_PICTURES])).to(device)

    def compute_loss(step: int) -> tuple[Tensor, dict[str, Tensor]]:
        rng = np.random.default_rng((seed, step))
        batch = sent(torch.from_numpy(to_array(pictures.draw(rng, settings.batch_size))), device)
        seen = posterior(model, batch)
        noise = noise_like(seen.mean, step_generator(seed, step, device))
        reconstructed = decoded(model, seen.mean + seen.std * noise)
        absolute = F.l1_loss(reconstructed, batch)
        edges = edge_loss(reconstructed, batch)
        kl = seen.kl().mean() / seen.mean[0].numel()
        loss = absolute + settings.gradient_weight * edges + settings.kl_weight * kl
        values = {"l1": absolute, "edges": edges, "kl": kl}
        if classifier is not None:
            values["features"] = feature_loss(classifier, reconstructed, batch)
            loss = loss + settings.feature_weight * values["features"]
        return loss, values

    def evaluate(averaged: nn.Module, path: Path) -> tuple[Path, dict[str, float]]:
        assert isinstance(averaged, AutoencoderKL)
        with fast_arithmetic(device):
            reconstructed = decoded(averaged, posterior(averaged, evaluated).mean)
        samples = torch.cat([evaluated[:SAMPLE_PICTURES], reconstructed[:SAMPLE_PICTURES]])
        file = path.with_suffix(".png")
        grid(to_pictures(samples.cpu().numpy()), columns=SAMPLE_PICTURES).save(file)
        measured = {"eval_psnr": psnr(reconstructed, evaluated)}
        if classifier is not None:
            measured["eval_features"] = float(feature_loss(classifier, reconstructed, evaluated))
        return file, measured

    finished = run_loop(training, work_dir, reporter, compute_loss, evaluate)
    training.adopt_ema_weights()
    return finished


def edge_loss(reconstructed: Tensor, wanted: Tensor) -> Tensor:
    """Returns the mean absolute error of the differences between neighbours, which keeps lines
    sharp."""
    difference = reconstructed - wanted
    down = difference[..., 1:, :] - difference[..., :-1, :]
    across = difference[..., 1:] - difference[..., :-1]
    return down.abs().mean() + across.abs().mean()


def psnr(reconstructed: Tensor, wanted: Tensor) -> float:
    """Returns the mean peak signal-to-noise ratio in dB, for values in -1..1."""
    squared = (reconstructed.clamp(-1, 1) - wanted).square().flatten(1).mean(1)
    return float((10 * torch.log10(4 / squared.clamp_min(1e-10))).mean())


def export_autoencoder(model: AutoencoderKL, pictures: list[Image.Image], folder: Path) -> None:
    """Saves the model, with mean and spread of the latents of `pictures` as shift and scaling
    factor in its configuration."""
    batch = torch.from_numpy(to_array(pictures)).to(model.device)
    with torch.no_grad(), fast_arithmetic(model.device):
        latents = posterior(model, batch).mean.float()
    model.register_to_config(
        shift_factor=round(float(latents.mean()), 4),
        scaling_factor=round(1 / float(latents.std()), 4),
    )
    save_autoencoder(model, folder)


def save_autoencoder(model: AutoencoderKL, folder: Path) -> None:
    """Writes the model unchanged."""
    model.save_pretrained(folder)
    remove_local_paths(folder)
