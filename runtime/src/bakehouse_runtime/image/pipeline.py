"""Samples several requests of any family concurrently, one step at a time."""

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
from .sampling import Generated, Sampling, advance_batch

Request = TypeVar("Request")
Ongoing = TypeVar("Ongoing", bound=Sampling)


class Pipeline(ABC, Generic[Request, Ongoing]):
    """A model whose requests join and leave between two steps. A result depends only on its own
    request, not on the rest of the batch.

    `prepared` may be called from any thread; everything else only from the thread that computes.
    """

    # The kind of media that it generates.
    medium = "picture"

    def __init__(self, family: Family, device: torch.device) -> None:
        self.family = family
        self.device = device
        family.prepare_sampling(device)
        self._is_offloaded = False

    def generate(self, requests: Sequence[Request]) -> list[Generated]:
        """Generates all requests together."""
        samplings = [self.begin(request) for request in requests]
        while ongoing := [sampling for sampling in samplings if not sampling.is_done]:
            self.step(ongoing)
        return self.finish(samplings)

    def prepared(self, request: Request) -> Request:
        """Returns the request in a form that is small enough to queue."""
        return request

    def begin(self, request: Request) -> Ongoing:
        """Returns a sampling before its first step. Raises PlainError for a request that the model
        cannot generate."""
        if self._is_offloaded:
            self._onload()
            self._is_offloaded = False
        return self._begin(self.prepared(request))

    @torch.no_grad()
    def step(self, samplings: Sequence[Ongoing]) -> None:
        """Advances each sampling by one step."""
        batches: defaultdict[Hashable, list[Ongoing]] = defaultdict(list)
        for sampling in samplings:
            batches[sampling.batch_key].append(sampling)
        for batch in batches.values():
            advance_batch(
                batch, lambda latents, now, batch=batch: self._velocity(batch, latents, now)
            )

    def finish(self, samplings: Sequence[Ongoing]) -> list[Generated]:
        """Returns the results of finished samplings. Raises PlainError for values that are not
        finite."""
        return [
            sampling.generated(self.family.decode(sampling.latents[None])[0])
            for sampling in samplings
        ]

    def preview(self, sampling: Ongoing) -> Image.Image:
        """Returns a preview of a sampling's predicted result, at half its size or less."""
        return self.family.preview(sampling.predicted)

    def offload(self) -> None:
        """Frees device memory, as far as that is worthwhile, until the next request begins."""
        self._offload()
        free_cache(self.device)
        self._is_offloaded = True

    @abstractmethod
    def _begin(self, request: Request) -> Ongoing: ...

    @abstractmethod
    def _velocity(self, batch: Sequence[Ongoing], latents: Tensor, now: Tensor) -> Tensor:
        """Returns the velocities of a batch with their guidance, in float32."""

    def _offload(self) -> None:
        self.family.to(CPU)

    def _onload(self) -> None:
        self.family.to(self.device)
