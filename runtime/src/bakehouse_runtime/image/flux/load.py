"""Loads FLUX Kontext. The starter model and FLUX.1 Kontext use the same Diffusers pipeline; the
starter has no text encoder and uses the installed sentence encoder for both encoders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from diffusers.pipelines.flux.pipeline_flux_kontext import FluxKontextPipeline
from diffusers.schedulers.scheduling_flow_match_euler_discrete import (
    FlowMatchEulerDiscreteScheduler,
)
from transformers import PreTrainedModel

from ...errors import PlainError
from ...files import SAFE_WEIGHTS, read_object
from ..model_files import load_picture_model, load_text_model, loading
from ..picture_defaults import PictureDefaults, read_defaults
from ..sentence_encoder import FULL_SIZE_WINDOW, SENTENCE_WINDOW
from ..text import load_sentence_encoder
from .family import DISTILLED_GUIDANCE, Flux
from .text import FluxText

TEXT_ENCODERS = ("text_encoder", "text_encoder_2")
# The key in `model_index.json` of a model without distilled guidance.
TRUE_GUIDANCE = "true_guidance"
TEXT_PARTS = (*TEXT_ENCODERS, "tokenizer", "tokenizer_2")
# Defaults of FLUX.1 Kontext; its guidance is distilled.
PUBLISHED_DEFAULTS = PictureDefaults(steps=28, guidance=DISTILLED_GUIDANCE)


@dataclass(frozen=True)
class FluxModel:
    """The parts of a loaded model. `has_true_guidance`: the model has no distilled guidance, so
    serving runs a second pass with an empty prompt. `defaults` apply to requests that set none."""

    family: Flux
    transformer: FluxTransformer2DModel
    scheduler: FlowMatchEulerDiscreteScheduler
    defaults: PictureDefaults = PUBLISHED_DEFAULTS
    has_true_guidance: bool = False


@dataclass(frozen=True)
class FluxEncoders:
    """The parts that encode pictures and prompts for the transformer. `text_sizes` are the sizes of
    the states of `text_encoder_2` and of the vector of `text_encoder`."""

    family: Flux
    text_sizes: tuple[int, int]


def load_flux(folder: Path, device: torch.device, dtype: torch.dtype = torch.float32) -> FluxModel:
    """Loads a pipeline in Diffusers' format. Raises PlainError on failure."""
    return load_flux_network(folder, load_flux_encoders(folder, device, dtype), device, dtype)


def load_flux_encoders(
    folder: Path, device: torch.device, dtype: torch.dtype = torch.float32
) -> FluxEncoders:
    """Loads the autoencoder and the text encoders. A training frees them before it loads the
    transformer, so that the GPU does not have to hold all parts at the same time."""
    index = _checked_index(folder)
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
    parts["vae"] = load_picture_model(AutoencoderKL, folder / "vae", "The autoencoder", dtype)
    pipeline = _pipeline(folder, dtype, parts | {"transformer": None})
    pipeline.to(device)
    sizes = (pipeline.text_encoder_2.config.hidden_size, pipeline.text_encoder.config.hidden_size)
    return FluxEncoders(Flux(pipeline.vae, FluxText(pipeline, window)), sizes)


def load_flux_network(
    folder: Path,
    encoders: FluxEncoders,
    device: torch.device,
    dtype: torch.dtype = torch.float32,
) -> FluxModel:
    """Loads the transformer; the text encoders may already be freed."""
    transformer = load_picture_model(
        FluxTransformer2DModel, folder / "transformer", "The transformer", dtype
    )
    autoencoder = encoders.family.autoencoder
    parts: dict[str, Any] = {"transformer": transformer, "vae": autoencoder}
    pipeline = _pipeline(folder, dtype, parts | dict.fromkeys(TEXT_PARTS))
    _check_parts(transformer, autoencoder, encoders.text_sizes)
    with loading(f"The model in {folder.name}"):
        transformer.to(device)  # pyright: ignore[reportArgumentType]
    return FluxModel(
        encoders.family,
        transformer,
        pipeline.scheduler,
        read_defaults(folder, PUBLISHED_DEFAULTS),
        has_true_guidance=_checked_index(folder).get(TRUE_GUIDANCE) is True,
    )


def _pipeline(folder: Path, dtype: torch.dtype, parts: dict[str, Any]) -> FluxKontextPipeline:
    """Returns Diffusers' pipeline of these parts. Weights are loaded separately, since Diffusers
    would fill in missing weights at random."""
    with loading(f"The model in {folder.name}"):
        return FluxKontextPipeline.from_pretrained(folder, dtype=dtype, **SAFE_WEIGHTS, **parts)


def _checked_index(folder: Path) -> dict[str, Any]:
    """Returns the content of `model_index.json`. Raises PlainError if the folder is no Flux model
    or lacks a part.

    The server checks the same rule before it deploys a model (`neededOfFlux` in needed-parts.ts).
    """
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
    # An absent part is [null, null].
    return any(index.get(part) not in (None, [None, None]) for part in TEXT_PARTS)


def _text_encoder_class(index: dict[str, Any], part: str) -> type[PreTrainedModel]:
    """Returns the Transformers class of a part in the model's index, which Diffusers writes as
    [library, class]."""
    entry = index.get(part)
    name = entry[-1] if isinstance(entry, list) and entry else entry
    kind = getattr(transformers, name, None) if isinstance(name, str) else None
    if not (isinstance(kind, type) and issubclass(kind, PreTrainedModel)):
        raise PlainError(f"The model's index names no known text encoder for {part}: {name}.")
    return kind


def _check_parts(
    transformer: FluxTransformer2DModel, autoencoder: AutoencoderKL, given: tuple[int, int]
) -> None:
    if transformer.config["in_channels"] != 4 * autoencoder.config["latent_channels"]:
        raise PlainError("Transformer and autoencoder do not have the same latent channels.")
    wanted = transformer.config["joint_attention_dim"], transformer.config["pooled_projection_dim"]
    if wanted != given:
        raise PlainError(
            f"The transformer reads text states of sizes {wanted}, but the text encoders give "
            f"{given}."
        )
