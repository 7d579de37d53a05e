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
from ...image.kontext.pipeline import KontextPipeline
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
    hand_over,
    loop_settings,
    required_input,
    write_card,
)
from .train import KontextData, KontextTraining, train_kontext

if TYPE_CHECKING:
    from pathlib import Path

    from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel

    from ...protocol import LoraSpec, TrainKontextSpec
    from ...workload import Workload


def run(spec: TrainKontextSpec) -> int:
    """Trains, or goes on from the last checkpoint, until done or told to stop."""
    with workload(spec) as work:
        _run(spec, work)
    return 0


def _run(spec: TrainKontextSpec, work: Workload) -> None:
    inputs = work.pull_inputs()
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
    examples = PictureExamples(pictures, kontext.side, spec.data.seed)
    folder = work.work_dir / "bank"
    if not write_bank(folder, examples, kontext.autoencoder, kontext.text, reporter):
        work.reporter.stopped(0)
        return
    transformer = kontext.transformer
    if spec.lora is not None:
        add_adapter(transformer, spec.lora, spec.data.seed)
    bank = Bank(folder)
    rows, held_out = hold_out_pictures(examples.picture_of_row())
    if not train_kontext(
        transformer,
        _data(bank, rows),
        _data(bank, held_out),
        KontextTraining(loop_settings(spec.parameters, spec.data.seed), spec.parameters.batch_size),
        kontext.autoencoder,
        work.work_dir,
        reporter,
        spec.device,
    ):
        work.reporter.stopped(reporter.last_step)
        return
    reporter.phase("saving")
    outputs = fresh_outputs(work)
    if spec.lora is not None:
        save_adapter(transformer, outputs)
        what = f"A LoRA adapter of rank {spec.lora.r} for FLUX Kontext"
    else:
        shutil.copytree(
            base, outputs, dirs_exist_ok=True, ignore=shutil.ignore_patterns("transformer")
        )
        transformer.to(_stored_dtype(base / "transformer"))  # pyright: ignore[reportArgumentType]
        transformer.save_pretrained(outputs / "transformer")
        what = "A FLUX Kontext"
    write_card(outputs, spec, what, len(pictures), reporter.latest)
    hand_over(work, outputs, reporter)


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


def _stored_dtype(folder: Path) -> torch.dtype:
    """The precision of the weights' file in a folder of Diffusers' format."""
    with safe_open(min(folder.glob("*.safetensors")), framework="pt") as file:
        return file.get_tensor(min(file.keys())).dtype


def _data(bank: Bank, rows: np.ndarray) -> KontextData:
    part = bank.part(rows)
    return KontextData(part, None) if bank.sources is not None else KontextData(None, part)
