"""The device that a training computes on, and what it can do."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Literal

from .errors import PlainError

if TYPE_CHECKING:
    import torch

Device = Literal["cpu", "cuda", "mps"]


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


def refuse_several_devices(device: Device) -> None:
    """A run trains on one: Trainer would spread itself over all that it sees, and its loss would be
    another."""
    import torch

    if int(os.environ.get("WORLD_SIZE") or 1) > 1:
        raise PlainError("A run trains in one process: start it without torchrun.")
    if device == "cuda" and torch.cuda.device_count() > 1:
        raise PlainError(
            f"This process sees {torch.cuda.device_count()} GPUs, and a run trains on one: name it "
            "in CUDA_VISIBLE_DEVICES."
        )


def device_name(device: Device) -> str:
    """What people call the device."""
    import torch

    return torch.cuda.get_device_name() if device == "cuda" else device


def has_c_compiler() -> bool:
    """Whether Triton finds one (triton/runtime/build.py), without which it runs nothing."""
    return "CC" in os.environ or any(map(shutil.which, ("gcc", "clang")))


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


def serving_dtype(device: Device) -> torch.dtype:
    """What a model of pictures is served in: bfloat16 also on a CPU that multiplies it, four times
    as fast as float32, without a visible difference in the pictures."""
    import torch

    return torch.bfloat16 if has_bfloat16(device) else weights_dtype(device)
