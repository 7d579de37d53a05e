"""Pictures and films between noise and data, and the step that several of them take together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .flow import euler_step, predicted_data


@dataclass(frozen=True)
class Generated:
    """What was generated; where experts generated it, the one that had most weight, and the mean
    of the router's greatest probabilities."""

    # A picture, or of a model of films a `Film`.
    media: Any
    expert_used: int | None = None
    routing_confidence: float | None = None


class Sampling:
    """One request that is being sampled: from noise at the first of its times to data at the
    last."""

    def __init__(self, noise: Tensor, times: Sequence[float]) -> None:
        self.latents = noise
        # Where the flow would lead if it went straight on from the last step.
        self.predicted = noise
        self.steps_done = 0
        self._times = times

    @property
    def is_done(self) -> bool:
        return self.steps_done == len(self._times) - 1

    @property
    def now(self) -> float:
        """The time at which it is, from 1 (noise) to 0 (data)."""
        return self._times[self.steps_done]

    @property
    def after(self) -> float:
        """The time after its next step."""
        return self._times[self.steps_done + 1]

    @property
    def batch_key(self) -> Hashable:
        """Only samplings of one key can be computed in one batch."""
        return self.latents.shape

    @property
    def expert_weights(self) -> list[float] | None:
        """Of each expert at the last step; None for a model without."""
        return None

    def advance(self, latents: Tensor, predicted: Tensor) -> None:
        """Takes in what a step has brought."""
        self.latents, self.predicted = latents, predicted
        self.steps_done += 1

    def generated(self, media: Any) -> Generated:
        """The result, once it is done and decoded."""
        return Generated(media)


def take_step(samplings: Sequence[Sampling], velocity: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Takes each sampling of a batch one step on along its own flow: they need not be equally far.
    `velocity` gets their latents and times, [n]."""
    latents = torch.stack([sampling.latents for sampling in samplings])
    times = [[sampling.now, sampling.after] for sampling in samplings]
    now, after = torch.tensor(times, dtype=latents.dtype, device=latents.device).unbind(dim=1)
    velocities = velocity(latents, now)
    moved = euler_step(latents, velocities, now, after)
    predicted = predicted_data(latents, velocities, now)
    for row, sampling in enumerate(samplings):
        sampling.advance(moved[row], predicted[row])
