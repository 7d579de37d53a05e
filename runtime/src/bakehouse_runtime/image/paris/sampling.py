"""How Paris draws: routing among experts along the flow.

With experts trained on disjoint clusters of the data, the flow of all the data is
    u_t(x) = sum_k p_t(k | x) u_t^k(x)
where p_t(k | x) is what the router estimates (arXiv 2501.05450).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from ..flow import follow_flow

Strategy: TypeAlias = Literal["top1", "topk", "full"]
# (latents [n, ...], t in 0..1 [n], rows of the batch that the latents are) -> velocities.
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
    for index, expert in enumerate(experts):
        rows = (weights[:, index] > NEGLIGIBLE_WEIGHT).nonzero().flatten()
        if len(rows) > 0:
            share = weights[rows, index].reshape(-1, *[1] * (latents.dim() - 1))
            velocity = expert(latents[rows], t[rows], rows)
            total.index_add_(0, rows, share * velocity)
    return total


@dataclass(frozen=True)
class RoutingTrace:
    """What the router did for each picture: its most used expert, and the mean over the steps of
    the greatest probability."""

    expert_used: list[int]
    confidence: list[float]


def sample(
    noise: Tensor,
    steps: int,
    router: RouterProbabilities,
    experts: Sequence[ExpertVelocity],
    strategy: Strategy,
    k: int,
    on_step: Callable[[int, Tensor, Tensor], bool] | None = None,
) -> tuple[Tensor, RoutingTrace]:
    """Follows the flow from `noise` to data.

    After each step `on_step(number, latents, weights)` may return False to stop early.
    """
    confidences: list[Tensor] = []
    all_weights: list[Tensor] = []

    def velocity(latents: Tensor, t: Tensor) -> Tensor:
        probabilities = router(latents, t)
        confidences.append(probabilities.amax(dim=-1))
        all_weights.append(expert_weights(probabilities, strategy, k))
        return mixed_velocity(latents, t, all_weights[-1], experts)

    def report(number: int, latents: Tensor) -> bool:
        return on_step is None or on_step(number, latents, all_weights[-1])

    latents = follow_flow(noise, steps, velocity, report)
    usage = torch.stack(all_weights).sum(dim=0)
    confidence = torch.stack(confidences).mean(dim=0)
    return latents, RoutingTrace(usage.argmax(dim=-1).tolist(), confidence.tolist())
