"""`probe`: checks that each GPU visible to this process can compute."""

from __future__ import annotations

from .device import weights_dtype
from .errors import PlainError, is_out_of_memory

_SIZE = 64


def probe() -> list[str]:
    """Runs a small computation on each GPU and returns their names; returns none for a PyTorch
    without CUDA. Raises PlainError with what is missing on this machine."""
    import torch

    if torch.version.cuda is None:
        return []
    if not torch.cuda.is_available():
        raise PlainError("PyTorch finds no GPU on this machine that it can use.")
    names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    for number, name in enumerate(names):
        try:
            _compute(f"cuda:{number}")
        except RuntimeError as error:
            # The memory is full of other work, which proves that the GPU can compute.
            if is_out_of_memory(error):
                continue
            reason = str(error).partition("\n")[0]
            raise PlainError(f"PyTorch cannot compute on {name}: {reason}") from error
    return names


def _compute(device: str) -> None:
    """Runs a matrix product and an attention in the dtype of models."""
    import torch

    ones = torch.ones(1, 1, _SIZE, _SIZE, dtype=weights_dtype("cuda"), device=device)
    attended = torch.nn.functional.scaled_dot_product_attention(ones, ones @ ones, ones)
    if float(attended.sum()) != _SIZE * _SIZE:
        raise RuntimeError("it computes wrong numbers")
