"""FLUX Kontext: editing a picture by an instruction, or drawing from text alone.

The starter model and FLUX.1 Kontext load through the same Diffusers pipelines; the starter brings
no text encoder and takes the installed sentence encoder in both of its places.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from diffusers.pipelines.flux.pipeline_flux import FluxPipeline
from diffusers.pipelines.flux.pipeline_flux_kontext import FluxKontextPipeline
from PIL import Image
from safetensors import SafetensorError

from ...errors import PlainError
from ..pictures import fit_square
from ..text import SENTENCE_WINDOW, check_prompt_length, load_sentence_encoder
from .text import FluxText

TEXT_PARTS = ("text_encoder", "text_encoder_2", "tokenizer", "tokenizer_2")
# FLUX.1 Kontext resizes what it edits to one of its own sizes around 1024 x 1024.
FULL_SIZE = 1024
FULL_SIZE_WINDOW = 512


@dataclass(frozen=True)
class KontextRequest:
    """One picture. `guidance` is the model's own (distilled) guidance; `true_guidance` above 1
    compares with an empty prompt at every step, which takes twice the time."""

    prompt: str
    seed: int
    steps: int = 28
    guidance: float = 2.5
    true_guidance: float = 1.0


# Told (step, total) after each step; False stops.
Watcher = Callable[[int, int], bool]


class KontextPipeline:
    """A Flux model with and without a picture to edit."""

    def __init__(self, edit: FluxKontextPipeline, window: int) -> None:
        self._edit = edit
        self._draw = FluxPipeline(
            scheduler=edit.scheduler,
            vae=edit.vae,
            text_encoder=edit.text_encoder,
            tokenizer=edit.tokenizer,
            text_encoder_2=edit.text_encoder_2,
            tokenizer_2=edit.tokenizer_2,
            transformer=edit.transformer,
        )
        for pipeline in (self._edit, self._draw):
            pipeline.set_progress_bar_config(disable=True)
        self.window = window
        self.side = int(edit.vae.config["sample_size"])

    @classmethod
    def from_folder(
        cls, folder: Path, device: torch.device, dtype: torch.dtype = torch.float32
    ) -> KontextPipeline:
        """Loads a pipeline in Diffusers' format. Raises PlainError where it cannot."""
        parts: dict[str, Any] = {}
        window = FULL_SIZE_WINDOW
        if not (folder / "text_encoder").is_dir():
            window = SENTENCE_WINDOW
            encoder, tokenizer = load_sentence_encoder(window)
            encoder = encoder.to(dtype)  # pyright: ignore[reportArgumentType]
            places = (encoder, encoder, tokenizer, tokenizer)
            parts = dict(zip(TEXT_PARTS, places, strict=True))
        _check_folder(folder, [] if parts else list(TEXT_PARTS))
        try:
            edit = FluxKontextPipeline.from_pretrained(
                folder, dtype=dtype, local_files_only=True, **parts
            )
        except (OSError, ValueError, RuntimeError, SafetensorError) as error:
            reason = str(error).strip().splitlines()[0]
            raise PlainError(f"The model in {folder.name} cannot be loaded: {reason}") from error
        return cls(edit.to(device), window)

    @property
    def transformer(self) -> FluxTransformer2DModel:
        return self._edit.transformer

    @property
    def autoencoder(self) -> AutoencoderKL:
        return self._edit.vae

    @property
    def text(self) -> FluxText:
        """The text encoders alone, for training."""
        return FluxText(self._edit, self.window)

    def load_adapter(self, weights: Path, name: str) -> None:
        """Puts a LoRA adapter (`pytorch_lora_weights.safetensors`) on the transformer."""
        try:
            self._edit.load_lora_weights(
                str(weights.parent),
                weight_name=weights.name,
                adapter_name=name,
                local_files_only=True,
            )
        except (OSError, ValueError, RuntimeError, SafetensorError) as error:
            raise PlainError(f"The adapter {weights.name} does not fit this model.") from error

    def unload_adapters(self) -> None:
        self._edit.unload_lora_weights()

    def edit(
        self, picture: Image.Image, request: KontextRequest, on_step: Watcher | None = None
    ) -> Image.Image:
        """What the instruction makes of `picture`."""
        if self.side >= FULL_SIZE:
            return self._call(self._edit, request, on_step, image=picture)
        # Left alone the pipeline would blow the picture up to 1024 x 1024.
        return self._call(
            self._edit,
            request,
            on_step,
            image=fit_square(picture, self.side),
            height=self.side,
            width=self.side,
            max_area=self.side**2,
            _auto_resize=False,
        )

    def draw(self, request: KontextRequest, on_step: Watcher | None = None) -> Image.Image:
        """A picture from the prompt alone."""
        return self._call(self._draw, request, on_step, height=self.side, width=self.side)

    def _call(
        self, pipeline: Any, request: KontextRequest, on_step: Watcher | None, **picture: Any
    ) -> Image.Image:
        check_prompt_length(pipeline.tokenizer_2, [request.prompt], self.window)

        def tell(pipe: Any, step: int, _: Any, tensors: dict[str, Any]) -> dict[str, Any]:
            if on_step is not None and not on_step(step + 1, pipe.num_timesteps):
                pipe._interrupt = True
            return tensors

        return pipeline(
            prompt=request.prompt,
            negative_prompt="" if request.true_guidance > 1 else None,
            true_cfg_scale=request.true_guidance,
            guidance_scale=request.guidance,
            num_inference_steps=request.steps,
            generator=torch.Generator().manual_seed(request.seed),
            max_sequence_length=self.window,
            callback_on_step_end=tell,
            **picture,
        ).images[0]


def _check_folder(folder: Path, text_parts: list[str]) -> None:
    try:
        index = json.loads((folder / "model_index.json").read_text())
    except OSError as error:
        raise PlainError(
            f"The folder {folder.name} has no model_index.json: it is not a Diffusers model."
        ) from error
    except ValueError as error:
        raise PlainError(f"The file {folder.name}/model_index.json is not JSON.") from error
    if index.get("_class_name") not in ("FluxKontextPipeline", "FluxPipeline"):
        raise PlainError(
            f"The model in {folder.name} is a {index.get('_class_name')}, not a Flux model."
        )
    for part in ("transformer", "vae", "scheduler", *text_parts):
        if not (folder / part).is_dir():
            raise PlainError(f"The folder {part} of the model is missing.")
