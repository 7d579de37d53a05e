"""A picture between noise and data."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor


class Sampling:
    """One picture that is being sampled: from noise at the first of its times to data at the
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

    def advance(self, latents: Tensor, predicted: Tensor) -> None:
        """Takes in what a step has brought."""
        self.latents, self.predicted = latents, predicted
        self.steps_done += 1
