"""Wan: generates videos from a prompt, or from a prompt and a first frame.

Diffusers' pipelines run all steps of one video at a time; a test compares the results of both.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from ...errors import PlainError, RequestError
from ..flow import guided
from ..pipeline import Pipeline
from ..residency import COMPUTING_BYTES
from ..sampling import Sampling
from ..text import TextStates, joined
from ..video import Video
from .load import WanModel, load_wan
from .size import VideoSize
from .text import WanText

# Reserve of a GPU's memory for decoding a full-size video, in addition to a step.
DECODING_BYTES = 8 << 30


@dataclass(frozen=True)
class VideoRequest:
    """A request for one video: from the prompt alone, or with `picture` as its first frame. Steps
    and guidance default to the values in the model's folder; length and size are rounded to what
    the model supports. `size` is the rounded result, once the picture is scaled to it
    (`VideoPipeline.prepared`)."""

    prompt: str
    seed: int
    steps: int | None = None
    guidance: float | None = None
    negative_prompt: str = ""
    picture: Image.Image | None = None
    seconds: float = 5.0
    width: int = 832
    height: int = 480
    size: VideoSize | None = None

    def __post_init__(self) -> None:
        if self.steps is not None and self.steps < 1:
            raise PlainError(f"steps is {self.steps}, but must be at least 1.")


class VideoSampling(Sampling):
    def __init__(
        self,
        noise: Tensor,
        times: list[float],
        guidance: float,
        text: TextStates,
        negative: TextStates,
        condition: Tensor | None,
    ) -> None:
        super().__init__(noise, times)
        self.guidance = guidance
        self.text = text
        self.negative = negative
        self.condition = condition

    @property
    def batch_key(self) -> Hashable:
        """Batches share one size and length, and all or none have a first frame."""
        return self.latents.shape, self.condition is None


class VideoPipeline(Pipeline[VideoRequest, VideoSampling]):
    """A Wan model, with and without a first frame."""

    medium = "video"

    def __init__(self, model: WanModel, device: torch.device) -> None:
        self.model = model
        self._dtype = model.transformer.dtype
        model.transformer.to(device)  # pyright: ignore[reportArgumentType]
        model.family.keeps_text_on_cpu = not _has_room_for_text(model, device)
        super().__init__(model.family, device)

    @classmethod
    def from_folder(
        cls, folder: Path, device: torch.device, dtype: torch.dtype = torch.float32
    ) -> VideoPipeline:
        """Loads a pipeline in Diffusers' format. Raises PlainError on failure."""
        return cls(load_wan(folder, dtype), device)

    def prepared(self, request: VideoRequest) -> VideoRequest:
        """Returns the request with its picture scaled to the video's size; forty megapixels would
        take 120 MB while they wait. Raises RequestError for a picture if the model accepts none."""
        if request.size is not None:
            return request
        picture = request.picture
        if picture is not None and not self.model.takes_pictures:
            raise RequestError("picture", "This model makes videos from a prompt only.")
        ratio = None if picture is None else picture.width / picture.height
        size = self.model.sizes.nearest(request.seconds, request.width, request.height, ratio)
        if picture is not None:
            picture = ImageOps.fit(picture, (size.width, size.height), Image.Resampling.LANCZOS)
        return replace(request, picture=picture, size=size)

    def _begin(self, request: VideoRequest) -> VideoSampling:
        text = self.family.text([request.prompt])
        negative = self._negative(request.negative_prompt)
        size = request.size
        assert size is not None
        generator = torch.Generator().manual_seed(request.seed)
        noise = torch.randn(1, *self._latents_of(size), generator=generator)[0]
        condition = None
        if request.picture is not None:
            first = Video(np.asarray(request.picture)[None], self.model.sizes.fps)
            condition = self.family.encode([first])[0].to(self.device)
        defaults = self.model.defaults
        steps = defaults.steps if request.steps is None else request.steps
        guidance = defaults.guidance if request.guidance is None else request.guidance
        return VideoSampling(
            noise.to(self.device), self._times(steps), guidance, text, negative, condition
        )

    def _negative(self, prompt: str) -> TextStates:
        try:
            return self.family.text([prompt])
        except PlainError as error:
            raise RequestError(
                "negative_prompt", str(error).replace("The prompt", "The negative prompt", 1)
            ) from error

    def _latents_of(self, size: VideoSize) -> tuple[int, int, int, int]:
        pixels, family = self.family.pixels_a_latent, self.model.family
        frames = (size.frames - 1) // family.frames_a_latent + 1
        return family.latent_channels, frames, size.height // pixels, size.width // pixels

    def _velocity(self, batch: Sequence[VideoSampling], latents: Tensor, now: Tensor) -> Tensor:
        """Applies guidance per row; rows at scale 1 or below need no second pass."""
        scales = [sampling.guidance for sampling in batch]
        rows = [row for row, scale in enumerate(scales) if scale > 1]
        passes = [*range(len(batch)), *rows]
        texts = [sampling.text for sampling in batch] + [batch[row].negative for row in rows]
        conditions = [one for row in passes if (one := batch[row].condition) is not None]
        both = self.family.velocity(
            self.model.transformer,
            latents[passes].to(self._dtype),
            now[passes],
            joined(texts).to(self.device).to(self._dtype),
            torch.stack(conditions).to(self._dtype) if conditions else None,
        ).float()
        conditional, unconditional = both.split([len(batch), len(rows)])
        scale = torch.tensor(scales, device=self.device)[rows].reshape(-1, 1, 1, 1, 1)
        conditional[rows] = guided(conditional[rows], unconditional, scale)
        return conditional

    def _times(self, steps: int) -> list[float]:
        """Returns the times of the steps and the end, from 1 (noise) to 0 (data), as Diffusers'
        pipelines do."""
        # Copied because setting the times changes the scheduler's state.
        scheduler = copy.deepcopy(self.model.scheduler)
        scheduler.set_timesteps(steps)
        return torch.as_tensor(scheduler.sigmas).tolist()


def _has_room_for_text(model: WanModel, device: torch.device) -> bool:
    """Returns whether the text encoder fits on the device with all other parts: at full size it
    takes 11 GB, and is only used briefly per video."""
    if device.type != "cuda":
        return True
    text = model.family.text_encoder
    assert isinstance(text, WanText)
    free, _ = torch.cuda.mem_get_info(device)
    weights = (
        weight for part in (text.model, model.family.autoencoder) for weight in part.parameters()
    )
    return free - sum(weight.nbytes for weight in weights) > COMPUTING_BYTES + DECODING_BYTES
