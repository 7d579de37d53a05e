"""Measures whether experts specialise: the loss of each on its own cluster and on the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from bakehouse_runtime.image.flow import noised
from bakehouse_runtime.image.paris.model import Expert
from bakehouse_runtime.image.training.latent_cache import LatentCache
from bakehouse_runtime.image.training.loop import step_generator
from bakehouse_runtime.image.training.random_draws import noise_like
from bakehouse_runtime.train.diffusion.train import EVAL_TIMES

SEED = 1
ROWS_AT_ONCE = 64


def cluster_losses(
    experts: Sequence[Expert],
    base: Expert,
    cache: LatentCache,
    clusters: np.ndarray,
    rows: np.ndarray,
) -> dict[str, float]:
    """Returns the mean squared error of each expert's velocity, in float32, on the `rows` of its
    own cluster and on the other rows, and the base's error on the same own rows. `clusters` has the
    expert number of every row of the cache. All use the same noise."""
    held = torch.from_numpy(rows)
    own = torch.from_numpy(clusters[rows])
    of_base = _losses(base, cache, held)
    figures: dict[str, float] = {}
    for number, expert in enumerate(experts):
        losses, mine = _losses(expert, cache, held), own == number
        figures[f"expert_{number}_loss_own"] = float(losses[mine].mean())
        figures[f"expert_{number}_loss_others"] = float(losses[~mine].mean())
        figures[f"expert_{number}_loss_of_base"] = float(of_base[mine].mean())
    return figures


@torch.no_grad()
def _losses(expert: Expert, cache: LatentCache, rows: torch.Tensor) -> torch.Tensor:
    """Returns the loss of each row, averaged over the evaluation times of trainings."""
    noise = noise_like(cache.latents[rows].float(), step_generator(SEED, 0))
    losses = []
    for part, drawn in zip(rows.split(ROWS_AT_ONCE), noise.split(ROWS_AT_ONCE), strict=True):
        latents, text = cache.latents[part].float(), cache.text(cache.text_of[part]).tokens
        errors = []
        for time in EVAL_TIMES:
            t = torch.full((len(part),), time)
            velocity = expert(noised(latents, drawn, t), 1000 * t, text)
            errors.append((velocity - (drawn - latents)).square().flatten(1).mean(dim=1))
        losses.append(torch.stack(errors).mean(dim=0))
    return torch.cat(losses)
