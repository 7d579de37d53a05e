"""What a step draws at random, all from one generator and on its device."""

from __future__ import annotations

import torch
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
