"""The Wan family: videos, and the inputs and outputs of its transformer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from diffusers.loaders.lora_pipeline import WanLoraLoaderMixin
from diffusers.models.autoencoders.autoencoder_kl_wan import AutoencoderKLWan
from PIL import Image
from torch import Tensor, nn

from ..autoencoder import PREVIEW_SIDE_MAX
from ..family import Family
from ..residency import CPU
from ..text import TextEncoder, TextStates
from ..video import Video, reduced, strip
from .autoencoder import decode_videos, encode_videos

# The time scale of Diffusers' schedulers.
TIMES = 1000
# For the samples that a training writes.
STRIP_FRAMES = 5
STRIP_SIDE_MAX = 256


class Wan(Family):
    """A transformer over the latents of a video, [n, channels, frames, height, width]. A given
    first frame is passed as its latents, without noise and at time 0 (`expand_timesteps` of
    Diffusers' pipelines, as in Wan 2.2 TI2V)."""

    name = "Wan"
    sample_guidance = 4.0
    # Larger latents need more noise to hide their content.
    time_shift = 2.0
    lora_loader = WanLoraLoaderMixin

    def __init__(
        self, autoencoder: AutoencoderKLWan, text_encoder: TextEncoder | None, fps: float
    ) -> None:
        super().__init__(autoencoder, text_encoder)
        self.fps = fps
        self.keeps_text_on_cpu = False

    @property
    def latent_channels(self) -> int:
        return int(self.autoencoder.config["z_dim"])

    @property
    def pixels_a_latent(self) -> int:
        return int(self.autoencoder.config["scale_factor_spatial"])

    @property
    def frames_a_latent(self) -> int:
        """Returns the frames per latent; the first latent holds only one frame."""
        return int(self.autoencoder.config["scale_factor_temporal"])

    def encode(self, media: Sequence[Video]) -> Tensor:
        return encode_videos(self.autoencoder, media)

    def decode(self, latents: Tensor) -> list[Video]:
        return decode_videos(self.autoencoder, latents, self.fps)

    def preview(self, latents: Tensor) -> Image.Image:
        """Returns the middle frame, decoded from its own latents alone."""
        middle = latents.shape[1] // 2
        (video,) = self.decode(latents[None, :, middle : middle + 1])
        return reduced(video.picture(0), PREVIEW_SIDE_MAX)

    def prepare_sampling(self, device: torch.device) -> None:
        self.autoencoder.eval()
        # Decoding a full-size frame takes gigabytes.
        if device.type == "cuda":
            self.autoencoder.enable_tiling()
        self.to(device)

    def to(self, device: torch.device) -> None:
        self.autoencoder.to(device)
        if self._text_encoder is not None:
            self._text_encoder.to(CPU if self.keeps_text_on_cpu else device)

    @staticmethod
    def velocity(
        network: nn.Module,
        latents: Tensor,
        t: Tensor,
        text: TextStates,
        condition: Tensor | None = None,
        guidance: Tensor | None = None,
    ) -> Tensor:
        """`condition` are the latents of the first frame, [n, channels, 1, height, width]."""
        transformer: Any = network
        times, begun = t * TIMES, latents
        if condition is not None:
            _, down, across = transformer.config["patch_size"]
            frames, height, width = latents.shape[2:]
            a_frame = (height // down) * (width // across)
            times = times[:, None].repeat(1, frames * a_frame)
            times[:, :a_frame] = 0
            begun = torch.cat([condition, latents[:, :, 1:]], dim=2)
        predicted = transformer(
            hidden_states=begun,
            timestep=times,
            encoder_hidden_states=text.tokens,
            return_dict=False,
        )[0]
        if condition is None:
            return predicted
        # The velocity towards the condition, so that the first frame ends as the condition.
        first = (latents[:, :, :1] - condition) / t.reshape(-1, 1, 1, 1, 1)
        return torch.cat([first.to(predicted.dtype), predicted[:, :, 1:]], dim=2)

    def write_samples(self, media: Sequence[Video], columns: int, path: Path) -> Path:
        """Writes each video as a row of some of its frames; rows are stacked column by column."""
        strips = [strip(video, STRIP_FRAMES, STRIP_SIDE_MAX) for video in media]
        rows = len(strips) // columns
        width, height = max(one.width for one in strips), strips[0].height
        sheet = Image.new("RGB", (rows * width, columns * height))
        for number, one in enumerate(strips):
            sheet.paste(one, (number // columns * width, number % columns * height))
        file = path.with_suffix(".png")
        sheet.save(file)
        return file
