"""A kind of diffusion model, as training and sampling use it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
from PIL import Image
from torch import Tensor, nn

from .autoencoder import decode_latents, decode_preview, encode_pictures, use_channels_last
from .pictures import grid, to_pictures
from .text import EncodedTexts, TextEncoder, TextStates


class Family(ABC):
    """Converts media to latents, prompts to text states, and latents to velocities.

    Media are pictures unless a family specifies otherwise. Latents are [n, ...] in float32, shifted
    and scaled for the networks. A network is the trained part, which predicts a velocity: a Flux
    has one, a Paris several.
    """

    name: ClassVar[str]
    # Classifier-free guidance for the sample sheets of a training.
    sample_guidance: ClassVar[float]
    # The default of the guidance that networks receive as input; None if they receive none.
    distilled_guidance: ClassVar[float | None] = None
    # How far training shifts its times towards noise; 1 is no shift.
    time_shift: ClassVar[float] = 1.0
    # Diffusers' class that reads and writes LoRAs of the network; None if there is none.
    lora_loader: ClassVar[Any] = None

    def __init__(self, autoencoder: Any, text_encoder: TextEncoder | None) -> None:
        """`autoencoder` is an `AutoencoderKL` unless a family specifies otherwise; `text_encoder`
        may be missing if texts are already encoded."""
        self.autoencoder = autoencoder
        self._text_encoder = text_encoder

    @property
    def side(self) -> int:
        """Returns the side of the generated square pictures, in pixels."""
        return int(self.autoencoder.config["sample_size"])

    @property
    def latent_channels(self) -> int:
        return int(self.autoencoder.config["latent_channels"])

    @property
    def pixels_a_latent(self) -> int:
        return 2 ** (len(self.autoencoder.config["block_out_channels"]) - 1)

    @property
    def text_encoder(self) -> TextEncoder:
        """Returns the text encoder; fails after `drop_text_encoder`."""
        assert self._text_encoder is not None
        return self._text_encoder

    def encode(self, media: Sequence[Any]) -> Tensor:
        """Returns the latents of media of one size, on the CPU."""
        return encode_pictures(self.autoencoder, media)

    def decode(self, latents: Tensor) -> list[Any]:
        """The inverse of `encode`. Raises PlainError for values that are not finite."""
        return to_pictures(decode_latents(self.autoencoder, latents).cpu().numpy())

    def preview(self, latents: Tensor) -> Image.Image:
        """Returns a preview of one row of latents, at half its size or less."""
        return decode_preview(self.autoencoder, latents)

    def text(self, prompts: list[str]) -> TextStates:
        """Returns the states of prompts. Raises PlainError for a prompt longer than the window."""
        return self.text_encoder.encode(prompts)

    @staticmethod
    @abstractmethod
    def velocity(
        network: nn.Module,
        latents: Tensor,
        t: Tensor,
        text: TextStates,
        condition: Tensor | None = None,
        guidance: Tensor | None = None,
    ) -> Tensor:
        """Predicts `noise - data` at `latents`, at the times `t` in 0..1, [n].

        `condition` are the latents of the edited picture, which may have another size; `guidance`
        is the distilled guidance, [n].
        """

    def write_samples(self, media: Sequence[Any], columns: int, path: Path) -> Path:
        """Writes media in rows of `columns` into one file; replaces the extension of `path`."""
        file = path.with_suffix(".png")
        grid(media, columns).save(file)
        return file

    def prepare_sampling(self, device: torch.device) -> None:
        """Moves all parts to the device, with the autoencoder in its fastest layout."""
        use_channels_last(self.autoencoder, device)
        self.to(device)

    def to(self, device: torch.device) -> None:
        """Moves the autoencoder and the text encoder."""
        self.autoencoder.to(device)
        if self._text_encoder is not None:
            self._text_encoder.to(device)

    def drop_text_encoder(self, *kept: str) -> None:
        """Frees the text encoder, which takes ten gigabytes at full size. The prompts in `kept` are
        encoded before and remain available."""
        encoder, self._text_encoder = self._text_encoder, None
        if encoder is not None and kept:
            self._text_encoder = EncodedTexts(encoder, kept)
