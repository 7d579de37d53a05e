"""Variants of the trained Paris for comparison: without its routing, without its training, or with
a single expert."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from bakehouse_runtime.image.paris.model import Expert, Router
from bakehouse_runtime.image.paris.pipeline import ParisPipeline
from bakehouse_runtime.image.paris.weights import load_expert

# Large enough for one expert to have all the weight.
CERTAIN = 1000.0


class RandomRouter(Router):
    """Routes every picture to a random expert at each step; deterministic for a given batch."""

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
    """Uses one of the experts for everything."""
    return _everywhere(paris, paris.experts[number])


def base_alone(paris: ParisPipeline, base: Path) -> ParisPipeline:
    """Uses the model that the experts were trained from for everything."""
    return _everywhere(paris, load_expert(base).to(paris.experts[0].pos_embed.dtype))


def variants(base: Path) -> dict[str, Callable[[ParisPipeline], ParisPipeline]]:
    """Returns the variants by the name of their figures; `base` is the folder of the model that the
    experts were trained from."""
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
