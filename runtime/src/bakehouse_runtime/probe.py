"""`probe`: whether work can be done on each GPU that this process sees."""

from __future__ import annotations

from .device import weights_dtype
from .errors import PlainError, is_out_of_memory

_SIZE = 64


def probe() -> list[str]:
    """Computes a little on each GPU and returns their names; a PyTorch built for none tries none.
    Raises PlainError with what is missing on this machine."""
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
            # Other work fills it: it computes.
            if is_out_of_memory(error):
                continue
            reason = str(error).partition("\n")[0]
            raise PlainError(f"PyTorch cannot compute on {name}: {reason}") from error
    return names


def _compute(device: str) -> None:
    """A product of matrices and an attention, in what models are computed in."""
    import torch

    ones = torch.ones(1, 1, _SIZE, _SIZE, dtype=weights_dtype("cuda"), device=device)
    attended = torch.nn.functional.scaled_dot_product_attention(ones, ones @ ones, ones)
    if float(attended.sum()) != _SIZE * _SIZE:
        raise RuntimeError("it computes wrong numbers")
