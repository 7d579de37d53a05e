"""FLUX Kontext a step at a time, for several pictures at once that need not be equally far.

Diffusers' pipelines take all steps of one picture at a time; a test holds the two together.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.pipelines.flux.pipeline_flux import calculate_shift
from diffusers.pipelines.flux.pipeline_flux_kontext import PREFERRED_KONTEXT_RESOLUTIONS
from PIL import Image
from torch import Tensor

from ...errors import PlainError
from ..autoencoder import decode_latents, decode_preview, encode_pictures, use_channels_last
from ..flow import euler_step, guided, predicted_data
from ..pictures import fit_square, to_pictures
from ..residency import CPU, free_cache
from ..sampling import Sampling
from ..text import TextStates
from .flow import velocity
from .lora import ChosenLora, Lora, LoraShelf
from .pipeline import DISTILLED_GUIDANCE, FULL_SIZE, KontextPipeline


@dataclass(frozen=True)
class PictureRequest:
    """One picture: `picture` edited, or, without one, generated from the prompt alone. `guidance`
    is the model's own (distilled) guidance, or, where it has none, true guidance
    (`KontextPipeline.has_true_guidance`). `ratio` is the width over the height of what was sent,
    once `picture` is in the size that the model reads (`KontextStepper.prepared`)."""

    prompt: str
    seed: int
    steps: int
    guidance: float
    picture: Image.Image | None
    lora: ChosenLora | None = None
    ratio: float | None = None

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise PlainError(f"steps is {self.steps}: a picture takes at least one.")


@dataclass(frozen=True)
class GeneratedPicture:
    """A picture of a model that has no experts."""

    picture: Image.Image
    expert_used: None = None
    routing_confidence: None = None


class KontextSampling(Sampling):
    """A request that is being sampled."""

    expert_weights = None

    def __init__(
        self,
        request: PictureRequest,
        noise: Tensor,
        times: list[float],
        text: TextStates,
        condition: Tensor | None,
        lora: Lora | None = None,
    ) -> None:
        super().__init__(noise, times)
        self.request = request
        self.text = text
        self.condition = condition
        self.lora = lora

    @property
    def company(self) -> tuple[object, ...]:
        """Only samplings of the same sizes, and with the same LoRA, fit into one batch."""
        chosen = self.request.lora if self.lora else None
        return (
            self.latents.shape,
            None if self.condition is None else self.condition.shape,
            chosen and (chosen.id, chosen.scale),
        )


class KontextStepper:
    """A Flux model, with and without a picture to edit, whose steps are asked for one by one."""

    def __init__(self, pipeline: KontextPipeline) -> None:
        self._pipeline = pipeline
        self._text = pipeline.text
        self._device = pipeline.transformer.device
        use_channels_last(pipeline.autoencoder, self._device)
        self._dtype = pipeline.transformer.dtype
        self._nothing = self._text.encode([""])
        self._loras = LoraShelf(pipeline.transformer)
        self._is_offloaded = False

    @classmethod
    def from_folder(
        cls, folder: Path, device: torch.device, dtype: torch.dtype = torch.float32
    ) -> KontextStepper:
        """Loads a pipeline in Diffusers' format. Raises PlainError where it cannot."""
        return cls(KontextPipeline.from_folder(folder, device, dtype))

    @property
    def side(self) -> int:
        """Of the square pictures that the model generates."""
        return self._pipeline.side

    def generate(self, requests: Sequence[PictureRequest]) -> list[GeneratedPicture]:
        """Generates all requests at once. A picture depends on its own request alone, not on
        the rest of the batch."""
        samplings = [self.begin(request) for request in requests]
        while moving := [sampling for sampling in samplings if not sampling.is_done]:
            self.step(moving)
        return self.finish(samplings)

    def prepared(self, request: PictureRequest) -> PictureRequest:
        """The request with its picture in the size in which it conditions the model: many may wait,
        and forty megapixels are 120 MB. Any thread may ask for it."""
        if request.picture is None or request.ratio is not None:
            return request
        ratio = request.picture.width / request.picture.height
        return replace(request, picture=self._resized(request.picture), ratio=ratio)

    def begin(self, request: PictureRequest) -> KontextSampling:
        """A sampling before its first step. Raises PlainError for a prompt that is too long, and
        RequestError for a LoRA that does not fit."""
        request = self.prepared(request)
        if self._is_offloaded:
            self._move_all_but_transformer(self._device)
            self._is_offloaded = False
        text = self._text.encode([request.prompt])
        lora = request.lora and self._loras.load(request.lora)
        autoencoder = self._pipeline.autoencoder
        width, height = self._generated_size(request.ratio)
        pixels = _pixels_a_latent(autoencoder)
        shape = (int(autoencoder.config["latent_channels"]), height // pixels, width // pixels)
        generator = torch.Generator().manual_seed(request.seed)
        noise = torch.randn(1, *shape, generator=generator, dtype=self._dtype)[0].float()
        condition = None
        if request.picture is not None:
            condition = encode_pictures(autoencoder, [request.picture])[0].to(self._device)
        times = self._times(request.steps, (height // pixels // 2) * (width // pixels // 2))
        # Times nothing it is none, and needs no pass of its own.
        used = lora if request.lora and request.lora.scale > 0 else None
        return KontextSampling(request, noise.to(self._device), times, text, condition, used)

    def offload(self) -> None:
        """Leaves the device, but for the transformer, until the next picture begins: the text
        encoders of the full-size model take ten gigabytes, and LoRAs up to one. Its transformer
        would take 24 of the machine's memory, and whoever asks next would wait for all of it."""
        self._move_all_but_transformer(CPU)
        self._loras.clear()
        free_cache(self._device)
        self._is_offloaded = True

    @torch.no_grad()
    def step(self, samplings: Sequence[KontextSampling]) -> None:
        """Takes each sampling one step on along its own flow."""
        batches: defaultdict[object, list[KontextSampling]] = defaultdict(list)
        for sampling in samplings:
            batches[sampling.company].append(sampling)
        for batch in batches.values():
            self._step_batch(batch)

    def finish(self, samplings: Sequence[KontextSampling]) -> list[GeneratedPicture]:
        """The pictures of samplings that are done."""
        autoencoder = self._pipeline.autoencoder
        return [
            GeneratedPicture(
                to_pictures(decode_latents(autoencoder, sampling.latents[None]).cpu().numpy())[0]
            )
            for sampling in samplings
        ]

    def preview(self, sampling: KontextSampling) -> Image.Image:
        """The picture predicted at a sampling's current step, at half its size or less."""
        return decode_preview(self._pipeline.autoencoder, sampling.predicted)

    def _move_all_but_transformer(self, device: torch.device) -> None:
        self._text.to(device)
        self._pipeline.autoencoder.to(device)  # pyright: ignore[reportArgumentType]

    def _step_batch(self, batch: Sequence[KontextSampling]) -> None:
        latents = torch.stack([sampling.latents for sampling in batch])
        times = [[sampling.now, sampling.after] for sampling in batch]
        now, after = torch.tensor(times, device=self._device).unbind(dim=1)
        with _applied(batch[0]):
            predicted_velocity = self._velocity(batch, latents, now)
        moved = euler_step(latents, predicted_velocity, now, after)
        predicted = predicted_data(latents, predicted_velocity, now)
        for row, sampling in enumerate(batch):
            sampling.advance(moved[row], predicted[row])

    def _velocity(self, batch: Sequence[KontextSampling], latents: Tensor, now: Tensor) -> Tensor:
        """With true guidance each row by its own scale, at scale 1 without a second pass."""
        scales = [sampling.request.guidance for sampling in batch]
        if not self._pipeline.has_true_guidance:
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
        scale = torch.tensor(scales, device=self._device)[guided_rows].reshape(-1, 1, 1, 1)
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
        pooled = [text.pooled for text in texts if text.pooled is not None]
        return velocity(
            self._pipeline.transformer,
            latents.to(self._dtype),
            now,
            torch.cat([text.tokens for text in texts]).to(self._dtype),
            torch.cat(pooled).to(self._dtype),
            torch.stack(conditions).to(self._dtype) if conditions else None,
            torch.tensor(guidance, device=self._device),
        ).float()

    def _generated_size(self, ratio: float | None) -> tuple[int, int]:
        if ratio is None or self.side < FULL_SIZE:
            return self.side, self.side
        # The area that the model knows, in the picture's ratio, as the pipeline has it.
        width, height = round(FULL_SIZE * ratio**0.5), round(FULL_SIZE / ratio**0.5)
        return self._whole_tokens(width), self._whole_tokens(height)

    def _resized(self, picture: Image.Image) -> Image.Image:
        """The picture in the size in which it conditions the model."""
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
        """A token stands for 2 x 2 latents."""
        pixels = 2 * _pixels_a_latent(self._pipeline.autoencoder)
        return max(1, length // pixels) * pixels

    def _times(self, steps: int, tokens: int) -> list[float]:
        """The times of the steps and the end, from 1 (noise) to 0 (data), as the pipelines have
        them."""
        # Its times are the scheduler's own state.
        scheduler = copy.deepcopy(self._pipeline.scheduler)
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


def _applied(sampling: KontextSampling) -> AbstractContextManager[None]:
    """The transformer has the sampling's LoRA for as long as the block takes."""
    chosen = sampling.request.lora
    return sampling.lora.applied(chosen.scale) if sampling.lora and chosen else nullcontext()


def _pixels_a_latent(autoencoder: AutoencoderKL) -> int:
    return 2 ** (len(autoencoder.config["block_out_channels"]) - 1)
