"""What a training step draws at random, all from one generator and on its device."""

from __future__ import annotations

import torch
from diffusers.training_utils import compute_density_for_timestep_sampling
from torch import Tensor


def draw_rows(rows: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """`count` of the rows; one may come up twice."""
    return rows[torch.randint(len(rows), (count,), generator=generator, device=generator.device)]


def dropped(texts: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """The numbers of texts, this share of them that of the empty one."""
    chances = torch.rand(len(texts), generator=generator, device=generator.device)
    return texts.masked_fill(chances < share, 0)


def noise_like(latents: Tensor, generator: torch.Generator) -> Tensor:
    """Noise for latents, where they are."""
    noise = torch.randn(latents.shape, generator=generator, device=generator.device)
    return noise.to(latents.device)


def logit_normal_times(count: int, generator: torch.Generator) -> Tensor:
    """Times for training, on the generator's device: more in the middle of the flow, where the
    picture is decided (Esser et al. 2024, arXiv 2403.03206)."""
    return compute_density_for_timestep_sampling(
        "logit_normal",
        count,
        logit_mean=0.0,
        logit_std=1.0,
        device=generator.device,
        generator=generator,
    )
