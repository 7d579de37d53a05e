"""Training the parts of Paris: an expert on its cluster, the router on all clusters.

Every part is a run of its own. An expert knows nothing of the others, so the eight can be
trained on eight machines in any order; as Paris does, they start from one common model
(`initial`), which is trained the same way on all the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from PIL import Image
from torch import Tensor, nn

from ...image.autoencoder import decode_latents
from ...image.flow import follow_flow, guided_velocity, noised
from ...image.paris.model import Expert, Router
from ...image.pictures import grid, to_pictures
from ...image.training.bank import Bank
from ...image.training.device import fast_arithmetic, training_device
from ...image.training.draws import draw_rows, dropped, noise_like
from ...image.training.loop import LoopSettings, Training, run_loop, step_generator
from ...image.training.reporter import TrainingReporter
from ...image.training.times import EXAMINED_TIMES, SAMPLE_STEPS, logit_normal_times

EXAMINED_ROWS = 256
SAMPLE_GUIDANCE = 4.0


@dataclass(frozen=True)
class PartTraining:
    """Settings of one part. `text_dropout` is the share of examples that lose their caption, so
    that the model also learns to generate without one and guidance can compare the two. `compiled`
    needs a C++ compiler and a minute; then an expert of 20 million weights took 89 samples a second
    instead of 62 (two cores with AMX, batches of 128)."""

    loop: LoopSettings
    batch_size: int = 64
    text_dropout: float = 0.1
    compiled: bool = False


def train_expert(
    expert: Expert,
    bank: Bank,
    rows: np.ndarray,
    held_out_rows: np.ndarray,
    settings: PartTraining,
    sample_texts: Tensor,
    autoencoder: AutoencoderKL,
    work_dir: Path,
    reporter: TrainingReporter,
    device_name: str = "auto",
) -> bool:
    """Trains `expert` by flow matching on the bank's `rows` and leaves its averaged weights in it.

    `sample_texts` are the numbers of the texts that the sample grid shows. Returns False where it
    was asked to stop before the last step.
    """
    device = training_device(device_name)
    training = Training(expert, settings.loop, device)
    seed = settings.loop.seed
    near = bank.near(device)
    trained = torch.from_numpy(rows).to(near.device)
    prompts = near.states(sample_texts.to(near.device)).to(device)
    nothing = near.states(torch.zeros(1, dtype=torch.long, device=near.device)).to(device)
    examined = torch.from_numpy(held_out_rows[:EXAMINED_ROWS]).to(near.device)
    examined_text = near.states(near.text_of[examined]).to(device)
    examined_latents = near.latents[examined].float().to(device)
    trained_loss = torch.compile(flow_loss) if settings.compiled else flow_loss

    def loss_of_step(step: int) -> tuple[Tensor, dict[str, Tensor]]:
        generator = step_generator(seed, step, near.device)
        batch = draw_rows(trained, settings.batch_size, generator)
        texts = dropped(near.text_of[batch], settings.text_dropout, generator)
        latents = near.latents[batch].float().to(device)
        t = logit_normal_times(len(batch), generator).to(device)
        noise = noise_like(latents, generator)
        return trained_loss(expert, latents, noise, t, near.states(texts).to(device)), {}

    def examine(averaged: nn.Module) -> tuple[Image.Image, dict[str, float]]:
        assert isinstance(averaged, Expert)
        noise = noise_like(examined_latents, step_generator(seed, 0))
        with fast_arithmetic(device):
            losses = [
                flow_loss(
                    averaged, examined_latents, noise, torch.full((len(noise),), t), examined_text
                )
                for t in EXAMINED_TIMES
            ]
            latents = sample_latents(averaged, prompts, nothing, seed, device)
            decoded = decode_latents(autoencoder, latents)
        columns = max(1, round(len(prompts) ** 0.5))
        return grid(to_pictures(decoded.cpu().numpy()), columns), {
            "eval_loss": float(torch.stack(losses).mean())
        }

    finished = run_loop(training, work_dir, reporter, loss_of_step, examine)
    training.adopt_ema_weights()
    return finished


def flow_loss(expert: Expert, latents: Tensor, noise: Tensor, t: Tensor, text: Tensor) -> Tensor:
    """Mean squared error of the velocity `noise - latents` at the points of the straight paths."""
    t = t.to(latents.device)
    velocity = expert(noised(latents, noise, t), 1000 * t, text)
    return F.mse_loss(velocity.float(), noise - latents)


def sample_latents(
    expert: Expert, text: Tensor, nothing: Tensor, seed: int, device: torch.device
) -> Tensor:
    """One latent a prompt, by this expert alone, with the same noise every time. `nothing` are the
    states of the empty prompt, which guidance compares with."""
    shape = expert.shape
    size = (len(text), shape.latent_channels, shape.latent_side, shape.latent_side)
    noise = torch.randn(size, generator=torch.Generator().manual_seed(seed)).to(device)

    with_and_without = torch.cat([text, nothing.expand_as(text)])

    def of_both(latents: Tensor, t: Tensor) -> Tensor:
        return expert(latents, 1000 * t, with_and_without)

    return follow_flow(noise, SAMPLE_STEPS, guided_velocity(of_both, SAMPLE_GUIDANCE))


def train_router(
    router: Router,
    bank: Bank,
    clusters: np.ndarray,
    rows: np.ndarray,
    held_out_rows: np.ndarray,
    settings: PartTraining,
    work_dir: Path,
    reporter: TrainingReporter,
    device_name: str = "auto",
) -> bool:
    """Trains `router` to name the cluster of a noisy latent (cross-entropy over all times).

    Its sample sheet shows how sure it is: one row a time, from noise at the bottom to data at the
    top, one column a held-out picture, light where the right cluster has the probability.
    """
    device = training_device(device_name)
    training = Training(router, settings.loop, device)
    seed = settings.loop.seed
    near = bank.near(device)
    trained = torch.from_numpy(rows).to(near.device)
    labels = torch.from_numpy(clusters).to(near.device)
    examined = torch.from_numpy(held_out_rows[:EXAMINED_ROWS]).to(near.device)
    examined_latents = near.latents[examined].float().to(device)
    examined_labels = labels[examined].to(device)

    def loss_of_step(step: int) -> tuple[Tensor, dict[str, Tensor]]:
        generator = step_generator(seed, step, near.device)
        batch = draw_rows(trained, settings.batch_size, generator)
        latents = near.latents[batch].float().to(device)
        t = torch.rand(len(batch), generator=generator, device=near.device).to(device)
        noise = noise_like(latents, generator)
        logits = router(noised(latents, noise, t), 1000 * t).float()
        wanted = labels[batch].to(device)
        right = (logits.argmax(dim=1) == wanted).float().mean()
        return F.cross_entropy(logits, wanted), {"accuracy": right}

    def examine(averaged: nn.Module) -> tuple[Image.Image, dict[str, float]]:
        noise = noise_like(examined_latents, step_generator(seed, 0))
        measured: dict[str, float] = {}
        rows_of_sheet = []
        for t in EXAMINED_TIMES:
            with fast_arithmetic(device):
                times = torch.full((len(noise),), t, device=device)
                logits = averaged(noised(examined_latents, noise, times), 1000 * times)
            probabilities = logits.float().softmax(dim=1)
            right = (probabilities.argmax(dim=1) == examined_labels).float().mean()
            measured[f"eval_accuracy_at_{t:g}"] = float(right)
            rows_of_sheet.append(probabilities.gather(1, examined_labels[:, None]).flatten())
        shades = (255 * torch.stack(rows_of_sheet)).byte().cpu().numpy()
        return Image.fromarray(shades).resize(
            (4 * len(examined), 120), Image.Resampling.NEAREST
        ), measured

    finished = run_loop(training, work_dir, reporter, loss_of_step, examine)
    training.adopt_ema_weights()
    return finished
