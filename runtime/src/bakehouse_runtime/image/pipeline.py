"""Sampling with any family: several requests at once, a step at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

import torch
from PIL import Image
from torch import Tensor

from .family import Family
from .residency import CPU, free_cache
from .sampling import Generated, Sampling, take_step

Request = TypeVar("Request")
Ongoing = TypeVar("Ongoing", bound=Sampling)


class Pipeline(ABC, Generic[Request, Ongoing]):
    """A model whose requests join and leave between two steps. What is generated depends on its
    own request alone, not on the rest of the batch.

    `prepared` may be called from any thread; all else is for the thread that computes.
    """

    # What it makes, in a word.
    medium = "picture"

    def __init__(self, family: Family, device: torch.device) -> None:
        self.family = family
        self.device = device
        family.prepare_sampling(device)
        self._is_offloaded = False

    def generate(self, requests: Sequence[Request]) -> list[Generated]:
        """Generates all requests at once."""
        samplings = [self.begin(request) for request in requests]
        while ongoing := [sampling for sampling in samplings if not sampling.is_done]:
            self.step(ongoing)
        return self.finish(samplings)

    def prepared(self, request: Request) -> Request:
        """The request, small enough to wait."""
        return request

    def begin(self, request: Request) -> Ongoing:
        """A sampling before its first step. Raises PlainError for a request that the model cannot
        generate."""
        if self._is_offloaded:
            self._onload()
            self._is_offloaded = False
        return self._begin(self.prepared(request))

    @torch.no_grad()
    def step(self, samplings: Sequence[Ongoing]) -> None:
        """Takes each sampling one step on."""
        batches: defaultdict[Hashable, list[Ongoing]] = defaultdict(list)
        for sampling in samplings:
            batches[sampling.batch_key].append(sampling)
        for batch in batches.values():
            take_step(batch, lambda latents, now, batch=batch: self._velocity(batch, latents, now))

    def finish(self, samplings: Sequence[Ongoing]) -> list[Generated]:
        """What samplings that are done have become. Raises PlainError for values that are not
        numbers."""
        return [
            sampling.generated(self.family.decode(sampling.latents[None])[0])
            for sampling in samplings
        ]

    def preview(self, sampling: Ongoing) -> Image.Image:
        """What a sampling's current step predicts, at half its size or less."""
        return self.family.preview(sampling.predicted)

    def offload(self) -> None:
        """Leaves the device, as far as it is worth it, until the next request begins."""
        self._offload()
        free_cache(self.device)
        self._is_offloaded = True

    @abstractmethod
    def _begin(self, request: Request) -> Ongoing: ...

    @abstractmethod
    def _velocity(self, batch: Sequence[Ongoing], latents: Tensor, now: Tensor) -> Tensor:
        """The velocities of a batch, with the guidance of each; in float32."""

    def _offload(self) -> None:
        self.family.to(CPU)

    def _onload(self) -> None:
        self.family.to(self.device)
