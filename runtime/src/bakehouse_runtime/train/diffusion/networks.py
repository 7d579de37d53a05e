"""The networks that a person can train: how each is loaded, and what of it is saved."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from safetensors import safe_open

from ...errors import PlainError
from ...image.autoencoder import load_autoencoder
from ...image.flux.load import TEXT_PARTS, load_flux_encoders, load_flux_network
from ...image.model_files import forget_origins
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

# From here on what lies between the layers is computed twice instead of kept: the full-size model
# would keep tens of gigabytes a picture.
CHECKPOINTED_PARAMETERS = 1_000_000_000
# Weight, gradient and the optimizer's two averages, and the average that is handed over.
TRAINED_BYTES = 5 * 4


@dataclass(frozen=True)
class OpenedNetwork:
    """What a spec trains, ready for it. `title` is what comes of it, for its card; `save` writes
    that into a folder; `write_samples` draws what the spec wants to see at each checkpoint into a
    folder, where it wants to see something."""

    network: nn.Module
    title: str
    save: Callable[[Path], None]
    write_samples: Callable[[Path], None] | None = None


@dataclass(frozen=True)
class OpenedEncoders:
    """What pictures and captions are encoded by, and how the network is opened after that: a GPU
    need not hold both."""

    family: Family
    open_network: Callable[[], OpenedNetwork]


def open_encoders(
    spec: TrainFluxSpec | TrainParisSpec, base: Path, work_dir: Path, device: torch.device
) -> OpenedEncoders:
    """The encoders of the model that the spec trains. Raises PlainError where they cannot be
    loaded; so does `open_network`, and where the network is too large."""
    if spec.method == "paris":
        family = Paris(load_autoencoder(base / "vae", device), load_text_encoder(base))
        return OpenedEncoders(family, lambda: _expert(spec.expert, base))
    # In halves small steps of all weights would be lost.
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
    """One expert of a Paris, in float32, saved in the precision that it had."""
    folder = f"expert_{number}"
    expert = load_expert(base / folder)
    dtype = expert.pos_embed.dtype
    return OpenedNetwork(
        expert.float(),
        f"Expert {number} of a Paris",
        lambda outputs: save_expert(expert, outputs / folder, dtype),
    )


def _whole(model: FluxModel, base: Path, device: torch.device) -> OpenedNetwork:
    """All weights of a Flux, saved in the precision that they had."""
    transformer = model.transformer
    check_memory(transformer.num_parameters(), device)

    def save(outputs: Path) -> None:
        _copy_other_parts(base, outputs)
        transformer.to(_stored_dtype(base / "transformer"))  # pyright: ignore[reportArgumentType]
        transformer.save_pretrained(outputs / "transformer")
        forget_origins(outputs)

    return OpenedNetwork(transformer, "A FLUX Kontext", save)


def _adapter(
    spec: TrainFluxSpec, lora: LoraSpec, model: FluxModel, base: Path, work_dir: Path
) -> OpenedNetwork:
    """A LoRA on a Flux, of which nothing else is trained or saved."""
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
