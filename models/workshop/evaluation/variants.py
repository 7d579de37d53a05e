"""Parises that a measure compares the trained one with: what would it draw without its routing,
without its training, or without its experts being eight?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from bakehouse_runtime.image.paris.model import Expert, Router
from bakehouse_runtime.image.paris.pipeline import ParisPipeline
from bakehouse_runtime.image.paris.weights import load_expert

# Far enough apart for one expert to have all the weight.
CERTAIN = 1000.0


class RandomRouter(Router):
    """Sends every picture to any expert at each step; of pictures that are drawn together the same
    ones in every run."""

    def forward(self, latent: Tensor, time: Tensor) -> Tensor:
        generator = torch.Generator().manual_seed(round(float(time[0])))
        drawn = torch.rand(len(latent), self.shape.experts, generator=generator)
        return (CERTAIN * drawn).to(latent.device)


def untrained(paris: ParisPipeline) -> ParisPipeline:
    """The floor: the same shapes with random weights."""
    experts = []
    for number, trained in enumerate(paris.experts):
        expert = Expert(trained.shape)
        expert.initialise(number)
        experts.append(expert)
    router = Router(paris.router.shape)
    router.initialise(0)
    return _changed(paris, experts, router)


def routed_at_random(paris: ParisPipeline) -> ParisPipeline:
    return _changed(paris, paris.experts, RandomRouter(paris.router.shape))


def one_expert(paris: ParisPipeline, number: int) -> ParisPipeline:
    """One of the experts in all places."""
    return _everywhere(paris, paris.experts[number])


def base_alone(paris: ParisPipeline, base: Path) -> ParisPipeline:
    """The model that the experts were trained from in all places."""
    return _everywhere(paris, load_expert(base).to(paris.experts[0].pos_embed.dtype))


def variants(base: Path) -> dict[str, Callable[[ParisPipeline], ParisPipeline]]:
    """What is drawn beside the trained model, by the name of its figures; `base` is the folder of
    what its experts were trained from."""
    return {
        "untrained": untrained,
        "random_routing": routed_at_random,
        "expert_0": lambda paris: one_expert(paris, 0),
        "base": lambda paris: base_alone(paris, base),
    }


def _everywhere(paris: ParisPipeline, expert: Expert) -> ParisPipeline:
    return _changed(paris, [expert] * len(paris.experts), paris.router)


def _changed(paris: ParisPipeline, experts: Sequence[Expert], router: Router) -> ParisPipeline:
    return ParisPipeline(
        experts,
        router,
        paris.family.autoencoder,
        paris.family.text_encoder,
        paris.device,
        paris.guidance_interval,
        paris.defaults,
    )
