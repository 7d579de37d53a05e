"""How Paris draws: routing among experts along the flow.

With experts trained on disjoint clusters of the data, the flow of all the data is
    u_t(x) = sum_k p_t(k | x) u_t^k(x)
where p_t(k | x) is what the router estimates (arXiv 2501.05450).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from ..flow import euler_step, predicted_data, time_steps

Strategy: TypeAlias = Literal["top1", "topk", "full"]
# (latents [n, ...], t in 0..1 [n], rows of the batch that they are, on the CPU) -> velocities.
ExpertVelocity: TypeAlias = Callable[[Tensor, Tensor, Tensor], Tensor]
# (latents, t) -> probabilities [n, experts].
RouterProbabilities: TypeAlias = Callable[[Tensor, Tensor], Tensor]

# An expert of less weight than this is not asked.
NEGLIGIBLE_WEIGHT = 1e-6


def expert_weights(probabilities: Tensor, strategy: Strategy, k: int) -> Tensor:
    """The weight of each expert, [n, experts], rows summing to 1.

    `top1` takes the most probable expert, `topk` the `k` most probable with their probabilities
    renormalised, `full` all of them.
    """
    if strategy == "full":
        return probabilities
    kept = 1 if strategy == "top1" else min(k, probabilities.shape[-1])
    values, indices = probabilities.topk(kept, dim=-1)
    shares = values / values.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probabilities).scatter(-1, indices, shares)


def mixed_velocity(
    latents: Tensor, t: Tensor, weights: Tensor, experts: Sequence[ExpertVelocity]
) -> Tensor:
    """The weighted sum of the experts' velocities; each expert sees only the rows that need it."""
    total = torch.zeros_like(latents)
    # Asked once, not once an expert: the answer waits for a GPU.
    asked = (weights > NEGLIGIBLE_WEIGHT).cpu()
    for index, expert in enumerate(experts):
        rows = asked[:, index].nonzero().flatten()
        if len(rows) > 0:
            here = rows.to(latents.device)
            share = weights[here, index].reshape(-1, *[1] * (latents.dim() - 1))
            velocity = expert(latents[here], t[here], rows)
            total.index_add_(0, here, share * velocity)
    return total


class Drawing:
    """One picture on its way along the flow, and what the router did for it so far."""

    def __init__(self, noise: Tensor, steps: int, strategy: Strategy, k: int) -> None:
        self.latents = noise
        # Where the flow would lead if it went straight on from the last step.
        self.predicted = noise
        self.strategy: Strategy = strategy
        self.k = k
        self.steps_done = 0
        self._times = time_steps(steps)
        self._weights: list[list[float]] = []
        self._confidences: list[float] = []

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
    def expert_weights(self) -> list[float]:
        """Of each expert at the last step."""
        return self._weights[-1]

    @property
    def expert_used(self) -> int:
        """The expert of the greatest weight over the steps."""
        usage = [sum(of_one) for of_one in zip(*self._weights, strict=True)]
        return usage.index(max(usage))

    @property
    def routing_confidence(self) -> float:
        """The mean over the steps of the greatest probability."""
        return sum(self._confidences) / len(self._confidences)

    def advance(
        self, latents: Tensor, predicted: Tensor, weights: list[float], confidence: float
    ) -> None:
        """Takes in what a step has brought."""
        self.latents, self.predicted = latents, predicted
        self.steps_done += 1
        self._weights.append(weights)
        self._confidences.append(confidence)


def take_step(
    drawings: Sequence[Drawing], router: RouterProbabilities, experts: Sequence[ExpertVelocity]
) -> None:
    """Takes each drawing one step on along its own flow: they need not be equally far, nor have
    the same settings."""
    latents = torch.stack([drawing.latents for drawing in drawings])
    times = [[drawing.now, drawing.after] for drawing in drawings]
    now, after = torch.tensor(times, dtype=latents.dtype, device=latents.device).unbind(dim=1)
    probabilities = router(latents, now)
    weights = torch.cat(
        [
            expert_weights(row, drawing.strategy, drawing.k)
            for row, drawing in zip(probabilities.split(1), drawings, strict=True)
        ]
    )
    velocity = mixed_velocity(latents, now, weights, experts)
    moved = euler_step(latents, velocity, now, after)
    predicted = predicted_data(latents, velocity, now)
    shares, confidences = weights.tolist(), probabilities.amax(dim=-1).tolist()
    for row, drawing in enumerate(drawings):
        drawing.advance(moved[row], predicted[row], shares[row], confidences[row])
