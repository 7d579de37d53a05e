"""Training an autoencoder on pictures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from PIL import Image
from torch import Tensor, nn

from ...image.autoencoder import decoded, posterior
from ...image.pictures import grid, to_array, to_pictures
from ...image.training.device import fast_arithmetic, sent, training_device
from ...image.training.draws import noise_like
from ...image.training.loop import LoopSettings, Training, run_loop, step_generator
from ...image.training.reporter import TrainingReporter
from ...image.training.sources import PictureSource

EXAMINED_PICTURES = 64
SAMPLE_PICTURES = 16


@dataclass(frozen=True)
class AutoencoderTraining:
    """`freeze_encoder` polishes the decoder alone, so that latents made before stay valid."""

    loop: LoopSettings
    batch_size: int = 16
    kl_weight: float = 1e-4
    gradient_weight: float = 1.0
    freeze_encoder: bool = False


def train_autoencoder(
    model: AutoencoderKL,
    pictures: PictureSource,
    held_out: list[Image.Image],
    settings: AutoencoderTraining,
    work_dir: Path,
    reporter: TrainingReporter,
    device_name: str = "auto",
) -> bool:
    """Trains `model` in place and leaves it with its averaged weights.

    `held_out` are the pictures on which every checkpoint is measured (`eval_psnr`, in dB).
    Returns False where it was asked to stop before the last step.
    """
    device = training_device(device_name)
    model.encoder.requires_grad_(not settings.freeze_encoder)
    training = Training(model, settings.loop, device)
    seed = settings.loop.seed
    examined = torch.from_numpy(to_array(held_out[:EXAMINED_PICTURES])).to(device)

    def loss_of_step(step: int) -> tuple[Tensor, dict[str, Tensor]]:
        rng = np.random.default_rng((seed, step))
        batch = sent(torch.from_numpy(to_array(pictures.draw(rng, settings.batch_size))), device)
        seen = posterior(model, batch)
        noise = noise_like(seen.mean, step_generator(seed, step, device))
        reconstructed = decoded(model, seen.mean + seen.std * noise)
        absolute = F.l1_loss(reconstructed, batch)
        edges = edge_loss(reconstructed, batch)
        kl = seen.kl().mean() / seen.mean[0].numel()
        loss = absolute + settings.gradient_weight * edges + settings.kl_weight * kl
        return loss, {"l1": absolute, "edges": edges, "kl": kl}

    def examine(averaged: nn.Module) -> tuple[Image.Image, dict[str, float]]:
        assert isinstance(averaged, AutoencoderKL)
        with fast_arithmetic(device):
            reconstructed = decoded(averaged, posterior(averaged, examined).mean)
        samples = torch.cat([examined[:SAMPLE_PICTURES], reconstructed[:SAMPLE_PICTURES]])
        sheet = grid(to_pictures(samples.cpu().numpy()), columns=SAMPLE_PICTURES)
        return sheet, {"eval_psnr": psnr(reconstructed, examined)}

    finished = run_loop(training, work_dir, reporter, loss_of_step, examine)
    training.adopt_ema_weights()
    return finished


def edge_loss(reconstructed: Tensor, wanted: Tensor) -> Tensor:
    """Mean absolute difference of the differences between neighbours: it keeps lines sharp."""
    difference = reconstructed - wanted
    down = difference[..., 1:, :] - difference[..., :-1, :]
    across = difference[..., 1:] - difference[..., :-1]
    return down.abs().mean() + across.abs().mean()


def psnr(reconstructed: Tensor, wanted: Tensor) -> float:
    """Peak signal to noise ratio in dB, mean over the pictures, for values in -1..1."""
    squared = (reconstructed.clamp(-1, 1) - wanted).square().flatten(1).mean(1)
    return float((10 * torch.log10(4 / squared.clamp_min(1e-10))).mean())
