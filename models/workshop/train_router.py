"""Trains the router of a Paris on the clusters of all its experts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor, nn

from bakehouse_runtime.image.flow import noised
from bakehouse_runtime.image.paris.model import Router
from bakehouse_runtime.image.training.device import fast_arithmetic, training_device
from bakehouse_runtime.image.training.latent_cache import LatentCache
from bakehouse_runtime.image.training.loop import (
    LoopSettings,
    Training,
    TrainingReporter,
    run_loop,
    step_generator,
)
from bakehouse_runtime.image.training.random_draws import draw_rows, noise_like
from bakehouse_runtime.train.diffusion.train import EVAL_TIMES

EVAL_ROWS = 256


def train_router(
    router: Router,
    latents: LatentCache,
    clusters: np.ndarray,
    rows: np.ndarray,
    held_out_rows: np.ndarray,
    settings: LoopSettings,
    batch_size: int,
    work_dir: Path,
    reporter: TrainingReporter,
    device_name: str = "auto",
) -> bool:
    """Trains `router` to predict the cluster of a noisy latent (cross-entropy over all times).

    The sample sheet shows its confidence: one row per time, from noise at the bottom to data at the
    top, one column per held-out picture, brighter with the probability of the right cluster.
    """
    device = training_device(device_name)
    training = Training(router, settings, device)
    seed = settings.seed
    cache = latents.to(device)
    trained = torch.from_numpy(rows).to(cache.device)
    labels = torch.from_numpy(clusters).to(cache.device)
    evaluated = torch.from_numpy(held_out_rows[:EVAL_ROWS]).to(cache.device)
    evaluated_latents = cache.latents[evaluated].float().to(device)
    evaluated_labels = labels[evaluated].to(device)

    def compute_loss(step: int) -> tuple[Tensor, dict[str, Tensor]]:
        generator = step_generator(seed, step, cache.device)
        batch = draw_rows(trained, batch_size, generator)
        sampled = cache.latents[batch].float().to(device)
        t = torch.rand(len(batch), generator=generator, device=cache.device).to(device)
        noise = noise_like(sampled, generator)
        logits = router(noised(sampled, noise, t), 1000 * t).float()
        wanted = labels[batch].to(device)
        right = (logits.argmax(dim=1) == wanted).float().mean()
        return F.cross_entropy(logits, wanted), {"accuracy": right}

    def evaluate(averaged: nn.Module, path: Path) -> tuple[Path, dict[str, float]]:
        noise = noise_like(evaluated_latents, step_generator(seed, 0))
        measured: dict[str, float] = {}
        rows_of_sheet = []
        for t in EVAL_TIMES:
            with fast_arithmetic(device):
                times = torch.full((len(noise),), t, device=device)
                logits = averaged(noised(evaluated_latents, noise, times), 1000 * times)
            probabilities = logits.float().softmax(dim=1)
            right = (probabilities.argmax(dim=1) == evaluated_labels).float().mean()
            measured[f"eval_accuracy_at_{t:g}"] = float(right)
            rows_of_sheet.append(probabilities.gather(1, evaluated_labels[:, None]).flatten())
        shades = (255 * torch.stack(rows_of_sheet)).byte().cpu().numpy()
        size = 4 * len(evaluated), 120
        file = path.with_suffix(".png")
        Image.fromarray(shades).resize(size, Image.Resampling.NEAREST).save(file)
        return file, measured

    finished = run_loop(training, work_dir, reporter, compute_loss, evaluate)
    training.adopt_ema_weights()
    return finished
