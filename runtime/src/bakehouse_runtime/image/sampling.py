"""The state of pictures and videos during sampling, and the step of a batch."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .flow import euler_step, predicted_data


@dataclass(frozen=True)
class Generated:
    """A result; for a model with experts, the expert with the greatest weight and the mean of the
    router's greatest probabilities."""

    # A picture, or a `Video` for video models.
    media: Any
    expert_used: int | None = None
    routing_confidence: float | None = None


class Sampling:
    """One request during sampling, from noise at the first of its times to data at the last."""

    def __init__(self, noise: Tensor, times: Sequence[float]) -> None:
        self.latents = noise
        # The predicted result: the end of the flow if it continued in a straight line from the last
        # step.
        self.predicted = noise
        self.steps_done = 0
        self._times = times

    @property
    def is_done(self) -> bool:
        return self.steps_done == len(self._times) - 1

    @property
    def now(self) -> float:
        """Returns its current time, from 1 (noise) to 0 (data)."""
        return self._times[self.steps_done]

    @property
    def after(self) -> float:
        """Returns the time after its next step."""
        return self._times[self.steps_done + 1]

    @property
    def batch_key(self) -> Hashable:
        """Only samplings with equal keys can share a batch."""
        return self.latents.shape

    @property
    def expert_weights(self) -> list[float] | None:
        """Returns the weight of each expert at the last step; None for a model without experts."""
        return None

    def advance(self, latents: Tensor, predicted: Tensor) -> None:
        """Applies the result of a step."""
        self.latents, self.predicted = latents, predicted
        self.steps_done += 1

    def generated(self, media: Any) -> Generated:
        """Returns the result, once it is done and decoded."""
        return Generated(media)


def advance_batch(
    samplings: Sequence[Sampling], velocity: Callable[[Tensor, Tensor], Tensor]
) -> None:
    """Advances each sampling of a batch by one step; samplings may be at different times.
    `velocity` receives their latents and times, [n]."""
    latents = torch.stack([sampling.latents for sampling in samplings])
    times = [[sampling.now, sampling.after] for sampling in samplings]
    now, after = torch.tensor(times, dtype=latents.dtype, device=latents.device).unbind(dim=1)
    velocities = velocity(latents, now)
    moved = euler_step(latents, velocities, now, after)
    predicted = predicted_data(latents, velocities, now)
    for row, sampling in enumerate(samplings):
        sampling.advance(moved[row], predicted[row])
