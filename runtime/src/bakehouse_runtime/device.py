"""The device that a training computes on, and what it can do."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .errors import PlainError

if TYPE_CHECKING:
    import torch

Device = Literal["cpu", "cuda", "mps"]

# Of glibc's malloc.h.
_M_ARENA_MAX = -8


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


def require_devices(device: Device, count: int = 1) -> None:
    """A run trains on as many GPUs as it was given. Raises PlainError where this process sees
    others: Trainer would spread itself over all of them, and its loss would be another."""
    import torch

    if int(os.environ.get("WORLD_SIZE") or 1) > 1:
        raise PlainError("A run starts its processes itself: start it without torchrun.")
    if int(os.environ.get("PET_NNODES") or 1) > 1:
        raise PlainError("A run trains on one node.")
    if device == "cuda" and torch.cuda.device_count() != count:
        raise PlainError(
            f"This process sees {torch.cuda.device_count()} GPUs, and the run trains on {count}: "
            "name them in CUDA_VISIBLE_DEVICES."
        )
    if device == "mps" and count > 1:
        raise PlainError("A run on Apple's GPU trains in one process.")


def device_name(device: Device, count: int = 1) -> str:
    """What people call so many of the device."""
    import torch

    name = torch.cuda.get_device_name() if device == "cuda" else device
    return name if count == 1 else f"{count} x {name}"


def has_c_compiler() -> bool:
    """Whether Triton finds one (triton/runtime/build.py), without which it runs nothing."""
    return "CC" in os.environ or any(map(shutil.which, ("gcc", "clang")))


def peak_memory(device: Device) -> int | None:
    """Bytes that this process has held at most: of its GPU, with what CUDA itself takes there, or
    of the machine. None where the system does not say."""
    if device == "cuda":
        import torch

        free, whole = torch.cuda.mem_get_info()
        beside = whole - free - torch.cuda.memory_reserved()
        return torch.cuda.max_memory_allocated() + beside
    # getrusage would also count what the process was started from.
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 if found else None


def share_one_heap() -> None:
    """Has all threads of this process allocate from one heap, where the C library is glibc.

    It gives each thread a heap of its own. torch allocates in one thread what its backward pass
    frees in another, so that each keeps what the other could use: docs/engine.md, Memory.
    Heaps that exist stay: call it before there are other threads.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, 1)


def use_all_cores(processes: int = 1) -> None:
    """Lets torch use every core that this process may run on, or its part where several share
    them, unless OMP_NUM_THREADS decides."""
    import torch

    if "OMP_NUM_THREADS" not in os.environ:
        allowed = getattr(os, "sched_getaffinity", None)
        cores = len(allowed(0)) if allowed else os.cpu_count() or 1
        torch.set_num_threads(max(1, cores // processes))


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
