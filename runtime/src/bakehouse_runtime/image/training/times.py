"""Which times of the flow are trained on."""

from __future__ import annotations

import torch
from diffusers.training_utils import compute_density_for_timestep_sampling
from torch import Tensor


def middle_times(count: int, generator: torch.Generator) -> Tensor:
    """Times for training, on the generator's device: more in the middle of the flow, where the
    picture is decided."""
    return compute_density_for_timestep_sampling(
        "logit_normal",
        count,
        logit_mean=0.0,
        logit_std=1.0,
        device=generator.device,
        generator=generator,
    )
