"""The networks that a person can train: how each is loaded, and what of it is saved."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from safetensors import safe_open

from ...errors import PlainError
from ...image.autoencoder import load_autoencoder
from ...image.flux.load import TEXT_PARTS, load_flux
from ...image.model_files import forget_origins
from ...image.paris.family import Paris
from ...image.paris.pipeline import load_text_encoder
from ...image.paris.weights import load_expert, save_expert
from ...image.training.device import frozen_dtype
from .adapter import add_adapter, save_adapter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
    from torch import nn

    from ...image.family import Family
    from ...protocol import LoraSpec, TrainFluxSpec, TrainParisSpec

# From here on what lies between the layers is computed twice instead of kept: the full-size model
# would keep tens of gigabytes a picture.
CHECKPOINTED_PARAMETERS = 1_000_000_000
# Weight, gradient and the optimizer's two averages, and the average that is handed over.
TRAINED_BYTES = 5 * 4


@dataclass(frozen=True)
class OpenedNetwork:
    """What a spec trains, ready for it. `title` is what comes of it, for its card; `save` writes
    that into a folder."""

    family: Family
    network: nn.Module
    title: str
    save: Callable[[Path], None]


def open_network(
    spec: TrainFluxSpec | TrainParisSpec, base: Path, device: torch.device
) -> OpenedNetwork:
    """What the spec trains, in float32. Raises PlainError where it cannot be loaded or is too
    large."""
    if spec.method == "paris":
        return _expert(spec.expert, base, device)
    return (
        _flux(base, device)
        if spec.lora is None
        else _adapter(spec.lora, spec.data.seed, base, device)
    )


def _expert(number: int, base: Path, device: torch.device) -> OpenedNetwork:
    """One expert of a Paris, saved in the precision that it had."""
    folder = f"expert_{number}"
    expert = load_expert(base / folder)
    dtype = expert.pos_embed.dtype
    return OpenedNetwork(
        Paris(load_autoencoder(base / "vae", device), load_text_encoder(base)),
        expert.float(),
        f"Expert {number} of a Paris",
        lambda outputs: save_expert(expert, outputs / folder, dtype),
    )


def _flux(base: Path, device: torch.device) -> OpenedNetwork:
    """All weights of a Flux, saved in the precision that they had."""
    # In halves small steps would be lost.
    model = load_flux(base, device, torch.float32)
    transformer = model.transformer
    check_memory(transformer.num_parameters(), device)
    _checkpoint_activations(transformer)

    def save(outputs: Path) -> None:
        _copy_other_parts(base, outputs)
        transformer.to(_stored_dtype(base / "transformer"))  # pyright: ignore[reportArgumentType]
        transformer.save_pretrained(outputs / "transformer")
        forget_origins(outputs)

    return OpenedNetwork(model.family, transformer, "A FLUX Kontext", save)


def _adapter(lora: LoraSpec, seed: int, base: Path, device: torch.device) -> OpenedNetwork:
    """A LoRA on a Flux, of which nothing else is trained or saved."""
    model = load_flux(base, device, frozen_dtype(device))
    _checkpoint_activations(model.transformer)
    add_adapter(model.transformer, lora, seed)
    return OpenedNetwork(
        model.family,
        model.transformer,
        f"A LoRA adapter of rank {lora.r} for FLUX Kontext",
        lambda outputs: save_adapter(model.family, model.transformer, outputs),
    )


def _checkpoint_activations(transformer: FluxTransformer2DModel) -> None:
    if transformer.num_parameters() > CHECKPOINTED_PARAMETERS:
        transformer.enable_gradient_checkpointing()


def check_memory(weights: int, device: torch.device) -> None:
    """Refuses to train all of so many weights on a GPU that cannot hold them."""
    if device.type != "cuda":
        return
    needed = weights * TRAINED_BYTES / 1e9
    there = torch.cuda.get_device_properties(device).total_memory / 1e9
    if needed > there:
        raise PlainError(
            f"Training all weights of this model takes {needed:.0f} GB of GPU memory, but this GPU "
            f"has {there:.0f} GB: train an adapter (LoRA) instead."
        )


def _copy_other_parts(base: Path, outputs: Path) -> None:
    """What the trained transformer needs beside it; the base's card, figures and samples are not
    its own."""
    shutil.copyfile(base / "model_index.json", outputs / "model_index.json")
    for part in ("vae", "scheduler", *TEXT_PARTS):
        if (base / part).is_dir():
            shutil.copytree(base / part, outputs / part)


def _stored_dtype(folder: Path) -> torch.dtype:
    """The precision of the weights' file in a folder of Diffusers' format."""
    with safe_open(min(folder.glob("*.safetensors")), framework="pt") as file:
        return file.get_tensor(min(file.keys())).dtype
