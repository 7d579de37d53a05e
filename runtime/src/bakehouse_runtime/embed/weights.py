"""Reads safetensors files as NumPy arrays of float32."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import PlainError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_TYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16}
_HEAD_BYTES_MAX = 100_000_000


def read_weights(files: list[Path]) -> dict[str, NDArray[np.float32]]:
    """Returns every floating-point tensor in these files, by name. Raises PlainError."""
    weights: dict[str, NDArray[np.float32]] = {}
    for file in files:
        try:
            weights |= _read_file(file)
        except (KeyError, TypeError, ValueError) as error:
            raise PlainError(f"{file.name} is no safetensors file: {error}.") from error
    return weights


def _read_file(file: Path) -> dict[str, NDArray[np.float32]]:
    view = np.memmap(file, dtype=np.uint8, mode="r")
    size = int.from_bytes(view[:8].tobytes(), "little")
    if not 0 < size <= min(_HEAD_BYTES_MAX, len(view) - 8):
        raise ValueError("its head is damaged")
    head: dict[str, Any] = json.loads(view[8 : 8 + size].tobytes())
    head.pop("__metadata__", None)
    found = {}
    for name, tensor in head.items():
        start, end = tensor["data_offsets"]
        raw = view[8 + size + start : 8 + size + end]
        if tensor["dtype"] == "BF16":
            # The upper half of a float32.
            values = (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        elif tensor["dtype"] in _TYPES:
            values = raw.view(_TYPES[tensor["dtype"]]).astype(np.float32)
        else:
            continue
        found[name] = values.reshape(tensor["shape"])
    return found
