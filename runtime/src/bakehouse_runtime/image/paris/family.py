"""The Paris family: each expert, and the model that all experts start from, is a network."""

from __future__ import annotations

from torch import Tensor, nn

from ..family import Family
from ..text import TextStates


class Paris(Family):
    """An expert reads only token states and a time in 0..1000."""

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
