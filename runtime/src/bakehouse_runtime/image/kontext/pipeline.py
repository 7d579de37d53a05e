"""FLUX Kontext: editing a picture by an instruction, or generating one from text alone.

The starter model and FLUX.1 Kontext load through the same Diffusers pipelines; the starter brings
no text encoder and takes the installed sentence encoder in both of its places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from diffusers.pipelines.flux.pipeline_flux import FluxPipeline
from diffusers.pipelines.flux.pipeline_flux_kontext import FluxKontextPipeline
from diffusers.schedulers.scheduling_flow_match_euler_discrete import (
    FlowMatchEulerDiscreteScheduler,
)
from PIL import Image
from transformers import PreTrainedModel

from ...errors import PlainError
from ...files import SAFE_WEIGHTS, read_object
from ..model_files import load_picture_model, load_text_model, loading
from ..picture_defaults import PictureDefaults, read_defaults
from ..pictures import fit_square, to_pictures
from ..text import SENTENCE_WINDOW, check_prompt_length, load_sentence_encoder
from .text import FluxText, prompts_unlogged

TEXT_ENCODERS = ("text_encoder", "text_encoder_2")
# In `model_index.json` of a model without a guidance of its own.
TRUE_GUIDANCE = "true_guidance"
TEXT_PARTS = (*TEXT_ENCODERS, "tokenizer", "tokenizer_2")
# FLUX.1 Kontext resizes what it edits to one of its own sizes around 1024 x 1024.
FULL_SIZE = 1024
FULL_SIZE_WINDOW = 512
# What a model whose transformer reads a distilled guidance is given where nobody chooses one.
DISTILLED_GUIDANCE = 2.5
# Of FLUX.1 Kontext; its guidance is the distilled one.
PUBLISHED_DEFAULTS = PictureDefaults(steps=28, guidance=DISTILLED_GUIDANCE)


@dataclass(frozen=True)
class KontextRequest:
    """One picture. `guidance` is the model's own (distilled) guidance; `true_guidance` above 1
    compares with an empty prompt at every step, which takes twice the time. What is None is what
    the model's folder names: it means one of the two guidances (`has_true_guidance`)."""

    prompt: str
    seed: int
    steps: int | None = None
    guidance: float | None = None
    true_guidance: float | None = None

    def __post_init__(self) -> None:
        if self.steps is not None and self.steps < 1:
            raise PlainError(f"steps is {self.steps}: a picture takes at least one.")


# Called with (step, total) after each step; False stops.
StepCallback = Callable[[int, int], bool]


