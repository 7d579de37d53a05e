"""The random choices of a training step, all from one generator and on its device."""

from __future__ import annotations

import torch
from diffusers.training_utils import compute_density_for_timestep_sampling
from torch import Tensor


def draw_rows(rows: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Draws `count` of the rows with replacement."""
    return rows[torch.randint(len(rows), (count,), generator=generator, device=generator.device)]


def dropped(texts: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Replaces a `share` of the text numbers by the empty text."""
    chances = torch.rand(len(texts), generator=generator, device=generator.device)
    return texts.masked_fill(chances < share, 0)


def noise_like(latents: Tensor, generator: torch.Generator) -> Tensor:
    """Returns noise in the shape of the latents and on their device."""
    noise = torch.randn(latents.shape, generator=generator, device=generator.device)
    return noise.to(latents.device)


def logit_normal_times(count: int, generator: torch.Generator) -> Tensor:
    """Draws training times on the generator's device: more in the middle of the flow, which
    determines the picture (Esser et al. 2024, arXiv 2403.03206)."""
    return compute_density_for_timestep_sampling(
        "logit_normal",
        count,
        logit_mean=0.0,
        logit_std=1.0,
        device=generator.device,
        generator=generator,
    )
