"""Converts a spec to the settings of the libraries."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ...device import has_bfloat16
from ...errors import PlainError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import torch
    from peft import LoraConfig
    from transformers import BitsAndBytesConfig

    from ...device import Device
    from ...protocol import TextLoraSpec, TrainingParameters, TrainTextSpec

# More points do not improve a curve.
_CURVE_POINTS = 500
_KEPT_CHECKPOINTS = 2
# Trainer's own "constant" silently ignores a warm-up.
_SCHEDULERS = {"cosine": "cosine", "linear": "linear", "constant": "constant_with_warmup"}


def lora_config(lora: TextLoraSpec, modules: list[str], encoders: Sequence[str] = ()) -> LoraConfig:
    """Returns PEFT's configuration of the adapter, without adapters in the `encoders` of a
    multimodal base."""
    from peft import LoraConfig

    return LoraConfig(
        r=lora.r,
        # PEFT's type is int, but any number works; adapter_config.json should have whole numbers as
        # integers.
        lora_alpha=int(lora.alpha) if lora.alpha == int(lora.alpha) else lora.alpha,  # pyright: ignore[reportArgumentType]
        lora_dropout=lora.dropout,
        use_rslora=lora.use_rslora,
        use_dora=lora.use_dora,
        target_modules=modules,
        # Batches of text do not use the encoders, and DDP fails if a trained weight is not used.
        exclude_modules=rf"({'|'.join(map(re.escape, encoders))})(\..*)?" if encoders else None,
        bias="none",
        task_type="CAUSAL_LM",
    )


def four_bits(computed: torch.dtype) -> BitsAndBytesConfig:
    """Returns QLoRA's storage of a base (https://arxiv.org/abs/2305.14314), which computes in
    `computed`. Raises PlainError if bitsandbytes is not installed."""
    from transformers import BitsAndBytesConfig

    _require_bitsandbytes("QLoRA")
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=computed,
    )


def _require_bitsandbytes(what: str) -> None:
    if find_spec("bitsandbytes") is None:
        raise PlainError(
            f"{what} needs bitsandbytes, which this machine has not installed yet: try again once "
            "it is prepared for training on GPUs."
        )


def _optimizer(parameters: TrainingParameters, device: Device) -> dict[str, str]:
    if parameters.optimizer == "adamw":
        return {}
    if device != "cuda":
        raise PlainError("8-bit AdamW needs a GPU, and this run has none: choose AdamW.")
    _require_bitsandbytes("8-bit AdamW")
    return {"optim": "adamw_bnb_8bit"}


def settings(
    spec: TrainTextSpec, device: Device, checkpoints: Path, steps_total: int, *, evaluates: bool
) -> dict[str, Any]:
    """Returns Trainer's settings for a run with any objective."""
    parameters = spec.parameters
    bfloat16 = has_bfloat16(device)
    return {
        "output_dir": str(checkpoints),
        "num_train_epochs": parameters.epochs,
        **_optimizer(parameters, device),
        "learning_rate": parameters.learning_rate,
        "lr_scheduler_type": _SCHEDULERS[parameters.lr_scheduler],
        # The first step of a warm-up has learning rate 0, so a run of few steps has no warm-up.
        "warmup_steps": int(parameters.warmup_ratio * steps_total),
        "weight_decay": parameters.weight_decay,
        "max_grad_norm": parameters.max_grad_norm,
        "neftune_noise_alpha": parameters.neftune_noise_alpha or None,
        "per_device_train_batch_size": parameters.batch_size,
        "per_device_eval_batch_size": parameters.eval_batch_size,
        "gradient_accumulation_steps": parameters.gradient_accumulation_steps,
        "seed": spec.data.seed,
        "data_seed": spec.data.seed,
        "use_cpu": device == "cpu",
        "bf16": bfloat16,
        "fp16": device == "cuda" and not bfloat16,
        # Recomputing activations saves memory, the limit on a GPU, and costs time, the limit on a
        # CPU.
        "activation_checkpointing": device == "cuda",
        # With frozen routers, the balancing loss of a mixture would change nothing but the reported
        # loss; with trained ones, Transformers omits it as well.
        "router_aux_loss_coef": 0.0,
        "eval_strategy": "epoch" if evaluates else "no",
        # The callback decides when to save.
        "save_strategy": "no",
        "save_total_limit": _KEPT_CHECKPOINTS,
        "logging_steps": max(1, steps_total // _CURVE_POINTS),
        "logging_nan_inf_filter": False,
        "include_num_input_tokens_seen": "non_padding",
        "dataloader_pin_memory": device == "cuda",
        "disable_tqdm": True,
        "report_to": "none",
    }
