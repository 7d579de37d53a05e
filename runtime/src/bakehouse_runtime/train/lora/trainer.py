"""Builds the trainer from base model, adapter, data and settings.

Imports the heavy libraries at module level, so import it late.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast

import torch
from transformers import AutoTokenizer, PrinterCallback, set_seed
from transformers.utils import logging
from trl.kernels import chunked_logprob

from ...device import has_c_compiler, weights_dtype
from ...files import SAFE_TOKENIZER
from .config import lora_config, settings
from .data import to_packed
from .isolation import require_isolation
from .load import encoder_names, load_base
from .objectives.table import OBJECTIVES
from .ranks.group import ALONE
from .ranks.share import shared_settings, with_blank

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import TrainerCallback

    from ...data.prepared import Prepared
    from ...device import Device
    from ...protocol import TrainTextSpec
    from .ranks.group import Ranks
    from .ranks.trainer import OverRanks


def build_trainer(
    spec: TrainTextSpec,
    base: Path,
    checkpoints: Path,
    prepared: Prepared,
    modules: list[str],
    device: Device,
    steps_total: int,
    callbacks: list[TrainerCallback],
    ranks: Ranks = ALONE,
) -> OverRanks:
    """Returns a trainer that is ready to evaluate and to train, for one rank of a data-parallel
    group."""
    # Users read this log, so hide warnings aimed at developers of the libraries.
    warnings.filterwarnings("ignore", category=FutureWarning)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    objective = OBJECTIVES[spec.parameters.objective]
    evaluates = len(prepared.held_out) > 0
    arguments = objective.arguments(
        spec.parameters,
        settings(spec, device, checkpoints, steps_total, evaluates=evaluates)
        | shared_settings(spec.parameters, ranks.count),
    )
    lora = spec.parameters.lora
    # Trained weights are float32: 16 bits cannot represent the small updates of a step.
    dtype = weights_dtype(device) if lora else torch.float32
    # Seeds the random initialisation of the adapter.
    set_seed(spec.data.seed)
    model = load_base(base, dtype, in_4_bits=spec.parameters.load_in_4bit)
    tokenizer = AutoTokenizer.from_pretrained(base, **SAFE_TOKENIZER)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    _leave_out_triton_without_compiler()
    rows = (
        to_packed(prepared.train, prepared.limit)
        if spec.parameters.packing
        else objective.dataset(prepared.train)
    )
    held_out = objective.dataset(prepared.held_out) if evaluates else None
    has_blank = ranks.count > 1 and spec.parameters.objective == "sft"
    if has_blank:
        rows = with_blank(rows, tokenizer.pad_token_id)
        held_out = held_out and with_blank(held_out, tokenizer.pad_token_id)
    parts: dict[str, Any] = {
        "args": arguments,
        "data_collator": objective.collator(tokenizer.pad_token_id, prepared.limit),
        "train_dataset": rows,
        "eval_dataset": held_out,
        "processing_class": tokenizer,
        "callbacks": callbacks,
    }
    if spec.parameters.packing:
        require_isolation(model, device)
    encoders = encoder_names(model)
    adapter = lora_config(lora, modules, encoders) if lora else None
    for name in encoders:
        # Batches of text do not use them.
        model.get_submodule(name).requires_grad_(False)
    trainer = cast("OverRanks", objective.trainer(model, adapter, spec.parameters, device, parts))
    trainer.ranks, trainer.has_blank = ranks, has_blank
    if lora and device == "cpu" and arguments.bf16:
        _narrow_frozen_matrices(trainer.model)
    if spec.parameters.load_in_4bit:
        _widen_trained(trainer.model)
    # PrinterCallback prints every log line as a dict, which the reporter already reports.
    trainer.remove_callback(PrinterCallback)
    return trainer


def _leave_out_triton_without_compiler() -> None:
    """Triton builds its launchers with a C compiler. Without Triton, as on Windows, TRL computes
    the same in torch."""
    if not has_c_compiler():
        chunked_logprob._TRITON_AVAILABLE = False


def _widen_trained(model: Any) -> None:
    """TRL casts a 4-bit adapter to bfloat16, which loses small updates, has no gradients for the
    float16 scaler, and makes a run that resumes from a checkpoint differ."""
    for weight in model.parameters():
        if weight.requires_grad:
            weight.data = weight.data.float()


def _narrow_frozen_matrices(model: Any) -> None:
    """Stores the frozen matrices in bfloat16. Autocast multiplies in bfloat16 anyway, so the
    results are the same, without a conversion in each step and in half of the memory."""
    for module in model.modules():
        if type(module) is torch.nn.Linear and not module.weight.requires_grad:
            # Shared with the embeddings, whose float32 values the residual stream needs.
            if module.weight is model.get_input_embeddings().weight:
                continue
            module.weight.data = module.weight.data.to(torch.bfloat16)
