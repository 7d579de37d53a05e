"""The complete Paris, from prompts to pictures; for the starter model and the published one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from torch import Tensor

from ...errors import PlainError
from ...files import read_optional_object
from ..autoencoder import load_autoencoder
from ..flow import guided
from ..picture_defaults import PictureDefaults, read_defaults
from ..pipeline import Pipeline
from ..residency import CPU, ExpertCache, room_for
from ..text import (
    LONGEST_SENTENCE_WINDOW,
    ClipText,
    SentenceText,
    TextEncoder,
    TextStates,
    joined,
)
from .family import Paris
from .model import Expert, Router
from .sampling import ExpertVelocity, RoutedSampling, Strategy, routed_velocity
from .weights import load_experts, load_router

ALWAYS_GUIDED = (0.0, 1.0)
# The values that the original product used with the published model.
PUBLISHED_DEFAULTS = PictureDefaults(steps=20, guidance=7.5)


@dataclass(frozen=True)
class ParisRequest:
    """A request for one picture. `guidance` 1 disables guidance; `k` applies only to `topk`. Steps
    and guidance default to the values in the model's folder."""

    prompt: str
    seed: int
    steps: int | None = None
    guidance: float | None = None
    strategy: Strategy = "topk"
    k: int = 2

    def __post_init__(self) -> None:
        if self.steps is not None and self.steps < 1:
            raise PlainError(f"steps is {self.steps}, but must be at least 1.")
        if self.k < 1:
            raise PlainError(f"k is {self.k}, but must be at least 1.")


class ParisSampling(RoutedSampling):
    def __init__(
        self, request: ParisRequest, defaults: PictureDefaults, noise: Tensor, text: TextStates
    ) -> None:
        steps = defaults.steps if request.steps is None else request.steps
        super().__init__(noise, steps, request.strategy, request.k)
        self.request = request
        self.guidance = defaults.guidance if request.guidance is None else request.guidance
        self.text = text


class ParisPipeline(Pipeline[ParisRequest, ParisSampling]):
    """The experts, their router, the autoencoder and the text encoder on one device, with as many
    experts on it as fit."""

    def __init__(
        self,
        experts: Sequence[Expert],
        router: Router,
        autoencoder: AutoencoderKL,
        text_encoder: TextEncoder,
        device: torch.device,
        guidance_interval: tuple[float, float] = ALWAYS_GUIDED,
        defaults: PictureDefaults = PUBLISHED_DEFAULTS,
    ) -> None:
        """`guidance_interval` holds the first and last time, from 0 to 1, at which guidance
        applies. `defaults` apply to requests that set none."""
        _check_parts(experts, router, autoencoder, text_encoder)
        super().__init__(Paris(autoencoder, text_encoder), device)
        self.experts = [expert.eval() for expert in experts]
        self.router = router.to(device).eval()
        self.guidance_interval = guidance_interval
        self.defaults = defaults
        self._nothing = self.family.text([""])
        self._cache = ExpertCache(self.experts, device, room_for(self.experts, device))

    @classmethod
    def from_folder(
        cls, folder: Path, device: torch.device, dtype: torch.dtype = torch.float32
    ) -> ParisPipeline:
        """Loads `expert_0/` and so on, `router/`, `vae/` and the text encoder.

        `dtype` applies to the experts and the router; the autoencoder and the text encoder are
        small and stay in float32. Raises PlainError for missing or damaged files.
        """
        count = len(list(folder.glob("expert_*")))
        if count == 0:
            raise PlainError(
                f"The folder {folder.name} holds no expert_0: it is not a Paris model."
            )
        return cls(
            load_experts([folder / f"expert_{number}" for number in range(count)], dtype),
            load_router(folder / "router").to(dtype),
            load_autoencoder(folder / "vae"),
            load_text_encoder(folder),
            device,
            load_guidance_interval(folder),
            read_defaults(folder, PUBLISHED_DEFAULTS),
        )

    def _begin(self, request: ParisRequest) -> ParisSampling:
        shape = self.router.shape
        size = (shape.latent_channels, shape.latent_side, shape.latent_side)
        noise = torch.randn(size, generator=torch.Generator().manual_seed(request.seed))
        text = self.family.text([request.prompt])
        return ParisSampling(request, self.defaults, noise.to(self.device), text)

    def _offload(self) -> None:
        """Experts return to the device on their next use."""
        super()._offload()
        self.router.to(CPU)
        self._cache.offload()

    def _onload(self) -> None:
        super()._onload()
        self.router.to(self.device)

    def _velocity(self, batch: Sequence[ParisSampling], latents: Tensor, now: Tensor) -> Tensor:
        experts = [self._expert_velocity(number, batch) for number in range(len(self.experts))]
        return routed_velocity(batch, latents, now, self._probabilities, experts)

    def _probabilities(self, latents: Tensor, t: Tensor) -> Tensor:
        dtype = self.router.pos_embed.dtype
        return self.router(latents.to(dtype), 1000 * t).float().softmax(dim=-1)

    def _expert_velocity(self, number: int, samplings: Sequence[ParisSampling]) -> ExpertVelocity:
        """Applies classifier-free guidance per row; rows at scale 1, or outside of the interval,
        need no second pass."""
        first, last = self.guidance_interval

        def velocity(latents: Tensor, t: Tensor, rows: Tensor) -> Tensor:
            expert = self._cache.fetch(number)
            dtype = expert.pos_embed.dtype
            batch = [samplings[row] for row in rows.tolist()]
            is_guided = [
                sampling.guidance != 1 and first <= sampling.now <= last for sampling in batch
            ]
            guided_rows = torch.tensor(is_guided).nonzero().flatten().to(self.device)
            texts = [sampling.text for sampling in batch] + [self._nothing] * len(guided_rows)
            both = self.family.velocity(
                expert,
                torch.cat([latents, latents[guided_rows]]).to(dtype),
                torch.cat([t, t[guided_rows]]),
                joined(texts).to(dtype),
            ).float()
            conditional, unconditional = both.split([len(batch), len(guided_rows)])
            scales = torch.tensor([sampling.guidance for sampling in batch], device=self.device)
            scale = scales[guided_rows].reshape(-1, 1, 1, 1)
            pushed = guided(conditional[guided_rows], unconditional, scale)
            return conditional.index_copy(0, guided_rows, pushed)

        return velocity


