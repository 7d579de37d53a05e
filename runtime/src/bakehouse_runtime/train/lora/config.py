"""The libraries' settings for a spec, and the device it runs on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from ...errors import PlainError

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from peft import LoraConfig
    from trl import SFTConfig

    from ...protocol import LoraSpec, TrainSpec

Device = Literal["cpu", "cuda", "mps"]

# More points than this make no better curve.
_CURVE_POINTS = 500
_KEPT_CHECKPOINTS = 2
_WARMUP_PART = 0.03


def choose_device(wanted: Literal["auto", "cpu", "cuda", "mps"]) -> Device:
    """The device to train on. Raises PlainError when the wanted one is not there."""
    import torch

    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if wanted == "auto":
        return "cuda" if there["cuda"] else "mps" if there["mps"] else "cpu"
    if not there[wanted]:
        raise PlainError(f"This machine has no {wanted} device that PyTorch can use.")
    return wanted


def device_name(device: Device) -> str:
    """What people call the device."""
    import torch

    return torch.cuda.get_device_name() if device == "cuda" else device


def use_all_cores() -> None:
    """Lets torch use every core that this process may run on, unless OMP_NUM_THREADS decides."""
    import torch

    if "OMP_NUM_THREADS" not in os.environ:
        allowed = getattr(os, "sched_getaffinity", None)
        torch.set_num_threads(len(allowed(0)) if allowed else os.cpu_count() or 1)


def has_bfloat16(device: Device) -> bool:
    """Whether the device multiplies bfloat16 itself; where it is emulated it only costs time."""
    import torch

    if device == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device == "mps":
        return False
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def weights_dtype(device: Device) -> torch.dtype:
    """float32 on a CPU (computed in bfloat16 where it can), half as wide on a GPU."""
    import torch

    if device != "cuda":
        return torch.float32
    return torch.bfloat16 if has_bfloat16(device) else torch.float16


def lora_config(lora: LoraSpec, modules: list[str]) -> LoraConfig:
    """PEFT's configuration of the adapter."""
    from peft import LoraConfig

    return LoraConfig(
        r=lora.r,
        # PEFT's type says int; any number works, and adapter_config.json keeps whole ones whole.
        lora_alpha=int(lora.alpha) if lora.alpha == int(lora.alpha) else lora.alpha,  # pyright: ignore[reportArgumentType]
        lora_dropout=lora.dropout,
        target_modules=modules,
        bias="none",
        task_type="CAUSAL_LM",
    )


def sft_config(
    spec: TrainSpec, device: Device, checkpoints: Path, steps_total: int, *, evaluates: bool
) -> SFTConfig:
    """TRL's configuration of the run."""
    from trl import SFTConfig

    parameters = spec.parameters
    bfloat16 = has_bfloat16(device)
    return SFTConfig(
        output_dir=str(checkpoints),
        num_train_epochs=parameters.epochs,
        learning_rate=parameters.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=_WARMUP_PART,
        per_device_train_batch_size=parameters.batch_size,
        per_device_eval_batch_size=parameters.eval_batch_size,
        gradient_accumulation_steps=parameters.gradient_accumulation_steps,
        seed=spec.data.seed,
        data_seed=spec.data.seed,
        use_cpu=device == "cpu",
        bf16=bfloat16,
        fp16=device == "cuda" and not bfloat16,
        # Recomputing activations saves memory that a GPU lacks and time that a CPU lacks.
        activation_checkpointing=device == "cuda",
        loss_type="nll",
        # The examples come tokenised and cut.
        dataset_kwargs={"skip_prepare_dataset": True},
        max_length=None,
        eval_strategy="epoch" if evaluates else "no",
        # The callback decides when to save.
        save_strategy="no",
        save_total_limit=_KEPT_CHECKPOINTS,
        logging_steps=max(1, steps_total // _CURVE_POINTS),
        logging_nan_inf_filter=False,
        include_num_input_tokens_seen="non_padding",
        dataloader_pin_memory=device == "cuda",
        disable_tqdm=True,
        report_to="none",
    )