class KontextPipeline:
    """A Flux model with and without a picture to edit."""

    def __init__(
        self,
        edit: FluxKontextPipeline,
        window: int,
        defaults: PictureDefaults = PUBLISHED_DEFAULTS,
        *,
        has_true_guidance: bool = False,
    ) -> None:
        """`has_true_guidance`: no guidance was distilled into the model, so that whoever serves it
        compares with an empty prompt. `defaults`: for requests that name none."""
        self._edit = edit
        self._generate = FluxPipeline(
            scheduler=edit.scheduler,
            vae=edit.vae,
            text_encoder=edit.text_encoder,
            tokenizer=edit.tokenizer,
            text_encoder_2=edit.text_encoder_2,
            tokenizer_2=edit.tokenizer_2,
            transformer=edit.transformer,
        )
        for pipeline in (self._edit, self._generate):
            pipeline.set_progress_bar_config(disable=True)
        self.window = window
        self.defaults = defaults
        self.has_true_guidance = has_true_guidance
        self.side = int(edit.vae.config["sample_size"])

    @classmethod
    def from_folder(
        cls, folder: Path, device: torch.device, dtype: torch.dtype = torch.float32
    ) -> KontextPipeline:
        """Loads a pipeline in Diffusers' format. Raises PlainError where it cannot."""
        index = _checked_index(folder)
        defaults = read_defaults(folder, PUBLISHED_DEFAULTS)
        if _has_text_encoders(index):
            window = FULL_SIZE_WINDOW
            parts: dict[str, Any] = {
                part: load_text_model(_text_encoder_class(index, part), folder / part, dtype)
                for part in TEXT_ENCODERS
            }
        else:
            window = SENTENCE_WINDOW
            encoder, tokenizer = load_sentence_encoder(window)
            encoder = encoder.to(dtype)  # pyright: ignore[reportArgumentType]
            places = (encoder, encoder, tokenizer, tokenizer)
            parts = dict(zip(TEXT_PARTS, places, strict=True))
        # All parts are loaded apart from the pipeline, which would fill in at random what their
        # files lack.
        parts["transformer"] = load_picture_model(
            FluxTransformer2DModel, folder / "transformer", "The transformer", dtype
        )
        parts["vae"] = load_picture_model(AutoencoderKL, folder / "vae", "The autoencoder", dtype)
        with loading(f"The model in {folder.name}"):
            edit = FluxKontextPipeline.from_pretrained(folder, dtype=dtype, **SAFE_WEIGHTS, **parts)
            _check_parts(edit)
            has_true_guidance = index.get(TRUE_GUIDANCE) is True
            return cls(edit.to(device), window, defaults, has_true_guidance=has_true_guidance)

    @property
    def transformer(self) -> FluxTransformer2DModel:
        return self._edit.transformer

    @property
    def autoencoder(self) -> AutoencoderKL:
        return self._edit.vae

    @property
    def scheduler(self) -> FlowMatchEulerDiscreteScheduler:
        return self._edit.scheduler

    @property
    def text(self) -> FluxText:
        """The text encoders alone."""
        return FluxText(self._edit, self.window)

    def edit(
        self, picture: Image.Image, request: KontextRequest, on_step: StepCallback | None = None
    ) -> Image.Image:
        """What the instruction makes of `picture`."""
        if self.side >= FULL_SIZE:
            # The pipeline scales these to an area that the model knows, and keeps their ratio.
            return self._call(
                self._edit,
                request,
                on_step,
                image=picture,
                height=picture.height,
                width=picture.width,
            )
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

    def generate(self, request: KontextRequest, on_step: StepCallback | None = None) -> Image.Image:
        """A picture from the prompt alone."""
        return self._call(self._generate, request, on_step, height=self.side, width=self.side)

    def _call(
        self, pipeline: Any, request: KontextRequest, on_step: StepCallback | None, **picture: Any
    ) -> Image.Image:
        check_prompt_length(pipeline.tokenizer_2, [request.prompt], self.window)

        def on_step_end(pipe: Any, step: int, _: Any, tensors: dict[str, Any]) -> dict[str, Any]:
            if on_step is not None and not on_step(step + 1, pipe.num_timesteps):
                pipe._interrupt = True
            return tensors

        guidance, true_guidance = self._guidances(request)
        with prompts_unlogged(pipeline):
            values = pipeline(
                prompt=request.prompt,
                negative_prompt="" if true_guidance > 1 else None,
                true_cfg_scale=true_guidance,
                guidance_scale=guidance,
                num_inference_steps=self.defaults.steps if request.steps is None else request.steps,
                generator=torch.Generator().manual_seed(request.seed),
                max_sequence_length=self.window,
                callback_on_step_end=on_step_end,
                output_type="pt",
                **picture,
            ).images
        return to_pictures(2 * values.float().cpu().numpy() - 1)[0]

    def _guidances(self, request: KontextRequest) -> tuple[float, float]:
        """The distilled and the true guidance of a request."""
        distilled, true = self.defaults.guidance, 1.0
        if self.has_true_guidance:
            distilled, true = DISTILLED_GUIDANCE, self.defaults.guidance
        return (
            distilled if request.guidance is None else request.guidance,
            true if request.true_guidance is None else request.true_guidance,
        )


def _checked_index(folder: Path) -> dict[str, Any]:
    """The content of `model_index.json`. Refuses a folder that is no Flux model or lacks a part.

    The server has the same rule (`neededOfFlux` in needed-parts.ts), so that it deploys no model
    that is refused here."""
    if not (folder / "model_index.json").exists():
        raise PlainError(
            f"The folder {folder.name} has no model_index.json: it is not a Diffusers model."
        )
    index = read_object(folder / "model_index.json")
    if index.get("_class_name") not in ("FluxKontextPipeline", "FluxPipeline"):
        raise PlainError(
            f"The model in {folder.name} is a {index.get('_class_name')}, not a Flux model."
        )
    text_parts = TEXT_PARTS if _has_text_encoders(index) else ()
    for part in ("transformer", "vae", "scheduler", *text_parts):
        if not (folder / part).is_dir():
            raise PlainError(f"The folder {part} of the model is missing.")
    read_object(folder / "scheduler" / "scheduler_config.json")
    return index


def _has_text_encoders(index: dict[str, Any]) -> bool:
    # A part that a model does without is [null, null].
    return any(index.get(part) not in (None, [None, None]) for part in TEXT_PARTS)


def _text_encoder_class(index: dict[str, Any], part: str) -> type[PreTrainedModel]:
    """The class in Transformers that a part of the model's index names, as Diffusers writes it:
    [library, class]."""
    entry = index.get(part)
    name = entry[-1] if isinstance(entry, list) and entry else entry
    kind = getattr(transformers, name, None) if isinstance(name, str) else None
    if not (isinstance(kind, type) and issubclass(kind, PreTrainedModel)):
        raise PlainError(f"The model's index names no known text encoder for {part}: {name}.")
    return kind


def _check_parts(pipeline: FluxKontextPipeline) -> None:
    transformer, autoencoder = pipeline.transformer, pipeline.vae
    if transformer.config["in_channels"] != 4 * autoencoder.config["latent_channels"]:
        raise PlainError("Transformer and autoencoder do not have the same latent channels.")
    wanted = transformer.config["joint_attention_dim"], transformer.config["pooled_projection_dim"]
    given = tuple(
        part.config.hidden_size for part in (pipeline.text_encoder_2, pipeline.text_encoder)
    )
    if wanted != given:
        raise PlainError(
            f"The transformer reads text states of sizes {wanted}, but the text encoders give "
            f"{given}."
        )
