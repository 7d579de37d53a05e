"""Follows a flow from noise to data, with guidance.

Convention: x_t = (1 - t) data + t noise, velocity = noise - data, from t = 1 (noise) to t = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import torch
from torch import Tensor

# (latents [n, ...], t in 0..1 [n]) -> velocities.
Velocity: TypeAlias = Callable[[Tensor, Tensor], Tensor]


def noised(data: Tensor, noise: Tensor, t: Tensor) -> Tensor:
    """Returns the points at the times `t`, [n], of the straight paths from `data` to `noise`, [n,
    ...]."""
    share = t.reshape(-1, *(1 for _ in data.shape[1:]))
    return (1 - share) * data + share * noise


def predicted_data(latents: Tensor, velocity: Tensor, t: Tensor) -> Tensor:
    """Returns the ends of the straight paths through `latents` at the times `t`, [n]."""
    return latents - t.reshape(-1, *(1 for _ in latents.shape[1:])) * velocity


def guided(conditional: Tensor, unconditional: Tensor, scale: float | Tensor) -> Tensor:
    """Classifier-free guidance: moves away from the prediction without the prompt."""
    return unconditional + scale * (conditional - unconditional)


def guided_velocity(velocity: Velocity, scale: float) -> Velocity:
    """Wraps a velocity that receives every row twice: with its prompt, then without."""

    def guided_at(latents: Tensor, t: Tensor) -> Tensor:
        both = velocity(torch.cat([latents, latents]), torch.cat([t, t])).float()
        conditional, unconditional = both.chunk(2)
        return guided(conditional, unconditional, scale)

    return guided_at


def time_steps(steps: int) -> list[float]:
    """Returns the times of `steps` Euler steps and the end, as Diffusers'
    `FlowMatchEulerDiscreteScheduler(num_train_timesteps=1000, shift=1)`."""
    return [*torch.linspace(1.0, 0.001, steps, dtype=torch.float64).tolist(), 0.0]


def euler_step(latents: Tensor, velocity: Tensor, now: Tensor, after: Tensor) -> Tensor:
    """Moves each row from its own time to its next time, both [n]."""
    return latents + (after - now).reshape(-1, *(1 for _ in latents.shape[1:])) * velocity


def follow_flow(noise: Tensor, steps: int, velocity: Velocity) -> Tensor:
    """Returns data after Euler steps from `noise`."""
    latents = noise
    for now, after in pairwise(time_steps(steps)):
        t = torch.full((len(latents),), now, device=latents.device)
        latents = euler_step(latents, velocity(latents, t), t, torch.full_like(t, after))
    return latents
