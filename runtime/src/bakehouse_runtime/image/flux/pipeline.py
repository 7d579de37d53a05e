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

from ...errors import PlainError, RequestError
from ..flow import guided, noised
from ..inpainting import Inpainting
from ..lora import ChosenLora, Lora, LoraCache
from ..pictures import fit_square
from ..pipeline import Pipeline
from ..sampling import Generated, Sampling
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
    `mask` is the area of the picture to change (mode L, 255 changes a pixel); without one, all may
    change. `strength` is the share of noise at the start: below 1, the result keeps more of the
    picture. `negative_prompt` describes what to avoid, for models with true guidance.
    `ratio` is the width over the height of the uploaded picture, once `picture` has the size that
    the model reads, and `inpainting` has the mask (`KontextPipeline.prepared`)."""

    prompt: str
    seed: int
    steps: int | None = None
    guidance: float | None = None
    picture: Image.Image | None = None
    lora: ChosenLora | None = None
    mask: Image.Image | None = None
    strength: float = 1.0
    negative_prompt: str = ""
    ratio: float | None = None
    inpainting: Inpainting | None = None

    def __post_init__(self) -> None:
        if self.steps is not None and self.steps < 1:
            raise PlainError(f"steps is {self.steps}, but must be at least 1.")


@dataclass(frozen=True)
class _Kept:
    """Latents of a picture of which only the `changed` ones are generated."""

    original: Tensor
    noise: Tensor
    changed: Tensor

    def restored(self, latents: Tensor, time: float) -> Tensor:
        return torch.where(self.changed, latents, _noised(self.original, self.noise, time))


class KontextSampling(Sampling):
    # The mask of a picture that changes in part.
    inpainting: Inpainting | None = None
    kept: _Kept | None = None

    def __init__(
        self,
        noise: Tensor,
        times: list[float],
        guidance: float,
        texts: tuple[TextStates, TextStates],
        condition: Tensor | None,
        chosen: ChosenLora | None,
        lora: Lora | None,
    ) -> None:
        """`texts` are the prompt and the negative prompt."""
        super().__init__(noise, times)
        self.guidance = guidance
        self.text, self.negative = texts
        self.condition = condition
        self._chosen = chosen
        self._lora = lora

    def advance(self, latents: Tensor, predicted: Tensor) -> None:
        super().advance(latents, predicted)
        if self.kept is not None:
            self.latents = self.kept.restored(self.latents, self.now)
            self.predicted = self.kept.restored(self.predicted, 0)

    def generated(self, media: Image.Image) -> Generated:
        return Generated(media if self.inpainting is None else self.inpainting.pasted(media))

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
        inpainting, picture = None, request.picture
        if request.mask is not None:
            inpainting = Inpainting.of(picture, request.mask, self.side)
            picture = inpainting.part
        ratio = picture.width / picture.height
        # A part is scaled but not cropped, so that it can be pasted back.
        resized = self._resized(picture, is_cropped=inpainting is None)
        return replace(request, picture=resized, mask=None, ratio=ratio, inpainting=inpainting)

    def _begin(self, request: KontextRequest) -> KontextSampling:
        """Raises RequestError for a LoRA that does not fit, and for a negative prompt that the
        model cannot use."""
        texts = self.family.text([request.prompt]), self._negative_text(request.negative_prompt)
        lora = request.lora and self._loras.load(request.lora)
        width, height = self._generated_size(request.ratio)
        pixels = self.family.pixels_a_latent
        shape = (self.family.latent_channels, height // pixels, width // pixels)
        generator = torch.Generator().manual_seed(request.seed)
        noise = torch.randn(1, *shape, generator=generator, dtype=self._dtype)[0].float()
        noise = noise.to(self.device)
        condition = original = None
        if request.picture is not None:
            condition = self._encoded(request.picture)
            if request.inpainting is not None or request.strength < 1:
                original = self._encoded(request.picture.resize((width, height)))
        defaults = self.model.defaults
        steps = defaults.steps if request.steps is None else request.steps
        times = self._times(
            steps, (height // pixels // 2) * (width // pixels // 2), request.strength
        )
        guidance = defaults.guidance if request.guidance is None else request.guidance
        # At scale 0 a LoRA has no effect and needs no pass of its own.
        chosen = request.lora if request.lora and request.lora.scale > 0 else None
        start = noise if original is None else _noised(original, noise, times[0])
        sampling = KontextSampling(
            start, times, guidance, texts, condition, chosen, chosen and lora
        )
        if request.inpainting is not None and original is not None:
            changed = request.inpainting.changed_latents(*shape[1:]).to(self.device)
            sampling.inpainting = request.inpainting
            sampling.kept = _Kept(original, noise, changed)
        return sampling

    def preview(self, sampling: KontextSampling) -> Image.Image:
        part = super().preview(sampling)
        return part if sampling.inpainting is None else sampling.inpainting.preview(part)

    def _negative_text(self, prompt: str) -> TextStates:
        if not prompt:
            return self._nothing
        if not self.model.has_true_guidance:
            raise RequestError("negative_prompt", "This model has no negative prompt.")
        try:
            return self.family.text([prompt])
        except PlainError as error:
            raise RequestError("negative_prompt", f"Negative prompt: {error}") from error

    def _encoded(self, picture: Image.Image) -> Tensor:
        return self.family.encode([picture])[0].to(self.device)

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
        texts = [sampling.text for sampling in batch]
        texts += [batch[row].negative for row in guided_rows]
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

    def _resized(self, picture: Image.Image, *, is_cropped: bool) -> Image.Image:
        if self.side < FULL_SIZE:
            if is_cropped:
                return fit_square(picture, self.side)
            return picture.resize((self.side, self.side), Image.Resampling.LANCZOS)
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

    def _times(self, steps: int, tokens: int, strength: float) -> list[float]:
        """Returns the times of the steps and the end, from 1 (noise) to 0 (data), as Diffusers'
        pipelines do. With a strength below 1, they are the last ones of more steps."""
        count = max(steps, round(steps / strength))
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
        sigmas = np.linspace(1.0, 1 / count, count).tolist()
        scheduler.set_timesteps(sigmas=sigmas, mu=shift)
        return torch.as_tensor(scheduler.sigmas).tolist()[-steps - 1 :]


def _noised(data: Tensor, noise: Tensor, time: float) -> Tensor:
    """As `noised`, for one row."""
    return noised(data[None], noise[None], torch.tensor([time], device=data.device))[0]
