"""A kind of diffusion model: what training and sampling both need to know of it."""

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
    """Between media and latents, between prompts and text states, and from latents to velocities.

    Media are pictures unless a family says otherwise. Latents are [n, ...] in float32, shifted and
    scaled as the networks read them. A network is what is trained, and gives a velocity: a Flux has
    one, a Paris several.
    """

    name: ClassVar[str]
    # On the sheets of samples that a training writes: of classifier-free guidance.
    sample_guidance: ClassVar[float]
    # The guidance that networks are given as a number where nobody chooses one; None: they read
    # none.
    distilled_guidance: ClassVar[float | None] = None
    # How far training draws its times towards noise; 1: not at all.
    time_shift: ClassVar[float] = 1.0
    # Diffusers' class that reads and writes LoRAs on the network; None: it takes none.
    lora_loader: ClassVar[Any] = None

    def __init__(self, autoencoder: Any, text_encoder: TextEncoder | None) -> None:
        """`autoencoder` is an `AutoencoderKL` unless a family says otherwise; `text_encoder` may be
        missing where texts are encoded already."""
        self.autoencoder = autoencoder
        self._text_encoder = text_encoder

    @property
    def side(self) -> int:
        """Of the square pictures that the networks generate, in pixels."""
        return int(self.autoencoder.config["sample_size"])

    @property
    def latent_channels(self) -> int:
        return int(self.autoencoder.config["latent_channels"])

    @property
    def pixels_a_latent(self) -> int:
        return 2 ** (len(self.autoencoder.config["block_out_channels"]) - 1)

    @property
    def text_encoder(self) -> TextEncoder:
        """What reads prompts, while it is there."""
        assert self._text_encoder is not None
        return self._text_encoder

    def encode(self, media: Sequence[Any]) -> Tensor:
        """The latents of media of one size, on the CPU."""
        return encode_pictures(self.autoencoder, media)

    def decode(self, latents: Tensor) -> list[Any]:
        """The inverse of `encode`. Raises PlainError for values that are not numbers."""
        return to_pictures(decode_latents(self.autoencoder, latents).cpu().numpy())

    def preview(self, latents: Tensor) -> Image.Image:
        """What one row of latents stands for, at half its size or less."""
        return decode_preview(self.autoencoder, latents)

    def text(self, prompts: list[str]) -> TextStates:
        """The states of prompts. Raises PlainError for one that is longer than the window."""
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
        """The predicted `noise - data` at `latents`, at the times `t` in 0..1, [n].

        `condition` are the latents of what is edited, which may have another size; `guidance` is
        the distilled guidance, [n].
        """

    def write_samples(self, media: Sequence[Any], columns: int, path: Path) -> Path:
        """Writes media in rows of `columns` into one file, `path` with the ending of its kind."""
        file = path.with_suffix(".png")
        grid(media, columns).save(file)
        return file

    def prepare_sampling(self, device: torch.device) -> None:
        """Moves all to the device, the autoencoder as it is fastest there."""
        use_channels_last(self.autoencoder, device)
        self.to(device)

    def to(self, device: torch.device) -> None:
        """Moves the autoencoder and the text encoder."""
        self.autoencoder.to(device)
        if self._text_encoder is not None:
            self._text_encoder.to(device)

    def drop_text_encoder(self, *kept: str) -> None:
        """Frees its memory: a full-size one takes ten gigabytes. These prompts can be read on."""
        encoder, self._text_encoder = self._text_encoder, None
        if encoder is not None and kept:
            self._text_encoder = EncodedTexts(encoder, kept)
