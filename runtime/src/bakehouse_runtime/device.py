"""Selects the device for training and reports its capabilities."""

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

# From glibc's malloc.h.
_M_ARENA_MAX = -8


def choose_device(wanted: Literal["auto", "cpu", "cuda", "mps"]) -> Device:
    """Returns the device to train on. Raises PlainError if the wanted one is not available."""
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
    """Raises PlainError unless this process sees exactly `count` GPUs: Trainer would use all of
    them, and the loss would differ."""
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
    """Returns a display name for `count` of the device."""
    import torch

    name = torch.cuda.get_device_name() if device == "cuda" else device
    return name if count == 1 else f"{count} x {name}"


def has_c_compiler() -> bool:
    """Returns whether Triton finds a C compiler (triton/runtime/build.py), which it requires."""
    return "CC" in os.environ or any(map(shutil.which, ("gcc", "clang")))


def peak_memory(device: Device) -> int | None:
    """Returns the peak memory of this process in bytes: GPU memory (including CUDA's own) if it
    uses a GPU, otherwise main memory. None if the system does not report it."""
    if device == "cuda":
        import torch

        free, whole = torch.cuda.mem_get_info()
        beside = whole - free - torch.cuda.memory_reserved()
        return torch.cuda.max_memory_allocated() + beside
    # getrusage would also count the parent process before exec.
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 if found else None


def use_single_malloc_arena() -> None:
    """Makes all threads of this process allocate from one heap, if the C library is glibc.

    By default each thread has a heap of its own. torch allocates in one thread what its backward
    pass frees in another, so each heap holds memory that the other could use (docs/engine.md,
    Memory). Existing heaps remain, so call this before starting threads.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, 1)


def use_all_cores(processes: int = 1) -> None:
    """Lets torch use every core available to this process, or its share if several processes run,
    unless OMP_NUM_THREADS is set."""
    import torch

    if "OMP_NUM_THREADS" not in os.environ:
        allowed = getattr(os, "sched_getaffinity", None)
        cores = len(allowed(0)) if allowed else os.cpu_count() or 1
        torch.set_num_threads(max(1, cores // processes))


def has_bfloat16(device: Device) -> bool:
    """Returns whether the device multiplies bfloat16 natively; emulated bfloat16 is slower than
    float32."""
    import torch

    if device == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device == "mps":
        return False
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def weights_dtype(device: Device) -> torch.dtype:
    """Returns float32 for a CPU (which may compute in bfloat16), and a 16-bit type for a GPU."""
    import torch

    if device != "cuda":
        return torch.float32
    return torch.bfloat16 if has_bfloat16(device) else torch.float16


def serving_dtype(device: Device) -> torch.dtype:
    """Returns the dtype for serving image models: also bfloat16 on a CPU that supports it, which is
    four times as fast as float32 without a visible difference."""
    import torch

    return torch.bfloat16 if has_bfloat16(device) else weights_dtype(device)
