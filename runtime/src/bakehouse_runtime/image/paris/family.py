"""Paris as a family: each expert, and the model that all of them start from, is a network."""

from __future__ import annotations

from torch import Tensor, nn

from ..family import Family
from ..text import TextStates


class Paris(Family):
    """An expert reads token states and a time in 0..1000, and nothing else."""

    name = "Paris"
    sample_guidance = 4.0

    @staticmethod
    def velocity(
        network: nn.Module,
        latents: Tensor,
        t: Tensor,
        text: TextStates,
        condition: Tensor | None = None,
        guidance: Tensor | None = None,
    ) -> Tensor:
        return network(latents, 1000 * t, text.tokens)
