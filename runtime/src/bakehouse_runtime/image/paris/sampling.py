"""Routes between experts along the flow.

With experts trained on disjoint clusters of the data, the flow of all the data is u_t(x) = sum_k
p_t(k | x) u_t^k(x), where the router estimates p_t(k | x) (arXiv 2501.05450).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import torch
from PIL import Image
from torch import Tensor

from ..flow import time_steps
from ..sampling import Generated, Sampling

Strategy: TypeAlias = Literal["top1", "topk", "full"]
# (latents [n, ...], t in 0..1 [n], their rows in the batch, on the CPU) -> velocities.
ExpertVelocity: TypeAlias = Callable[[Tensor, Tensor, Tensor], Tensor]
# (latents, t) -> probabilities [n, experts].
RouterProbabilities: TypeAlias = Callable[[Tensor, Tensor], Tensor]

# Experts below this weight are not computed.
NEGLIGIBLE_WEIGHT = 1e-6


def expert_weights(probabilities: Tensor, strategy: Strategy, k: int) -> Tensor:
    """Returns the weight of each expert, [n, experts]; rows sum to 1.

    `top1` uses the most probable expert, `topk` the `k` most probable with renormalised
    probabilities, `full` all of them.
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
    """Returns the weighted sum of the experts' velocities; each expert only computes the rows that
    need it."""
    total = torch.zeros_like(latents)
    # Copied once rather than per expert, because the copy waits for the GPU.
    is_used = (weights > NEGLIGIBLE_WEIGHT).cpu()
    for index, expert in enumerate(experts):
        rows = is_used[:, index].nonzero().flatten()
        if len(rows) > 0:
            selected = rows.to(latents.device)
            share = weights[selected, index].reshape(-1, *[1] * (latents.dim() - 1))
            velocity = expert(latents[selected], t[selected], rows)
            total.index_add_(0, selected, share * velocity)
    return total


class RoutedSampling(Sampling):
    """A sampling with experts, and its routing at each step."""

    def __init__(self, noise: Tensor, steps: int, strategy: Strategy, k: int) -> None:
        super().__init__(noise, time_steps(steps))
        self.strategy: Strategy = strategy
        self.k = k
        self._weights: list[list[float]] = []
        self._confidences: list[float] = []

    @property
    def expert_weights(self) -> list[float]:
        """Returns the weight of each expert at the last step."""
        return self._weights[-1]

    @property
    def expert_used(self) -> int:
        """Returns the expert with the greatest total weight over the steps."""
        usage = [sum(of_one) for of_one in zip(*self._weights, strict=True)]
        return usage.index(max(usage))

    @property
    def routing_confidence(self) -> float:
        """Returns the mean over the steps of the greatest probability."""
        return sum(self._confidences) / len(self._confidences)

    def record_routing(self, weights: list[float], confidence: float) -> None:
        """Records the weight of each expert at a step, and the greatest probability."""
        self._weights.append(weights)
        self._confidences.append(confidence)

    def generated(self, media: Image.Image) -> Generated:
        return Generated(media, self.expert_used, self.routing_confidence)


def routed_velocity(
    samplings: Sequence[RoutedSampling],
    latents: Tensor,
    now: Tensor,
    router: RouterProbabilities,
    experts: Sequence[ExpertVelocity],
) -> Tensor:
    """Returns the velocities of a batch, each with the experts of its own settings; records the
    routing in every sampling."""
    probabilities = router(latents, now)
    weights = torch.cat(
        [
            expert_weights(row, sampling.strategy, sampling.k)
            for row, sampling in zip(probabilities.split(1), samplings, strict=True)
        ]
    )
    velocity = mixed_velocity(latents, now, weights, experts)
    shares, confidences = weights.tolist(), probabilities.amax(dim=-1).tolist()
    for row, sampling in enumerate(samplings):
        sampling.record_routing(shares[row], confidences[row])
    return velocity
