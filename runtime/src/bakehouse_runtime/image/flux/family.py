"""The Flux family: the inputs and outputs of its transformer.

Latents are packed and positioned as in Diffusers' Flux pipelines, whose functions are private; a
test compares both.
"""

from __future__ import annotations

from typing import Any

import torch
from diffusers.loaders.lora_pipeline import FluxLoraLoaderMixin
from torch import Tensor, nn

from ..family import Family
from ..text import TextStates

# The default for a transformer with a distilled guidance.
DISTILLED_GUIDANCE = 2.5


def pack(latents: Tensor) -> Tensor:
    """Packs [n, channels, height, width] into tokens of 2 x 2 positions, [n, tokens, 4
    channels]."""
    count, channels, height, width = latents.shape
    blocks = latents.reshape(count, channels, height // 2, 2, width // 2, 2)
    return blocks.permute(0, 2, 4, 1, 3, 5).reshape(count, -1, channels * 4)


def unpack(tokens: Tensor, height: int, width: int) -> Tensor:
    """The inverse of `pack`, for latents of `height` x `width`."""
    blocks = tokens.reshape(len(tokens), height // 2, width // 2, -1, 2, 2)
    return blocks.permute(0, 3, 1, 4, 2, 5).reshape(len(tokens), -1, height, width)


def positions(height: int, width: int, picture: int, device: torch.device) -> Tensor:
    """Returns the positions of packed tokens: picture (0 generated, 1 condition), row, column."""
    rows, columns = torch.meshgrid(
        torch.arange(height // 2), torch.arange(width // 2), indexing="ij"
    )
    number = torch.full_like(rows, picture)
    return torch.stack([number, rows, columns], dim=-1).reshape(-1, 3).float().to(device)


class Flux(Family):
    """A transformer that reads token states and a pooled vector; the edited picture is added as
    further tokens."""

    name = "FLUX"
    sample_guidance = 2.5
    distilled_guidance = DISTILLED_GUIDANCE
    # Near pure noise little of the picture is left, so the model must learn to use the condition.
    time_shift = 3.0
    lora_loader = FluxLoraLoaderMixin

    @staticmethod
    def velocity(
        network: nn.Module,
        latents: Tensor,
        t: Tensor,
        text: TextStates,
        condition: Tensor | None = None,
        guidance: Tensor | None = None,
    ) -> Tensor:
        transformer: Any = network
        height, width = latents.shape[-2:]
        tokens, image_ids = pack(latents), positions(height, width, 0, latents.device)
        generated = tokens.shape[1]
        if condition is not None:
            tokens = torch.cat([tokens, pack(condition)], dim=1)
            condition_ids = positions(condition.shape[-2], condition.shape[-1], 1, latents.device)
            image_ids = torch.cat([image_ids, condition_ids])
        predicted = transformer(
            hidden_states=tokens,
            timestep=t,
            guidance=guidance if transformer.config["guidance_embeds"] else None,
            pooled_projections=text.pooled,
            encoder_hidden_states=text.tokens,
            txt_ids=torch.zeros(text.tokens.shape[1], 3, device=latents.device),
            img_ids=image_ids,
            return_dict=False,
        )[0]
        return unpack(predicted[:, :generated], height, width)
