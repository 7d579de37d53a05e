"""FLUX Kontext: edits a picture by an instruction, or generates one from text alone.

Diffusers' pipelines run all steps of one picture at a time; a test compares the results of both.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from diffusers.pipelines.flux.pipeline_flux import calculate_shift
from diffusers.pipelines.flux.pipeline_flux_kontext import PREFERRED_KONTEXT_RESOLUTIONS
from PIL import Image
from torch import Tensor

from ...errors import PlainError
from ..flow import guided
from ..lora import ChosenLora, Lora, LoraCache
from ..pictures import fit_square
from ..pipeline import Pipeline
from ..sampling import Sampling
from ..text import TextStates, joined
from .family import DISTILLED_GUIDANCE
from .load import FluxModel, load_flux

# FLUX.1 Kontext resizes the edited picture to one of its own sizes around 1024 x 1024.
FULL_SIZE = 1024


@dataclass(frozen=True)
class KontextRequest:
    """A request for one picture: edits `picture`, or generates one from the prompt alone.
    `guidance` is the model's distilled guidance, or true guidance if it has none
    (`FluxModel.has_true_guidance`). Steps and guidance default to the values in the model's folder.
    `ratio` is the width over the height of the uploaded picture, once `picture` has the size that
    the model reads (`KontextPipeline.prepared`)."""

    prompt: str
    seed: int
    steps: int | None = None
    guidance: float | None = None
    picture: Image.Image | None = None
    lora: ChosenLora | None = None
    ratio: float | None = None

    def __post_init__(self) -> None:
        if self.steps is not None and self.steps < 1:
            raise PlainError(f"steps is {self.steps}, but must be at least 1.")


class KontextSampling(Sampling):
    def __init__(
        self,
        noise: Tensor,
        times: list[float],
        guidance: float,
        text: TextStates,
        condition: Tensor | None,
        chosen: ChosenLora | None,
        lora: Lora | None,
    ) -> None:
        super().__init__(noise, times)
        self.guidance = guidance
        self.text = text
        self.condition = condition
        self._chosen = chosen
        self._lora = lora

    @property
    def batch_key(self) -> Hashable:
        """Batches share one picture size, one condition size and the same LoRA."""
        return (
            self.latents.shape,
            None if self.condition is None else self.condition.shape,
            self._chosen and (self._chosen.id, self._chosen.scale),
        )

    def lora_applied(self) -> AbstractContextManager[None]:
        if self._lora is None or self._chosen is None:
            return nullcontext()
        return self._lora.applied(self._chosen.scale)


class KontextPipeline(Pipeline[KontextRequest, KontextSampling]):
    """A Flux model, with and without a picture to edit."""

    def __init__(self, model: FluxModel) -> None:
        super().__init__(model.family, model.transformer.device)
        self.model = model
        self._dtype = model.transformer.dtype
        self._nothing = self.family.text([""])
        self._loras = LoraCache(model.transformer, self.family)

    @classmethod
    def from_folder(
        cls, folder: Path, device: torch.device, dtype: torch.dtype = torch.float32
    ) -> KontextPipeline:
        """Loads a pipeline in Diffusers' format. Raises PlainError on failure."""
        return cls(load_flux(folder, device, dtype))

    @property
    def transformer(self) -> FluxTransformer2DModel:
        return self.model.transformer

    @property
    def side(self) -> int:
        return self.family.side

    def prepared(self, request: KontextRequest) -> KontextRequest:
        """Returns the request with its picture scaled to the size of the condition; forty
        megapixels would take 120 MB while they wait."""
        if request.picture is None or request.ratio is not None:
            return request
        ratio = request.picture.width / request.picture.height
        return replace(request, picture=self._resized(request.picture), ratio=ratio)

    def _begin(self, request: KontextRequest) -> KontextSampling:
        """Raises RequestError for a LoRA that does not fit."""
        text = self.family.text([request.prompt])
        lora = request.lora and self._loras.load(request.lora)
        width, height = self._generated_size(request.ratio)
        pixels = self.family.pixels_a_latent
        shape = (self.family.latent_channels, height // pixels, width // pixels)
        generator = torch.Generator().manual_seed(request.seed)
        noise = torch.randn(1, *shape, generator=generator, dtype=self._dtype)[0].float()
        condition = None
        if request.picture is not None:
            condition = self.family.encode([request.picture])[0].to(self.device)
        defaults = self.model.defaults
        steps = defaults.steps if request.steps is None else request.steps
        times = self._times(steps, (height // pixels // 2) * (width // pixels // 2))
        guidance = defaults.guidance if request.guidance is None else request.guidance
        # At scale 0 a LoRA has no effect and needs no pass of its own.
        chosen = request.lora if request.lora and request.lora.scale > 0 else None
        return KontextSampling(
            noise.to(self.device), times, guidance, text, condition, chosen, chosen and lora
        )

    def _offload(self) -> None:
        """The transformer stays on the device: its 24 GB at full size would have to fit into the
        machine's memory, and the next request would wait for the transfer."""
        super()._offload()
        self._loras.clear()

    def _velocity(self, batch: Sequence[KontextSampling], latents: Tensor, now: Tensor) -> Tensor:
        with batch[0].lora_applied():
            return self._guided_velocity(batch, latents, now)

    def _guided_velocity(
        self, batch: Sequence[KontextSampling], latents: Tensor, now: Tensor
    ) -> Tensor:
        """Applies true guidance per row; rows at scale 1 need no second pass."""
        scales = [sampling.guidance for sampling in batch]
        if not self.model.has_true_guidance:
            return self._pass(batch, [sampling.text for sampling in batch], latents, now, scales)
        guided_rows = [row for row, scale in enumerate(scales) if scale != 1]
        rows = [*range(len(batch)), *guided_rows]
        texts = [sampling.text for sampling in batch] + [self._nothing] * len(guided_rows)
        both = self._pass(
            [batch[row] for row in rows],
            texts,
            latents[rows],
            now[rows],
            [DISTILLED_GUIDANCE] * len(rows),
        )
        conditional, unconditional = both.split([len(batch), len(guided_rows)])
        scale = torch.tensor(scales, device=self.device)[guided_rows].reshape(-1, 1, 1, 1)
        conditional[guided_rows] = guided(conditional[guided_rows], unconditional, scale)
        return conditional

    def _pass(
        self,
        batch: Sequence[KontextSampling],
        texts: Sequence[TextStates],
        latents: Tensor,
        now: Tensor,
        guidance: Sequence[float],
    ) -> Tensor:
        conditions = [sampling.condition for sampling in batch if sampling.condition is not None]
        return self.family.velocity(
            self.transformer,
            latents.to(self._dtype),
            now,
            joined(texts).to(self._dtype),
            torch.stack(conditions).to(self._dtype) if conditions else None,
            torch.tensor(guidance, device=self.device),
        ).float()

    def _generated_size(self, ratio: float | None) -> tuple[int, int]:
        if ratio is None or self.side < FULL_SIZE:
            return self.side, self.side
        # The model's area in the picture's ratio, as in Diffusers' pipeline.
        width, height = round(FULL_SIZE * ratio**0.5), round(FULL_SIZE / ratio**0.5)
        return self._whole_tokens(width), self._whole_tokens(height)

    def _resized(self, picture: Image.Image) -> Image.Image:
        if self.side < FULL_SIZE:
            return fit_square(picture, self.side)
        ratio = picture.width / picture.height
        _, width, height = min(
            (abs(ratio - width / height), width, height)
            for width, height in PREFERRED_KONTEXT_RESOLUTIONS
        )
        size = self._whole_tokens(width), self._whole_tokens(height)
        return picture.resize(size, Image.Resampling.LANCZOS)

    def _whole_tokens(self, length: int) -> int:
        """A token covers 2 x 2 latents."""
        pixels = 2 * self.family.pixels_a_latent
        return max(1, length // pixels) * pixels

    def _times(self, steps: int, tokens: int) -> list[float]:
        """Returns the times of the steps and the end, from 1 (noise) to 0 (data), as Diffusers'
        pipelines do."""
        # Copied because setting the times changes the scheduler's state.
        scheduler = copy.deepcopy(self.model.scheduler)
        config = scheduler.config
        shift = calculate_shift(
            tokens,
            config.get("base_image_seq_len", 256),
            config.get("max_image_seq_len", 4096),
            config.get("base_shift", 0.5),
            config.get("max_shift", 1.15),
        )
        sigmas = np.linspace(1.0, 1 / steps, steps).tolist()
        scheduler.set_timesteps(sigmas=sigmas, mu=shift)
        return torch.as_tensor(scheduler.sigmas).tolist()
