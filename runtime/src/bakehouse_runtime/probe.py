"""`probe`: whether work can be done on each GPU that this process sees."""

from __future__ import annotations

import os
import shutil

from .device import weights_dtype
from .errors import PlainError

_SIZE = 64


def probe() -> list[str]:
    """Computes a little on each GPU and returns their names. Raises PlainError with what is missing
    on this machine."""
    import torch

    if not torch.cuda.is_available():
        raise PlainError("PyTorch finds no GPU on this machine that it can use.")
    if not has_c_compiler():
        raise PlainError(
            "This machine has no C compiler, which PyTorch and vLLM build a part of their code for "
            "the GPU with: install gcc (Debian, Ubuntu: apt install gcc)."
        )
    names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    for number, name in enumerate(names):
        try:
            _compute(f"cuda:{number}")
        except RuntimeError as error:
            reason = str(error).partition("\n")[0]
            raise PlainError(f"PyTorch cannot compute on {name}: {reason}") from error
    return names


def has_c_compiler() -> bool:
    """Whether Triton finds one (triton/runtime/build.py)."""
    return "CC" in os.environ or any(map(shutil.which, ("gcc", "clang")))


def _compute(device: str) -> None:
    """A product of matrices and an attention, in what models are computed in."""
    import torch

    ones = torch.ones(1, 1, _SIZE, _SIZE, dtype=weights_dtype("cuda"), device=device)
    attended = torch.nn.functional.scaled_dot_product_attention(ones, ones @ ones, ones)
    if float(attended.sum()) != _SIZE * _SIZE:
        raise RuntimeError("it computes wrong numbers")