def load_guidance_interval(folder: Path) -> tuple[float, float]:
    """Returns the `guidance_interval` of `model_index.json`; defaults to all times.

    Guidance helps in the middle of the flow. Near the noise it makes pictures alike, near the data
    it has little effect for the cost of a second pass (arXiv 2404.07724).
    """
    interval = _index(folder).get("guidance_interval", ALWAYS_GUIDED)
    match interval:
        case [int() | float() as first, int() | float() as last] if 0 <= first <= last <= 1:
            return float(first), float(last)
        case _:
            raise PlainError(
                f"The guidance_interval in {folder.name}/model_index.json is not two numbers from "
                "0 to 1, the smaller one first."
            )


def load_text_encoder(folder: Path) -> ClipText | SentenceText:
    """Loads the folder's own CLIP, or the sentence encoder if `model_index.json` has a window.

    The server checks the same rule before it deploys a model (`neededOfParis` in needed-parts.ts).
    """
    if (folder / "text_encoder").is_dir():
        return ClipText(folder / "text_encoder", folder / "tokenizer")
    window = _index(folder).get("text_window")
    if window is None:
        raise PlainError(
            f"The folder {folder.name} has neither a text_encoder nor a model_index.json with a "
            "text_window."
        )
    # An empty prompt already has two tokens.
    if not isinstance(window, int) or not 2 <= window <= LONGEST_SENTENCE_WINDOW:
        raise PlainError(
            f"The text_window in {folder.name}/model_index.json is not a number from 2 to "
            f"{LONGEST_SENTENCE_WINDOW}."
        )
    return SentenceText(window)


def _index(folder: Path) -> dict[str, Any]:
    return read_optional_object(folder / "model_index.json")


def _check_parts(
    experts: Sequence[Expert], router: Router, autoencoder: AutoencoderKL, text: TextEncoder
) -> None:
    if router.shape.experts != len(experts):
        raise PlainError(
            f"The router chooses among {router.shape.experts} experts, but there are "
            f"{len(experts)}."
        )
    channels = {expert.shape.latent_channels for expert in experts}
    channels |= {router.shape.latent_channels, int(autoencoder.config["latent_channels"])}
    if len(channels) > 1:
        raise PlainError("Experts, router and autoencoder do not have the same latent channels.")
    if len({part.shape.latent_side for part in (*experts, router)}) > 1:
        raise PlainError("Experts and router do not have latents of the same size.")
    if any(expert.shape.text_size != text.size for expert in experts):
        raise PlainError(
            f"The experts read text states of size {experts[0].shape.text_size}, but the text "
            f"encoder gives {text.size}."
        )
