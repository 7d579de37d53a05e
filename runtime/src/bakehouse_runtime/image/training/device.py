"""How a picture training computes on its device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from ...device import Device, choose_device, has_bfloat16, weights_dtype


def training_device(wanted: Device | str) -> torch.device:
    """The device to train on; `auto` takes what is there."""
    return torch.device(choose_device(wanted))  # pyright: ignore[reportArgumentType]


def frozen_dtype(device: torch.device) -> torch.dtype:
    """The precision for weights that are not trained. It is half as wide on a GPU, if only autocast
    is on there to bring the float32 of what is trained together with it."""
    kind: Device = device.type  # pyright: ignore[reportAssignmentType]
    return weights_dtype(kind) if has_bfloat16(kind) else torch.float32


def sent(batch: Tensor, device: torch.device) -> Tensor:
    """A batch that was made on the CPU, copied to the device without waiting for it,
    so that the next batch can be made while the GPU still computes."""
    if device.type != "cuda":
        return batch.to(device)
    return batch.pin_memory().to(device, non_blocking=True)


@contextmanager
def fast_arithmetic(device: torch.device) -> Iterator[None]:
    """Autocast to bfloat16 where the machine computes in it; elsewhere it would only be slower.

    On a CPU attention is computed plainly: with tens of tokens the backward pass of the fused
    kernel takes half of a whole training step (92 against 160 samples a second, measured). Its
    scores are rounded to bfloat16, which saves a fifth of a step and did not show in the loss.
    """
    enabled = has_bfloat16(device.type)  # pyright: ignore[reportArgumentType]
    with torch.autocast(device.type, torch.bfloat16, enabled=enabled):
        if device.type == "cpu":
            with sdpa_kernel(SDPBackend.MATH), _plain_attention_in_bfloat16():
                yield
        else:
            yield


@contextmanager
def _plain_attention_in_bfloat16() -> Iterator[None]:
    # The switch lies with CUDA's, and holds for the CPU too.
    before = torch.backends.cuda.fp16_bf16_reduction_math_sdp_allowed()
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)
    try:
        yield
    finally:
        torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(before)
