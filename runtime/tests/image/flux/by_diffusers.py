"""Reference pictures of Diffusers' own pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from diffusers.pipelines.flux.pipeline_flux import FluxPipeline
from diffusers.pipelines.flux.pipeline_flux_kontext import FluxKontextPipeline
from PIL import Image

from bakehouse_runtime.image.flux.load import load_flux
from bakehouse_runtime.image.flux.text import FluxText
from bakehouse_runtime.image.pictures import fit_square, to_pictures


class Diffusers:
    """A tiny model in Diffusers' pipelines, with and without a picture to edit."""

    def __init__(self, folder: Path) -> None:
        self.model = load_flux(folder, torch.device("cpu"))
        text = self.model.family.text_encoder
        assert isinstance(text, FluxText)
        self.window = text.window
        self.edits: FluxKontextPipeline = text._pipeline
        self.edits.register_modules(transformer=self.model.transformer)
        self.draws = FluxPipeline(
            scheduler=self.edits.scheduler,
            vae=self.edits.vae,
            text_encoder=self.edits.text_encoder,
            tokenizer=self.edits.tokenizer,
            text_encoder_2=self.edits.text_encoder_2,
            tokenizer_2=self.edits.tokenizer_2,
            transformer=self.edits.transformer,
        )

    def generate(
        self,
        prompt: str,
        seed: int,
        steps: int,
        picture: Image.Image | None = None,
        *,
        guidance: float = 2.5,
        true_guidance: float = 1.0,
    ) -> Image.Image:
        side = self.model.family.side
        pipeline: Any = self.draws if picture is None else self.edits
        pipeline.set_progress_bar_config(disable=True)
        # By default the pipeline would enlarge the picture to 1024 x 1024.
        condition: dict[str, Any] = (
            {}
            if picture is None
            else {"image": fit_square(picture, side), "max_area": side**2, "_auto_resize": False}
        )
        values = pipeline(
            prompt=prompt,
            negative_prompt="" if true_guidance > 1 else None,
            true_cfg_scale=true_guidance,
            guidance_scale=guidance,
            num_inference_steps=steps,
            generator=torch.Generator().manual_seed(seed),
            max_sequence_length=self.window,
            output_type="pt",
            height=side,
            width=side,
            **condition,
        ).images
        return to_pictures(2 * values.float().cpu().numpy() - 1)[0]
