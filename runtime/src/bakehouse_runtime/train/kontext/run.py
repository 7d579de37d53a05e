"""`train` for the method `kontext`: a person's edits or pictures, on an adapter or all weights."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np
import torch
from diffusers.pipelines.flux.pipeline_flux_kontext import FluxKontextPipeline
from peft import LoraConfig
from peft.utils import get_peft_model_state_dict
from safetensors import safe_open
from torch import Tensor, nn

from ...device import use_all_cores
from ...errors import PlainError
from ...image.kontext.pipeline import TEXT_PARTS, KontextPipeline
from ...image.model_files import forget_origins
from ...image.training.bank import Bank, write_bank
from ...image.training.dataset import (
    PictureExamples,
    check_caption_lengths,
    hold_out_pictures,
    read_captioned_pictures,
)
from ...image.training.device import frozen_dtype, training_device
from ...workload import workload
from ..picture_run import (
    PictureReporter,
    fresh_outputs,
    loop_settings,
    required_input,
    upload_result,
    write_card,
)
from .train import KontextData, KontextTraining, train_kontext

if TYPE_CHECKING:
    from pathlib import Path

    from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel

    from ...protocol import LoraSpec, TrainKontextSpec
    from ...workload import Workload


# From here on what lies between the layers is computed twice instead of kept: the full-size model
# would keep tens of gigabytes a picture.
CHECKPOINTED_PARAMETERS = 1_000_000_000
# Weight, gradient and the optimizer's two averages, and the average that is handed over.
TRAINED_BYTES = 5 * 4


def run(spec: TrainKontextSpec) -> int:
    """Trains, or goes on from the last checkpoint, until done or stopped."""
    with workload(
        spec, "choose a smaller batch size, or train an adapter (LoRA) of a small rank"
    ) as work:
        _run(spec, work)
    return 0


def _run(spec: TrainKontextSpec, work: Workload) -> None:
    inputs = work.inputs()
    base, dataset = (required_input(inputs, name) for name in ("base_model", "dataset"))
    reporter = PictureReporter(work)
    reporter.phase("reading data")
    use_all_cores()
    device = training_device(spec.device)
    pictures = read_captioned_pictures(dataset, spec.data.metadata_path)
    reporter.phase("loading model")
    # What is trained is float32: small steps would be lost in halves.
    dtype = torch.float32 if spec.lora is None else frozen_dtype(device)
    kontext = KontextPipeline.from_folder(base, device, dtype)
    check_caption_lengths(pictures, kontext.text)
    transformer, autoencoder = kontext.transformer, kontext.autoencoder
    if spec.lora is None:
        check_memory(transformer.num_parameters(), device)
    examples = PictureExamples(pictures, kontext.side, spec.data.seed)
    folder = work.work_dir / "bank"
    if not write_bank(folder, examples, autoencoder, kontext.text, reporter):
        work.reporter.stopped(0)
        return
    # The text encoders of the full-size model would take ten gigabytes of the GPU until the end.
    del kontext
    if transformer.num_parameters() > CHECKPOINTED_PARAMETERS:
        transformer.enable_gradient_checkpointing()
    if spec.lora is not None:
        add_adapter(transformer, spec.lora, spec.data.seed)
    bank = Bank(folder)
    rows, held_out = hold_out_pictures(examples.picture_of_row())
    if not train_kontext(
        transformer,
        _data(bank, rows),
        _data(bank, held_out),
        KontextTraining(loop_settings(spec.parameters, spec.data.seed), spec.parameters.batch_size),
        autoencoder,
        work.work_dir,
        reporter,
        spec.device,
    ):
        work.reporter.stopped(reporter.last_step)
        return
    reporter.phase("saving", counted=False)
    outputs = fresh_outputs(work)
    if spec.lora is not None:
        save_adapter(transformer, outputs)
        what = f"A LoRA adapter of rank {spec.lora.r} for FLUX Kontext"
    else:
        _copy_other_parts(base, outputs)
        transformer.to(_stored_dtype(base / "transformer"))  # pyright: ignore[reportArgumentType]
        transformer.save_pretrained(outputs / "transformer")
        forget_origins(outputs)
        what = "A FLUX Kontext"
    write_card(outputs, spec, what, len(pictures), reporter.latest)
    upload_result(work, outputs, reporter)


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


def add_adapter(transformer: FluxTransformer2DModel, lora: LoraSpec, seed: int) -> None:
    """Freezes the transformer and gives it a LoRA adapter in float32 that can be trained."""
    transformer.requires_grad_(False)
    torch.manual_seed(seed)
    try:
        transformer.add_adapter(
            LoraConfig(
                r=lora.r,
                lora_alpha=lora.alpha,  # pyright: ignore[reportArgumentType]
                lora_dropout=lora.dropout,
                target_modules=lora.target_modules,
                init_lora_weights="gaussian",
            )
        )
    except ValueError as error:
        raise PlainError(
            f"The model has no modules called {', '.join(lora.target_modules)}."
        ) from error
    for weight in transformer.parameters():
        if weight.requires_grad:
            weight.data = weight.data.float()


def save_adapter(transformer: FluxTransformer2DModel, folder: Path) -> None:
    """Writes the adapter with its configuration: without its alpha a loader would scale it by 1."""
    weights: dict[str, nn.Module | Tensor] = {
        name: weight.contiguous() for name, weight in get_peft_model_state_dict(transformer).items()
    }
    # Dropout is for training alone, but a loader would build it in, switched on.
    metadata = transformer.peft_config["default"].to_dict() | {"lora_dropout": 0.0}
    FluxKontextPipeline.save_lora_weights(
        folder, transformer_lora_layers=weights, transformer_lora_adapter_metadata=metadata
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


def _data(bank: Bank, rows: np.ndarray) -> KontextData:
    part = bank.part(rows)
    return KontextData(part, None) if bank.sources is not None else KontextData(None, part)
