"""Which times of the flow are trained on, which are measured at, and how many a sample takes."""

from __future__ import annotations

import torch
from diffusers.training_utils import compute_density_for_timestep_sampling
from torch import Tensor

# At which the held-out part is measured, the same for every row of the noise.
EXAMINED_TIMES = (0.1, 0.3, 0.5, 0.7, 0.9)
# Of a picture on a sample sheet.
SAMPLE_STEPS = 20


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
