"""Loads Wan. The starter model and Wan2.2-TI2V-5B use the same Diffusers pipeline; the starter has
no text encoder and uses the installed sentence encoder instead."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import torch
from diffusers.models.autoencoders.autoencoder_kl_wan import AutoencoderKLWan
from diffusers.models.transformers.transformer_wan import WanTransformer3DModel
from diffusers.pipelines.wan.pipeline_wan import WanPipeline
from diffusers.schedulers.scheduling_flow_match_euler_discrete import (
    FlowMatchEulerDiscreteScheduler,
)
from diffusers.schedulers.scheduling_unipc_multistep import UniPCMultistepScheduler
from transformers import AutoTokenizer, UMT5EncoderModel

from ...errors import PlainError
from ...files import SAFE_TOKENIZER, read_object
from ..model_files import load_picture_model, load_text_model, loading
from ..picture_defaults import PictureDefaults, read_defaults
from .family import Wan
from .size import VIDEO_KEY, VideoSize, VideoSizes, read_only_size
from .text import WanText

PIPELINES = ("WanPipeline", "WanImageToVideoPipeline")
TEXT_PARTS = ("text_encoder", "tokenizer")
# Parts that only other models of the series have.
OTHERS = ("transformer_2", "image_encoder")
FULL_SIZE_WINDOW = 512
PUBLISHED_DEFAULTS = PictureDefaults(steps=50, guidance=5.0)
# Both schedulers define the times of the steps. The steps themselves always use Euler's method.
# UniPC, the published scheduler, needs results of earlier steps, which does not work in a batch of
# requests at different steps.
Scheduler: TypeAlias = FlowMatchEulerDiscreteScheduler | UniPCMultistepScheduler
SCHEDULERS: dict[str, Any] = {
    kind.__name__: kind for kind in (FlowMatchEulerDiscreteScheduler, UniPCMultistepScheduler)
}
# Largest video and frame rate: of Wan 2.2 TI2V, and of a model without picture input.
LARGEST = {True: (VideoSize(1280, 704, 121), 24.0), False: (VideoSize(832, 480, 81), 16.0)}


@dataclass(frozen=True)
class WanModel:
    """The parts of a loaded model. `takes_pictures`: a video may begin with a picture."""

    family: Wan
    transformer: WanTransformer3DModel
    scheduler: Scheduler
    sizes: VideoSizes
    defaults: PictureDefaults = PUBLISHED_DEFAULTS
    takes_pictures: bool = True


def load_wan(folder: Path, dtype: torch.dtype = torch.float32) -> WanModel:
    """Loads a pipeline in Diffusers' format onto the CPU, with its autoencoder in float32. Raises
    PlainError on failure."""
    index = _checked_index(folder)
    transformer = load_picture_model(
        WanTransformer3DModel, folder / "transformer", "The transformer", dtype
    )
    # 16-bit weights would change the colours.
    autoencoder = load_picture_model(
        AutoencoderKLWan, folder / "vae", "The autoencoder", torch.float32
    )
    text = _text(index, folder, dtype)
    _check_parts(transformer, autoencoder, text)
    takes_pictures = index.get("expand_timesteps") is True
    only = read_only_size(folder)
    largest, fps = only or LARGEST[takes_pictures]
    family = Wan(autoencoder, text, fps)
    _, down, _ = transformer.config["patch_size"]
    multiple = family.pixels_a_latent * down
    sizes = VideoSizes(largest, fps, multiple, family.frames_a_latent, is_only=only is not None)
    if only:
        _check_only(sizes, LARGEST[True][0])
    return WanModel(
        family,
        transformer,
        _scheduler(folder / "scheduler"),
        sizes,
        read_defaults(folder, PUBLISHED_DEFAULTS),
        takes_pictures,
    )


def _check_only(sizes: VideoSizes, most: VideoSize) -> None:
    """Raises PlainError if the fixed size of a model is impossible or too large for any machine."""
    width, height, frames = sizes.largest.width, sizes.largest.height, sizes.largest.frames
    multiple, each = sizes.multiple, sizes.frames_a_latent
    if width % multiple or height % multiple or frames % each != 1:
        raise PlainError(
            f"`{VIDEO_KEY}` in model_index.json must have sides that are multiples of "
            f"{multiple}, and frames that are one more than a multiple of {each}."
        )
    if width * height > most.width * most.height or frames > most.frames:
        raise PlainError(
            f"`{VIDEO_KEY}` in model_index.json may have {most.width} x {most.height} pixels and "
            f"{most.frames} frames at most."
        )


def _checked_index(folder: Path) -> dict[str, Any]:
    """Returns the content of `model_index.json`. Raises PlainError if the folder is no Wan model or
    lacks a part."""
    if not (folder / "model_index.json").exists():
        raise PlainError(
            f"The folder {folder.name} has no model_index.json: it is not a Diffusers model."
        )
    index = read_object(folder / "model_index.json")
    if index.get("_class_name") not in PIPELINES:
        raise PlainError(
            f"The model in {folder.name} is a {index.get('_class_name')}, not a Wan model."
        )
    for part in OTHERS:
        if _has(index, part):
            raise PlainError(
                f"The model in {folder.name} has a {part}. Only Wan models with one transformer "
                "are supported, such as Wan2.2-TI2V-5B."
            )
    text_parts = TEXT_PARTS if _has(index, "text_encoder") else ()
    for part in ("transformer", "vae", "scheduler", *text_parts):
        if not (folder / part).is_dir():
            raise PlainError(f"The folder {part} of the model is missing.")
    return index


def _has(index: dict[str, Any], part: str) -> bool:
    # An absent part is [null, null].
    return index.get(part) not in (None, [None, None])


def _text(index: dict[str, Any], folder: Path, dtype: torch.dtype) -> WanText:
    if not _has(index, "text_encoder"):
        return WanText.of_sentence_encoder()
    encoder = load_text_model(UMT5EncoderModel, folder / "text_encoder", dtype)
    with loading("The tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(folder / "tokenizer", **SAFE_TOKENIZER)
    pipeline = WanPipeline(
        tokenizer=tokenizer,
        text_encoder=encoder,
        vae=None,  # pyright: ignore[reportArgumentType]
        scheduler=None,  # pyright: ignore[reportArgumentType]
    )
    return WanText(pipeline, FULL_SIZE_WINDOW)


def _scheduler(folder: Path) -> Scheduler:
    config = read_object(folder / "scheduler_config.json")
    kind = SCHEDULERS.get(str(config.get("_class_name")))
    if kind is None:
        raise PlainError(
            f"The scheduler of the model is a {config.get('_class_name')}; of Wan models "
            f"{' and '.join(SCHEDULERS)} are read."
        )
    with loading("The scheduler"):
        return kind.from_config(config)


def _check_parts(
    transformer: WanTransformer3DModel, autoencoder: AutoencoderKLWan, text: WanText
) -> None:
    if transformer.config["in_channels"] != autoencoder.config["z_dim"]:
        raise PlainError(
            "Transformer and autoencoder do not have the same latent channels: it is one of the "
            "Wan models that are given pictures in another way than Wan2.2-TI2V-5B."
        )
    if transformer.config["text_dim"] != text.size:
        raise PlainError(
            f"The transformer reads text states of size {transformer.config['text_dim']}, but the "
            f"text encoder gives {text.size}."
        )
