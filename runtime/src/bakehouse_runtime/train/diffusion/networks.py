"""The networks that users can train: how to load each, and which part to save."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from safetensors import safe_open

from ...errors import PlainError
from ...image.autoencoder import load_autoencoder
from ...image.flux.load import TEXT_PARTS, load_flux_encoders, load_flux_network
from ...image.model_files import remove_local_paths
from ...image.paris.family import Paris
from ...image.paris.pipeline import load_text_encoder
from ...image.paris.weights import load_expert, save_expert
from ...image.training.device import frozen_dtype
from .adapter import add_adapter, save_adapter
from .samples import AdapterSamples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
    from torch import nn

    from ...image.family import Family
    from ...image.flux.load import FluxModel
    from ...protocol import LoraSpec, TrainFluxSpec, TrainParisSpec

# From this size on, activations between the layers are recomputed instead of stored: the full-size
# model would store tens of gigabytes per picture.
CHECKPOINTED_PARAMETERS = 1_000_000_000
# Copies per weight: weight, gradient, the optimizer's two moments, and the exported average.
TRAINED_BYTES = 5 * 4


@dataclass(frozen=True)
class OpenedNetwork:
    """The trainable network of a spec. `title` describes the result in its card; `save` writes the
    result into a folder; `write_samples` writes the spec's samples of a checkpoint into a folder,
    if it has any."""

    network: nn.Module
    title: str
    save: Callable[[Path], None]
    write_samples: Callable[[Path], None] | None = None


@dataclass(frozen=True)
class OpenedEncoders:
    """The encoders of pictures and captions, and a function that opens the network afterwards, so
    that a GPU does not have to hold both."""

    family: Family
    open_network: Callable[[], OpenedNetwork]


def open_encoders(
    spec: TrainFluxSpec | TrainParisSpec, base: Path, work_dir: Path, device: torch.device
) -> OpenedEncoders:
    """Loads the encoders of the model in the spec. Raises PlainError if they cannot be loaded; so
    does `open_network`, also for a network that is too large."""
    if spec.method == "paris":
        family = Paris(load_autoencoder(base / "vae", device), load_text_encoder(base))
        return OpenedEncoders(family, lambda: _expert(spec.expert, base))
    # In 16 bits, small updates of the weights would be lost.
    dtype = torch.float32 if spec.lora is None else frozen_dtype(device)
    encoders = load_flux_encoders(base, device, dtype)

    def open_network() -> OpenedNetwork:
        model = load_flux_network(base, encoders, device, dtype)
        _checkpoint_activations(model.transformer)
        if spec.lora is None:
            return _whole(model, base, device)
        return _adapter(spec, spec.lora, model, base, work_dir)

    return OpenedEncoders(encoders.family, open_network)


def _expert(number: int, base: Path) -> OpenedNetwork:
    """Returns one expert of a Paris, in float32, saved in its original dtype."""
    folder = f"expert_{number}"
    expert = load_expert(base / folder)
    dtype = expert.pos_embed.dtype
    return OpenedNetwork(
        expert.float(),
        f"Expert {number} of a Paris",
        lambda outputs: save_expert(expert, outputs / folder, dtype),
    )


def _whole(model: FluxModel, base: Path, device: torch.device) -> OpenedNetwork:
    """Returns a Flux for a full fine-tune, saved in its original dtype."""
    transformer = model.transformer
    check_memory(transformer.num_parameters(), device)

    def save(outputs: Path) -> None:
        _copy_other_parts(base, outputs)
        transformer.to(_stored_dtype(base / "transformer"))  # pyright: ignore[reportArgumentType]
        transformer.save_pretrained(outputs / "transformer")
        remove_local_paths(outputs)

    return OpenedNetwork(transformer, "A FLUX Kontext", save)


def _adapter(
    spec: TrainFluxSpec, lora: LoraSpec, model: FluxModel, base: Path, work_dir: Path
) -> OpenedNetwork:
    """Returns a Flux with a LoRA; only the LoRA is trained and saved."""
    family, transformer = model.family, model.transformer
    add_adapter(transformer, lora, spec.data.seed)
    samples = AdapterSamples(model, base, spec.sample_prompts, work_dir)
    return OpenedNetwork(
        transformer,
        f"A LoRA adapter of rank {lora.r} for {spec.base_model_title}",
        lambda outputs: save_adapter(family, transformer, outputs),
        samples.write if spec.sample_prompts else None,
    )


def _checkpoint_activations(transformer: FluxTransformer2DModel) -> None:
    if transformer.num_parameters() > CHECKPOINTED_PARAMETERS:
        transformer.enable_gradient_checkpointing()


def check_memory(weights: int, device: torch.device) -> None:
    """Raises PlainError if the GPU cannot hold a full fine-tune of `weights` weights."""
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
    """Copies the parts that the trained transformer needs; not the base's card, figures and
    samples."""
    shutil.copyfile(base / "model_index.json", outputs / "model_index.json")
    for part in ("vae", "scheduler", *TEXT_PARTS):
        if (base / part).is_dir():
            shutil.copytree(base / part, outputs / part)


def _stored_dtype(folder: Path) -> torch.dtype:
    """Returns the dtype of the weights in a folder of Diffusers' format."""
    with safe_open(min(folder.glob("*.safetensors")), framework="pt") as file:
        return file.get_tensor(min(file.keys())).dtype
